package library_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/store"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// TestSearch searches the catalogue while datasets are published, removed and rolled back, and
// after the words that earlier releases stored, or none at all, replaced those of a dataset.
func TestSearch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	publisher, db := openMany(t, dir)
	l := versionstest.OpenLibrary(t, db, versionstest.Options{Dir: dir})
	publish := func(name, title, keyword string) {
		t.Helper()
		if _, err := publisher.Publish(t.Context(), versions.Publication{
			Dataset: herb.Dataset{
				Ref: herb.Ref{Namespace: "garden", Name: name}, Title: title, Access: herb.AccessOpen,
				Fields: []herb.Field{{Name: "id", Type: herb.TypeText}},
				Details: herb.Details{Descriptor: herb.NewDescriptor(
					[]byte(`{"resource":{"keywords":["` + keyword + `"]}}`))},
			},
			Records: func(yield func(herb.Record, error) bool) { yield(herb.Record{"1"}, nil) },
		}); err != nil {
			t.Fatal(err)
		}
	}
	type found struct{ search, keyword, names string }
	want := func(all ...found) {
		t.Helper()
		for _, want := range all {
			live, err := l.Search(t.Context(), want.search, want.keyword)
			var names []string
			for _, v := range live {
				names = append(names, v.Name)
			}
			if got := strings.Join(names, " "); err != nil || got != want.names {
				t.Errorf("search %q, keyword %q: %q, %v; want %q", want.search, want.keyword, got, err, want.names)
			}
		}
	}
	change := func(statement string) { // and open the catalogue again
		t.Helper()
		raw, err := sql.Open("sqlite", filepath.Join(dir, "test.db"))
		if err == nil {
			_, err = raw.ExecContext(t.Context(), statement)
			err = errors.Join(err, raw.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		l = versionstest.OpenLibrary(t, db, versionstest.Options{Dir: dir})
	}
	publish("ferns", "Green plants", "Open data")
	publish("roses", "Red plants", "open data")
	want(found{"", "", "ferns roses"}, found{"!", "", ""}, found{"pla", "", "ferns roses"}, found{"green", "", "ferns"},
		found{"", "Open data", "ferns"}, found{"red", "Open data", ""})

	publish("roses", "White plants", "Open data")
	publish("trees", "Tall plants", "Open data")
	want(found{"red", "", ""}, found{"white", "", "roses"}, found{"", "Open data", "ferns roses trees"})
	if _, err := publisher.Rollback(t.Context(), herb.Ref{Namespace: "garden", Name: "roses"}, ""); err != nil {
		t.Fatal(err)
	}
	if err := publisher.Remove(t.Context(), herb.Ref{Namespace: "garden", Name: "trees"}, ""); err != nil {
		t.Fatal(err)
	}
	want(found{"red", "", "roses"}, found{"plants", "Open data", "ferns"})

	for _, statement := range []string{
		// a release with other text rules
		"UPDATE version_words SET words = char(10) || '%99' || char(10) || 'other' || char(10)",
		"DELETE FROM version_words",
	} {
		change(statement)
		for range 2 { // the second search uses what the first one has read
			want(found{"green", "", "ferns"}, found{"", "Open data", "ferns"}, found{"", "Other data", ""},
				found{"other", "", ""})
		}
	}
}

// numberedDatasets has datasets with one record each. The later ones were published later.
type numberedDatasets int

func (n numberedDatasets) Live(context.Context) (live []herb.LiveVersion, err error) {
	for i := range int(n) {
		live = append(live, herb.LiveVersion{Ref: herb.Ref{Namespace: "many", Name: fmt.Sprint("d", i)},
			Published: time.Unix(int64(i), 0)})
	}
	return live, nil
}

func (n numberedDatasets) Acquire(_ context.Context, ref herb.Ref) (library.View, error) {
	fields := []herb.Field{{Name: "a", Type: herb.TypeText, Searchable: true}}
	parity := " even"
	if strings.ContainsAny(ref.Name[len(ref.Name)-1:], "13579") {
		parity = " odd"
	}
	return library.View{
		Dataset: herb.Dataset{Ref: ref, Title: "Title of " + ref.Name, Access: herb.AccessOpen, Fields: fields},
		Engine:  segmenttest.NewOracle(fields, []herb.Record{{"common " + ref.Name + parity}}),
	}, nil
}

// ProtectedRefs returns none.
func (n numberedDatasets) ProtectedRefs(context.Context) ([]herb.Ref, error) { return nil, nil }

// IsClosed reports that none is.
func (n numberedDatasets) IsClosed(herb.LiveVersion) bool { return false }

// MayMatch excludes even datasets from a search for "odd".
func (n numberedDatasets) MayMatch(v herb.LiveVersion, s *query.Search) bool {
	return s.String() != "odd" || v.Published.Unix()%2 == 1
}

// TestSearchRecords searches few datasets, many datasets, and without time.
func TestSearchRecords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		datasets                 int
		search                   string
		budget                   time.Duration
		total, searched, checked int
		partial                  bool
	}{
		{3, "common", time.Hour, 3, 3, 0, false},
		{3, "common", 1, 0, 0, 0, true},
		{250, "common", time.Hour, 250, 250, 250, false},
		{250, "odd", time.Hour, 125, 250, 250, false},
		{250, "d0", time.Hour, 1, 250, 250, false},
		{250, "common", 1, 0, 0, 0, true},
	} {
		var p segmenttest.Pacer // each dataset whose words are looked up is reported
		found, err := library.SearchRecords(query.WithPacer(t.Context(), &p), numberedDatasets(tt.datasets), tt.search,
			herb.Principal{}, tt.budget)
		if err != nil || found.Total != tt.total || found.Searched != tt.searched || len(found.Datasets) != tt.total ||
			found.Partial != tt.partial {
			t.Errorf("%q in %d datasets: %d records in %d of %d, partial %t, %v",
				tt.search, tt.datasets, found.Total, len(found.Datasets), found.Searched, found.Partial, err)
		}
		if p.Yields != tt.checked {
			t.Errorf("%q in %d datasets: %d were checked", tt.search, tt.datasets, p.Yields)
		}
	}
	full := segmenttest.Pacer{Err: errors.New("no slot")}
	if _, err := library.SearchRecords(query.WithPacer(t.Context(), &full), numberedDatasets(250), "common",
		herb.Principal{}, time.Hour); !errors.Is(err, full.Err) {
		t.Errorf("a search that is not admitted: %v", err)
	}
}

