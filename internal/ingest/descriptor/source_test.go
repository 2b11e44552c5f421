package descriptor_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/value"
)

func textFormats() []rows.Format {
	return []rows.Format{{Name: "csv", Extensions: []string{".csv"}},
		{Name: "tsv", Extensions: []string{".tsv", ".tab"}}}
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	got, err := descriptor.Source{
		Path: "a.TAB.gz", Fields: []descriptor.FieldSetting{
			{Name: "a"}, {Name: "b", From: "c"}}}.Normalize(textFormats())
	if err != nil || got.Format != "tsv" || got.Access != herb.AccessOpen || got.Fields[0].From != "a" ||
		got.Fields[1].From != "c" {
		t.Errorf("got %+v, error %v", got, err)
	}
	for _, tt := range []struct {
		name string
		src  descriptor.Source
		want string
	}{
		{"format", descriptor.Source{Format: "xml"}, `"xml"`},
		{"access", descriptor.Source{Access: "private"}, "private"},
		{"long name", descriptor.Source{Fields: []descriptor.FieldSetting{{Name: strings.Repeat("x", rows.MaxName+1)}}},
			"field 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := tt.src.Normalize(textFormats()); herb.CodeOf(err) != herb.CodeInvalid ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %s", err, tt.want)
			}
		})
	}
}

// TestHash checks which settings are part of the hash.
func TestHash(t *testing.T) {
	t.Parallel()
	content := sha256.Sum256([]byte("a\n1\n"))
	hash := func(s descriptor.Source) string {
		t.Helper()
		h, err := s.Hash(content)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	base := hash(descriptor.Source{Path: "a.csv"})
	for name, s := range map[string]descriptor.Source{
		"path": {Path: "b.csv"}, "dataset": {Ref: herb.Ref{Namespace: "n", Name: "d"}},
		"folder": {Root: "x", Base: "y"}, "notes": {Notes: []string{"x"}},
		"stated access": {AccessSet: true},
	} {
		if hash(s) != base {
			t.Errorf("%s changes the hash", name)
		}
	}
	for name, s := range map[string]descriptor.Source{
		"format": {Format: "tsv"}, "dialect": {Dialect: rows.Options{Skip: 1}}, "title": {Title: "x"},
		"missing":    {Missing: []string{"NA"}},
		"type":       {Fields: []descriptor.FieldSetting{{Name: "a", Schema: value.Schema{Type: "string"}}}},
		"descriptor": {Descriptor: []byte("{}")},
	} {
		if hash(s) == base {
			t.Errorf("%s does not change the hash", name)
		}
	}
}

func TestUniqueNames(t *testing.T) {
	t.Parallel()
	got := descriptor.UniqueNames([]string{"a", "", "a", "a_2", "", "column_5", "a", ""})
	want := []string{"a", "column_2", "a_3", "a_2", "column_5_2", "column_5", "a_4", "column_8"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestLocated(t *testing.T) {
	t.Parallel()
	once := descriptor.Located("a.csv", herb.Invalidf("line 2: wrong"))
	if twice := descriptor.Located("a.csv", once); once.Error() != "a.csv: line 2: wrong" ||
		twice.Error() != once.Error() || herb.CodeOf(twice) != herb.CodeInvalid {
		t.Errorf("got %q and %q", once, twice)
	}
	if cause := errors.New("x"); !errors.Is(descriptor.Located("a.csv", cause), cause) {
		t.Error("the cause is lost")
	}
}

func TestSplitLabel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.db", "b#c.db"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ label, path, table string }{
		{"a.db", "a.db", ""},
		{"a.db#t", "a.db", "t"},
		{"a.db#t#u", "a.db", "t#u"},
		{"a.db#C#", "a.db", "C#"},
		{"a.db#", "a.db#", ""},
		{"b#c.db", "b#c.db", ""},
		{"b#c.db#t", "b#c.db", "t"},
		{"none.db#t", "none.db", "t"},
		{"none.db", "none.db", ""},
	} {
		path, table := descriptor.SplitLabel(filepath.Join(dir, c.label))
		if path != filepath.Join(dir, c.path) || table != c.table {
			t.Errorf("%s: got %q and %q", c.label, path, table)
		}
	}
}

// TestHash_pinned pins a hash, in which zero values have no part: a new version of the program must
// not publish unchanged files again.
func TestHash_pinned(t *testing.T) {
	t.Parallel()
	s := descriptor.Source{Title: "x", Fields: []descriptor.FieldSetting{
		{Name: "a", From: "a", Weight: 2, Missing: []string{"", "-"}}}}
	content := sha256.Sum256([]byte("a\n1\n"))
	got, err := s.Hash(content)
	hashed, _ := json.Marshal([]any{"herbarium source 1", "1, Unicode 15.0.0/15.0.0, CLDR 23", content[:], "",
		json.RawMessage(
			`{"Fields":[{"From":"a","Missing":["","-"],"Name":"a","Weight":2}],"Title":"x"}`)})
	if want := fmt.Sprintf("%x", sha256.Sum256(hashed)); err != nil || got != want {
		t.Errorf("the hash is %s, %v; want %s, of %s", got, err, want, hashed)
	}
}
