package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

// ListVersions lists versions with their labels and summaries, those of earlier releases as well.
func (suite) ListVersions(t *testing.T, db Database) {
	s := open(t, db)
	_, err := s.ListVersions(t.Context(), catalog)
	if herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("an unknown dataset: %v", err)
	}
	add(t, s, catalog, 1, 1)
	second := dataset(catalog, 2)
	second.Access, second.Message, second.Report.Cells = herb.AccessOpen, "Autumn prices", "sha256:1"
	second.Compared = &herb.RecordChanges{Since: versionName(catalog, 1), SinceAccess: herb.AccessKey, Added: 3,
		Changed: 1, Fields: []herb.FieldChange{{Field: "id", Records: 1}}}
	must.NoError(t, s.addVersion(t.Context(), second, versionName(catalog, 1)))
	must.NoError(t, s.AddLabel(t.Context(), catalog, second.Version, "b"))
	must.NoError(t, s.AddLabel(t.Context(), catalog, second.Version, "2026-Q1"))
	want := herb.ListedVersion{
		Ref: catalog, Version: second.Version, Access: herb.AccessOpen, Published: second.Published, Records: 200,
		Labels:         []string{"2026-Q1", "b"},
		VersionSummary: second.Summary(),
	}
	got, err := s.ListVersions(t.Context(), catalog)
	must.NoError(t, err)
	if len(got.Versions) != 2 || got.Live != second.Version || got.Withdrawn != nil {
		t.Fatalf("%+v", got)
	}
	wantEqual(t, "listed version", want, got.Versions[1])
	if c := got.Versions[1].Compared; c.Added != 3 || c.Fields != nil || got.Versions[1].ContentHash != "sha256:1" {
		t.Errorf("the summary is %+v", got.Versions[1].VersionSummary)
	}
	must.NoError(t, s.EraseSummaries(t.Context()))
	got, err = s.ListVersions(t.Context(), catalog)
	must.NoError(t, err)
	wantEqual(t, "version of an earlier release", want, got.Versions[1])
	history, err := s.History(t.Context(), catalog)
	must.NoError(t, err)
	wantEqual(t, "labels in the history", []string{"2026-Q1", "b"}, history.Versions[1].Labels)
}

// Labels adds and removes labels.
func (suite) Labels(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 2)
	v1, v2 := versionName(catalog, 1), versionName(catalog, 2)
	generation := func() int64 {
		t.Helper()
		c, err := s.Changes(t.Context(), -1)
		must.NoError(t, err)
		return c.Generation
	}
	before := generation()
	for range 2 {
		must.NoError(t, s.AddLabel(t.Context(), catalog, v1, "final"))
	}
	if now := generation(); now != before+1 {
		t.Errorf("generation %d after one change of %d", now, before)
	}
	got, err := s.LabeledVersion(t.Context(), catalog, "final")
	if err != nil || got != v1 {
		t.Errorf("the label names %q, %v", got, err)
	}
	err = s.AddLabel(t.Context(), catalog, v2, "final")
	if herb.CodeOf(err) != herb.CodeRejected || !strings.Contains(err.Error(), v1) {
		t.Errorf("a used label: %v", err)
	}
	_, err = s.LabeledVersion(t.Context(), catalog, "draft")
	if herb.CodeOf(err) != herb.CodeGone ||
		!strings.Contains(err.Error(), `no version or label "draft"; versions: `+v2+", "+v1+"; labels: final") {
		t.Errorf("an unknown label: %v", err)
	}
	for ref, code := range map[herb.Ref]herb.Code{catalog: herb.CodeGone, seeds: herb.CodeNotFound} {
		if err := s.AddLabel(t.Context(), ref, "v", "x"); herb.CodeOf(err) != code {
			t.Errorf("labeling an unknown version of %s: %v", ref, err)
		}
		if err := s.RemoveLabel(t.Context(), ref, "v", "x"); herb.CodeOf(err) != code {
			t.Errorf("removing a label of an unknown version of %s: %v", ref, err)
		}
	}
	must.NoError(t, s.RemoveLabel(t.Context(), catalog, v2, "final")) // the label of another version
	if _, err := s.LabeledVersion(t.Context(), catalog, "final"); err != nil {
		t.Error(err)
	}
	for range 2 {
		must.NoError(t, s.RemoveLabel(t.Context(), catalog, v1, "final"))
	}
	must.NoError(t, s.AddLabel(t.Context(), catalog, v2, "final"))
	log, err := s.AuditEntries(t.Context(), herb.AuditQuery{Subject: catalog.String()})
	must.NoError(t, err)
	var actions []string
	for _, e := range log[2:] {
		actions = append(actions, string(e.Action)+" "+e.Detail)
	}
	wantEqual(t, "audit log", []string{"version.label version " + v1 + ", label final", "version.unlabel version " +
		v1 + ", label final", "version.label version " + v2 + ", label final"}, actions)
	_, err = s.RemoveDataset(t.Context(), catalog, "", day)
	must.NoError(t, err)
	add(t, s, catalog, 3, 3)
	must.NoError(t, s.AddLabel(t.Context(), catalog, versionName(catalog, 3), "final"))
}

