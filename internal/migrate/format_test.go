package migrate_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/migrate"
	"herbarium/internal/store"
)

const formatDoc = "../../docs/format/backup.md"

// example has an entry of each section, with all members set in some of them.
func example() []migrate.Entry {
	day := time.Date(2026, 3, 14, 9, 26, 53, 589793000, time.UTC)
	ref := herb.Ref{Namespace: "garden", Name: "trees"}
	file := herb.File{Size: 4096, SHA256: strings.Repeat("5e", 32)}
	return []migrate.Entry{
		&migrate.Segment{Version: "20260314T092653Z-a1b2", File: file},
		&migrate.KeptSource{Version: "20260314T092653Z-a1b2",
			File: herb.File{Size: 77, SHA256: strings.Repeat("50", 32)}},
		&migrate.Key{Key: herb.Key{
			ID: "k1", Name: "ci", Scopes: []herb.Scope{herb.ScopePlantsWrite}, Hash: [32]byte{1, 2, 3},
			Created: day, Expires: day.AddDate(1, 0, 0), Revoked: day.Add(time.Hour), LastUsed: day.Add(time.Minute),
		}},
		&migrate.Plant{Number: 1, ID: -7, Plant: herb.Plant{Name: "Ñame", Tag: new("root")}},
		&migrate.Plant{Number: 2, ID: 8, Plant: herb.Plant{Name: "Fern"}},
		&migrate.IdempotencyKey{IdempotencyRecord: store.IdempotencyRecord{
			IdempotencyKey: store.IdempotencyKey{Credential: "k1", Key: "order-17", Body: [32]byte{4}}, Plant: 2,
			Created: day,
		}},
		&migrate.AuditEntry{AuditEntry: herb.AuditEntry{
			Time: day, Action: herb.AuditPublished, Subject: "garden/trees", Actor: "ann", Origin: "host1",
			Result: herb.AuditOK, Detail: "3 records",
		}},
		&migrate.Dataset{DatasetVersions: store.DatasetVersions{Ref: ref, Live: "20260314T092653Z-a1b2",
			Versions: []herb.Dataset{{
				Ref: ref, Title: "Trees", Access: herb.AccessOpen, Version: "20260314T092653Z-a1b2", Records: 3,
				Published: day, SourceHash: "sha256:77",
				Fields:  []herb.Field{{Name: "id", Type: herb.TypeNumber, Sortable: true}},
				Details: herb.Details{PrimaryKey: []string{"id"}, File: &file},
			}}}},
	}
}

func header() migrate.Header {
	return migrate.Header{Format: migrate.FormatVersion, Created: time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC),
		Program: "v1.4.0"}
}