// TestIsClosed checks that only datasets that everybody may read are checked before they are
// opened: the number of datasets searched would reveal the words of the others.
func TestIsClosed(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	for name, access := range map[string]herb.Access{"moss": herb.AccessOpen, "rose": herb.AccessOpen,
		"staff": herb.AccessKey} {
		if _, err := l.Publish(t.Context(), versions.Publication{
			Dataset: herb.Dataset{
				Ref: herb.Ref{Namespace: "shop", Name: name}, Access: access,
				Fields: []herb.Field{{Name: "t", Type: herb.TypeText, Searchable: true}},
			},
			Records: func(yield func(herb.Record, error) bool) { yield(herb.Record{"red " + name}, nil) },
		}); err != nil {
			t.Fatal(err)
		}
	}
	// opens nothing in advance
	other := versionstest.OpenLibrary(t, s.DB, versionstest.Options{Dir: s.Dir, OpenSize: -2})
	if err := other.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	live, err := other.Live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closed := func() (names string) {
		for _, v := range live {
			if other.IsClosed(v) {
				names += v.Name + " "
			}
		}
		return names
	}
	if got := closed(); got != "" {
		t.Errorf("without descriptions: %s", got)
	}
	if _, err := other.Datasets(t.Context(), live, true); err != nil {
		t.Fatal(err)
	}
	if got := closed(); got != "moss rose " {
		t.Errorf("with descriptions: %s", got)
	}
	found, err := library.SearchRecords(t.Context(), other, "rose", herb.Principal{}, time.Hour)
	if err != nil || found.Total != 1 || found.Searched != 2 {
		t.Errorf("found %+v, %v", found, err)
	}
	// others may be closed at any time
	rose, err := other.Acquire(t.Context(), herb.Ref{Namespace: "shop", Name: "rose"})
	if err != nil {
		t.Fatal(err)
	}
	defer rose.Release()
	if got := closed(); got != "moss " {
		t.Errorf("with one dataset open: %s", got)
	}
}