// Labels_kept publishes versions until the oldest one would be dropped, which has a label.
func (suite) Labels_kept(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 3)
	v1, v2 := versionName(catalog, 1), versionName(catalog, 2)
	must.NoError(t, s.AddLabel(t.Context(), catalog, v1, "a"))
	must.NoError(t, s.AddLabel(t.Context(), catalog, v1, "b"))
	wantResult(t, "dropped beside a labeled version", []string{v2})(s.AddVersion(t.Context(), dataset(catalog, 4),
		versionName(catalog, 3), herb.Keep{Versions: 2}, day))
	must.NoError(t, s.RemoveLabel(t.Context(), catalog, v1, "a"))
	wantResult(t, "dropped beside a version with one label", []string{versionName(catalog, 3)})(
		s.AddVersion(t.Context(), dataset(catalog, 5), versionName(catalog, 4), herb.Keep{Versions: 2}, day))
	must.NoError(t, s.RemoveLabel(t.Context(), catalog, v1, "b"))
	wantResult(t, "dropped without labels", []string{v1, versionName(catalog, 4)})(
		s.AddVersion(t.Context(), dataset(catalog, 6), versionName(catalog, 5), herb.Keep{Versions: 2}, day))
}

// Labels_hidden checks that errors name no versions that readers must not know of.
func (suite) Labels_hidden(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 1) // protected
	must.NoError(t, s.AddLabel(t.Context(), catalog, versionName(catalog, 1), "hush"))
	_, err := s.Version(t.Context(), catalog, "x")
	if !strings.Contains(err.Error(), versionName(catalog, 1)) || !strings.Contains(err.Error(), "hush") {
		t.Errorf("for readers of a protected dataset: %v", err)
	}
	open := dataset(catalog, 2)
	open.Access = herb.AccessOpen
	must.NoError(t, s.addVersion(t.Context(), open, versionName(catalog, 1)))
	_, err = s.Version(t.Context(), catalog, "x")
	if strings.Contains(err.Error(), versionName(catalog, 1)) || strings.Contains(err.Error(), "hush") ||
		!strings.Contains(err.Error(), open.Version) {
		t.Errorf("for everybody: %v", err)
	}
}