func all(entries []migrate.Entry) iter.Seq2[migrate.Entry, error] {
	return func(yield func(migrate.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func write(t *testing.T, h migrate.Header, entries ...migrate.Entry) string {
	t.Helper()
	var b strings.Builder
	if err := migrate.Write(&b, h, all(entries)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFormatDoc compares the example and the tables of the documentation with the code.
func TestFormatDoc(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(formatDoc)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	_, rest, _ := strings.Cut(doc, "```json\n")
	sample, _, _ := strings.Cut(rest, "```")
	if diff := cmp.Diff(strings.Split(write(t, header(), example()...), "\n"),
		strings.Split(sample, "\n")); diff != "" {
		t.Errorf("the example (-code +documentation):\n%s", diff)
	}
	wants := []string{fmt.Sprintf("Format version: %d", migrate.FormatVersion)}
	for i, s := range migrate.Sections() {
		wants = append(wants, fmt.Sprintf("| %d | `%s` |", i+1, s.Name))
	}
	for _, e := range example() { // every member is explained
		encoded, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]any
		if err := json.Unmarshal(encoded, &members); err != nil {
			t.Fatal(err)
		}
		for name := range members {
			wants = append(wants, "| `"+name+"` |")
		}
	}
	for _, want := range wants {
		if !strings.Contains(doc, want) {
			t.Errorf("%s does not contain %q", formatDoc, want)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][]migrate.Entry{"empty": nil, "everything": example(),
		"plants only": example()[3:5]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []migrate.Entry
			var h migrate.Header
			want := header()
			want.LeftOut = migrate.LeftOut{Webhooks: 2}
			for e, err := range migrate.Read(strings.NewReader(write(t, want, entries...)), &h) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, e)
			}
			if diff := cmp.Diff(entries, got); diff != "" {
				t.Errorf("entries (-written +read):\n%s", diff)
			}
			if h != want {
				t.Errorf("the header is %+v, want %+v", h, want)
			}
		})
	}
}

func TestRead_damaged(t *testing.T) {
	t.Parallel()
	backup := write(t, header(), example()...)
	lines := strings.SplitAfter(backup, "\n")
	newer := header()
	newer.Format++
	newer.Program = "v9.9.9"
	for _, tt := range []struct {
		name, backup, want string
	}{
		{"empty file", "", "line 1 of backup.ndjson: the backup is incomplete"},
		{"another file", "id,name\n", "not a JSON object"},
		{"another object", `{"type":"FeatureCollection"}` + "\n", "not a backup of Herbarium"},
		{"no format", `{"backup":{}}` + "\n", "not a backup of Herbarium"},
		{"newer format", write(t, newer), "restore the backup with herbarium v9.9.9 or later"},
		{"truncated in a line", backup[:len(backup)-10], "the backup is incomplete"},
		{"truncated between sections", strings.Join(lines[:3], ""), "the backup is incomplete"},
		{"changed value", strings.Replace(backup, `"Fern"`, `"Farn"`, 1), "section plants has 2 entries"},
		{"changed header", strings.Replace(backup, "2026-03-15", "2026-03-16", 1), "section segments"},
		{"missing entry", strings.Replace(backup, lines[8], "", 1), "section plants has 1 entries"},
		{"missing end", strings.Replace(backup, lines[2], "", 1), `unexpected entry "sources" in section segments`},
		{"invalid hash", strings.Replace(backup, `"0102`, `"01`, 1), "64 hexadecimal digits, not 62"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var err error
			for _, err = range migrate.Read(strings.NewReader(tt.backup), &migrate.Header{}) {
			}
			if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v; want one that contains %q", err, tt.want)
			}
		})
	}
}

// TestRead_earlierFormat reads a backup without kept sources: versions have none.
func TestRead_earlierFormat(t *testing.T) {
	t.Parallel()
	entries := example()
	kept := &entries[len(entries)-1].(*migrate.Dataset).Versions[0]
	kept.Settings = &herb.Settings{Public: true, Kept: &herb.Kept{Size: 77, SHA256: strings.Repeat("50", 32)}}
	h := header()
	h.Format = 1
	// A writer of format 1 has no such section.
	sum, backup := sha256.New(), ""
	for line := range strings.Lines(write(t, h, entries...)) {
		switch {
		case strings.HasPrefix(line, `{"sources"`), strings.HasPrefix(line, `{"end":{"section":"sources"`):
			continue
		case strings.HasPrefix(line, `{"end"`):
			line = regexp.MustCompile(`"sha256":"[0-9a-f]*"`).ReplaceAllString(line,
				fmt.Sprintf(`"sha256":"%x"`, sum.Sum(nil)))
		}
		sum.Write([]byte(line))
		backup += line
	}
	var got []migrate.Entry
	for e, err := range migrate.Read(strings.NewReader(backup), &migrate.Header{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	kept.Settings.Kept = nil
	if diff := cmp.Diff(slices.Delete(entries, 1, 2), got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestEntryFile_since(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "backup.ndjson")
	if err := os.WriteFile(path, []byte(write(t, header(), example()...)), 0o600); err != nil {
		t.Fatal(err)
	}
	d := migrate.EntryFile{Path: path}
	used := example()[5].(*migrate.IdempotencyKey).Created
	for _, tt := range []struct {
		name  string
		since time.Time
		want  []string
	}{
		{"everything", used, []string{"plant 1", "plant 2", `idempotency key "order-17" of credential "k1"`}},
		{"old idempotency keys", used.Add(1), []string{"plant 1", "plant 2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for e, err := range d.Entries(t.Context(), tt.since) {
				if err != nil {
					t.Fatal(err)
				}
				switch e.(type) {
				case *migrate.Plant, *migrate.IdempotencyKey:
					got = append(got, e.String())
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}
