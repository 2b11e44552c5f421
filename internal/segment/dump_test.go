package segment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"herbarium/internal/segment/internal/column"
)

// openBytes opens a file with the given content.
func openBytes(t *testing.T, content []byte) *Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.seg")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Release(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestReader_Dump(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	if err := openBytes(t, create(t, threeRecords(), Options{})).Dump(&got); err != nil {
		t.Fatal(err)
	}
	fields, sections, ok := strings.Cut(got.String(), "\n\nSECTION")
	want := `file     3936 bytes, format version 5
table    39 sections, at 2648
records  3
words    4 in all records, 3 of them different

FIELD  NAME  TYPE  USE                 VALUES  DIFFERENT  LONG RUNS  ELEMENTS
0      name  text  search,filter,sort  3       3          0          -
1      tags  list  filter,sort         2       2          0          2`
	if d := gocmp.Diff(want, fields); !ok || d != "" {
		t.Errorf("the dump differs (-want +got):\n%s", d)
	}
	rows := strings.Split(strings.TrimSuffix(sections, "\n"), "\n")
	if len(rows) != 40 || strings.Join(strings.Fields(rows[1]), " ") != "RECS - 16 96 9e337a7f" ||
		strings.Join(strings.Fields(rows[35]), " ") != "ENUM 1 2264 8 516d1832" {
		t.Errorf("sections:%s", sections)
	}
}

// failing is a writer that fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestReader_Dump_errors(t *testing.T) {
	t.Parallel()
	content := create(t, threeRecords(), Options{})
	if err := openBytes(t, content).Dump(failing{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Dump to a writer that fails: %v", err)
	}
}

func TestReader_Stat(t *testing.T) {
	t.Parallel()
	content := create(t, longRuns(), Options{})
	got := openBytes(t, content).Stat()
	if got.Version != FormatVersion || got.Bytes != int64(len(content)) || got.Records != column.LongRun+100 ||
		got.Terms != 0 || got.Words != 0 {
		t.Errorf("Stat: %+v", got)
	}
	sum := got.Frame
	for _, k := range got.Sections {
		sum += k.Bytes
	}
	if sum != got.Bytes {
		t.Errorf("sections and frame have %d bytes; the file has %d", sum, got.Bytes)
	}
	order := got.Sections[slices.IndexFunc(got.Sections, func(k KindStat) bool { return k.Tag == "SORT" })]
	if want := (KindStat{Tag: "SORT", Sections: 1, Bytes: 4 * int64(got.Records)}); order != want {
		t.Errorf("%+v; want %+v", order, want)
	}
	if per := got.PerRecord(order.Bytes); per != 4 {
		t.Errorf("%v bytes a record; want 4", per)
	}
	three := openBytes(t, create(t, threeRecords(), Options{})).Stat()
	if i := slices.IndexFunc(three.Sections,
		func(k KindStat) bool { return k.Tag == "SORT" }); three.Sections[i].Sections != 2 {
		t.Errorf("%+v; want two sections", three.Sections[i])
	}
}

func TestStat_PerRecord_noRecords(t *testing.T) {
	t.Parallel()
	d := threeRecords()
	d.records = nil
	r := openBytes(t, create(t, d, Options{}))
	if s := r.Stat(); s.Records != 0 || s.PerRecord(s.Bytes) != 0 {
		t.Errorf("%+v", s)
	}
	var b bytes.Buffer
	if err := r.Dump(&b); err != nil {
		t.Error(err)
	}
}