// Withdraw withdraws versions for good.
func (suite) Withdraw(t *testing.T, db Database) {
	s := open(t, db)
	add(t, s, catalog, 1, 3)
	v1, v3 := versionName(catalog, 1), versionName(catalog, 3)
	must.NoError(t, s.AddLabel(t.Context(), catalog, v1, "final"))
	before, err := s.Changes(t.Context(), -1)
	must.NoError(t, err)
	if err := s.Withdraw(t.Context(), catalog, v3, day, day); herb.CodeOf(err) != herb.CodeRejected ||
		!strings.Contains(err.Error(), "roll back first") {
		t.Errorf("the live version: %v", err)
	}
	if err := s.Withdraw(t.Context(), catalog, "x", day, day); herb.CodeOf(err) != herb.CodeGone {
		t.Errorf("an unknown version: %v", err)
	}
	for id, content := range map[string]string{
		"p1":      `{"sha256":"f1","result":{"version":"` + v1 + `"}}`,
		"check":   `{"sha256":"f1","check":true,"result":{"replaces":"` + versionName(catalog, 0) + `"}}`,
		"replace": `{"sha256":"f2","result":{"version":"x","replaces":"` + v1 + `"}}`,
		"p3":      `{"sha256":"f2","result":{"version":"` + v3 + `"}}`,
		"p4":      `{"result":{}}`,
	} {
		must.NoError(t, s.AddPublish(t.Context(), store.Publish{ID: id, Updated: day, Content: []byte(content)}, day))
	}
	for i := range 2 {
		must.NoError(t, s.Withdraw(t.Context(), catalog, v1, day.Add(time.Duration(i)*time.Hour), day.Add(-time.Hour)))
	}
	// its publish records its result after the withdrawal
	late := store.Publish{ID: "late", Running: true, Updated: day, Content: []byte(`{}`)}
	must.NoError(t, s.AddPublish(t.Context(), late, day))
	late.Running, late.Content = false, []byte(`{"replaces":"`+v1+`"}`)
	must.NoError(t, s.UpdatePublish(t.Context(), late))
	for _, id := range []string{"p1", "check", "replace", "late"} {
		if _, err := s.Publish(t.Context(), id); herb.CodeOf(err) != herb.CodeNotFound {
			t.Errorf("record %s of a publish that names it or of the same file: %v", id, err)
		}
	}
	for _, id := range []string{"p3", "p4"} {
		if _, err := s.Publish(t.Context(), id); err != nil {
			t.Errorf("the record of another publish: %v", err)
		}
	}
	_, err = s.Version(t.Context(), catalog, v1)
	var withdrawn *herb.Error
	if herb.CodeOf(err) != herb.CodeGone || !errors.As(err, &withdrawn) || withdrawn.Withdrawn == nil ||
		strings.Count(err.Error(), "was withdrawn") != 1 ||
		!strings.Contains(err.Error(), "was withdrawn on "+day.Format(time.DateOnly)) {
		t.Errorf("a withdrawn version: %v", err)
	}
	want := []herb.Withdrawn{{Version: v1, Access: herb.AccessKey, Published: dataset(catalog, 1).Published,
		Since: day}}
	list, err := s.ListVersions(t.Context(), catalog)
	must.NoError(t, err)
	wantEqual(t, "withdrawn", want, list.Withdrawn)
	if len(list.Versions) != 2 {
		t.Errorf("%d versions are listed", len(list.Versions))
	}
	if _, err := s.LabeledVersion(t.Context(), catalog, "final"); herb.CodeOf(err) != herb.CodeGone {
		t.Errorf("its label: %v", err)
	}
	for since, n := range map[int64]int{before.Generation: 1, -1: 1} {
		c, err := s.Changes(t.Context(), since)
		must.NoError(t, err)
		if len(c.Withdrawn) != n || c.Withdrawn[0] != v1 {
			t.Errorf("since %d: %v", since, c.Withdrawn)
		}
	}
	if err := s.addVersion(t.Context(), dataset(catalog, 1), v3); herb.CodeOf(err) != herb.CodeRejected ||
		!strings.Contains(err.Error(), "withdrawn") {
		t.Errorf("publishing it again: %v", err)
	}
	history, err := s.History(t.Context(), catalog)
	must.NoError(t, err)
	wantEqual(t, "withdrawn in the history", want, history.Withdrawn)
	had := history.VersionNames()
	history.Versions = slices.Insert(history.Versions, 0, dataset(catalog, 1))
	if err := s.ReplaceVersions(t.Context(), history, had, day); herb.CodeOf(err) != herb.CodeRejected {
		t.Errorf("restoring it: %v", err)
	}
	_, err = s.RemoveDataset(t.Context(), catalog, "", day)
	must.NoError(t, err)
	if err := s.addVersion(t.Context(), dataset(catalog, 1), ""); herb.CodeOf(err) != herb.CodeRejected {
		t.Errorf("publishing it after its dataset was removed: %v", err)
	}
}