// TestMayMatch checks the words of published datasets.
func TestMayMatch(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	publish := func(name, text string, access herb.Access) herb.Dataset {
		t.Helper()
		ref := herb.Ref{Namespace: "shop", Name: name}
		_, err := l.Publish(t.Context(), versions.Publication{
			Dataset: herb.Dataset{
				Ref: ref, Access: access, Fields: []herb.Field{{Name: "t", Type: herb.TypeText, Searchable: true}},
			},
			Records: func(yield func(herb.Record, error) bool) { yield(herb.Record{text}, nil) },
		})
		if err != nil {
			t.Fatal(err)
		}
		return versionstest.LiveVersion(t, l, ref)
	}
	publish("moss", "green moss", herb.AccessOpen)
	rebuilt := publish("rose", "red rose", herb.AccessOpen)
	setFormat(t, filepath.Join(s.Dir, store.SegmentFile(rebuilt.Version)), 99)
	publish("staff", "red staff", herb.AccessKey)
	damaged := publish("unreadable", "nothing", herb.AccessOpen)
	if err := os.Truncate(filepath.Join(s.Dir, damaged.Version+".segment"), 100); err != nil {
		t.Fatal(err)
	}
	l = s.Open(t)
	v, err := l.Acquire(t.Context(), rebuilt.Ref)
	must.NoError(t, err)
	v.Release()
	live, err := l.Live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for search, want := range map[string]string{
		"RED": "rose staff", "rose": "rose", "ro*": "rose", "ro": "", `"rose red"`: "rose", "rose moss": "",
		"red -rose": "rose staff", "-red": "moss rose staff",
	} {
		req, err := query.Parse(query.Params{{Name: query.ParamSearch, Value: search}}.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, v := range live {
			if l.MayMatch(v, req.Search) {
				names = append(names, v.Name)
			}
		}
		// the last two cannot be checked
		if want := strings.Fields(want + " unreadable plants"); !slices.Equal(names, want) {
			t.Errorf("%s: %v; want %v", search, names, want)
		}
	}
	if refs, err := l.ProtectedRefs(t.Context()); err != nil ||
		!slices.Equal(refs, []herb.Ref{{Namespace: "shop", Name: "staff"}}) {
		t.Errorf("protected: %v, %v", refs, err)
	}
}

// protectedDatasets are numberedDatasets of which the first ones require a key.
type protectedDatasets struct {
	numberedDatasets
	protected int
	err       error // of ProtectedRefs
}

func (p protectedDatasets) ProtectedRefs(ctx context.Context) (refs []herb.Ref, err error) {
	live, err := p.Live(ctx)
	for _, v := range live[:p.protected] {
		refs = append(refs, v.Ref)
	}
	return refs, errors.Join(err, p.err)
}

func (p protectedDatasets) Acquire(ctx context.Context, ref herb.Ref) (library.View, error) {
	v, err := p.numberedDatasets.Acquire(ctx, ref)
	if refs, _ := p.ProtectedRefs(ctx); slices.Contains(refs, ref) {
		v.Access = herb.AccessKey
	}
	return v, err
}

// TestSearchRecords_protected checks that the number of searched datasets does not reveal whether
// those that a reader may not read match.
func TestSearchRecords_protected(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]error{
		"available": nil, "catalogue down": herb.Errorf(herb.CodeUnavailable, "down")} {
		for _, tt := range []struct {
			search          string
			mayRead         bool
			total, searched int
		}{
			{"odd", false, 120, 240}, {"odd", true, 125, 250}, {"d3", false, 0, 240}, {"d3", true, 1, 250},
			{"none", false, 0, 240},
		} {
			source, reader := protectedDatasets{250, 10, down}, herb.Principal{}
			if tt.mayRead {
				reader.Scopes = []herb.Scope{herb.ScopeDataRead}
			}
			found, err := library.SearchRecords(t.Context(), source, tt.search, reader, time.Hour)
			if err != nil || found.Total != tt.total || found.Searched != tt.searched || found.Partial {
				t.Errorf("%s: %q, %t: %d records in %d datasets, partial %t, %v", name, tt.search, tt.mayRead,
					found.Total, found.Searched, found.Partial, err)
			}
		}
	}
}
