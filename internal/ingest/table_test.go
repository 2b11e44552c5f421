package ingest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/value"
	"herbarium/internal/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden reads the files in testdata/odd and compares fields and records with the golden file
// of each.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/odd/*")
	if err != nil || len(files) < 12 {
		t.Fatalf("got files %q, error %v", files, err)
	}
	for _, f := range files {
		ref, err := descriptor.NewRef(f, "odd", descriptor.Stem(f))
		if err != nil {
			t.Fatal(err)
		}
		src := ingest.Source{Ref: ref, Path: f}
		t.Run(filepath.Base(src.Path), func(t *testing.T) {
			t.Parallel()
			table := inspect(t, src)
			d := table.Dataset
			var b bytes.Buffer
			for _, f := range d.Fields {
				fmt.Fprintf(&b, "%s: %s", f.Name, f.Type)
				if f.Searchable {
					b.WriteString(" searchable")
				}
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "%d records\n", d.Records)
			for _, r := range recordsOf(t, table) {
				line, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				b.Write(append(line, '\n'))
			}
			golden := filepath.Join("testdata", "golden", filepath.Base(src.Path)+".txt")
			if *update {
				writeFile(t, filepath.Dir(golden), filepath.Base(golden), b.String())
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

func TestInspect_NamesTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, want := range map[string]string{
		"a.csv": ": line 2: there are 2 values but the header names 1 columns; put quotes around a value that " +
			"contains \",\", " +
			"or set header=N",
		"a.json": ": line 1: the file begins with 'a'; write an array of objects ([…]), or one object per line ({…})",
	} {
		path := writeFile(t, dir, name, "a\n1,2\n")
		_, err := ingest.Inspect(t.Context(), ingest.Source{Path: path, Dialect: dialect{Delimiter: ','}},
			ingest.Options{})
		checkInvalid(t, err, path+want)
	}
	_, err := ingest.Inspect(t.Context(), ingest.Source{Path: filepath.Join(dir, "none.csv")}, ingest.Options{})
	if herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("a file that does not exist: got %v", err)
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const content = "a,b\n1,2\n"
	base := ingest.Source{Ref: herb.Ref{Namespace: "n", Name: "d"}, Path: writeFile(t, dir, "a.csv", content)}
	hash := func(s ingest.Source) string {
		t.Helper()
		d := inspect(t, s).Dataset
		for previous, want := range map[ingest.Previous]error{
			{Hash: d.SourceHash, Bytes: d.Report.Bytes}:     ingest.ErrUnchanged,
			{Hash: d.SourceHash, Bytes: d.Report.Bytes + 1}: nil,
			{Hash: "other", Bytes: d.Report.Bytes}:          nil,
		} {
			again, err := ingest.Inspect(t.Context(), s, ingest.Options{Previous: previous})
			if !errors.Is(err, want) {
				t.Errorf("%s after %+v: %v; want %v", s.Path, previous, err, want)
			}
			if err == nil {
				must.NoError(t, again.Close())
			}
		}
		return d.SourceHash
	}
	want := hash(base)
	for name, change := range map[string]func(s *ingest.Source){
		"another place":    func(s *ingest.Source) { s.Path = writeFile(t, dir, "b/c.csv", content) },
		"another name":     func(s *ingest.Source) { s.Ref.Name = "other" },
		"said to be open":  func(s *ingest.Source) { s.Access = herb.AccessOpen },
		"said to be CSV":   func(s *ingest.Source) { s.Format = "csv" },
		"no fields at all": func(s *ingest.Source) { s.Fields = []ingest.FieldSetting{} },
	} {
		s := base
		change(&s)
		if hash(s) != want {
			t.Errorf("%s: the hash differs", name)
		}
	}
	seen := map[string]string{want: "unchanged"}
	for name, change := range map[string]func(s *ingest.Source){
		"archive": func(s *ingest.Source) {
			s.Path = writeFile(t, dir, "a.zip", archive(t, map[string]string{"README": content, "d.csv": content}))
		},
		"content":     func(s *ingest.Source) { s.Path = writeFile(t, dir, "d.csv", content+"\n") },
		"title":       func(s *ingest.Source) { s.Title = "x" },
		"description": func(s *ingest.Source) { s.Description = "x" },
		"access":      func(s *ingest.Source) { s.Access = herb.AccessKey },
		"format":      func(s *ingest.Source) { s.Path = writeFile(t, dir, "a.tsv", content) },
		"delimiter":   func(s *ingest.Source) { s.Dialect.Delimiter = ';' },
		"fields":      func(s *ingest.Source) { s.Fields = []ingest.FieldSetting{{Name: "a"}} },
		"type": func(s *ingest.Source) {
			s.Fields = []ingest.FieldSetting{{Name: "a", Schema: value.Schema{Type: "string"}}}
		},
		"flag":   func(s *ingest.Source) { s.Fields = []ingest.FieldSetting{{Name: "a", Sortable: new(false)}} },
		"column": func(s *ingest.Source) { s.Fields = []ingest.FieldSetting{{Name: "a", From: "b"}} },
	} {
		s := base
		change(&s)
		h := hash(s)
		if other, ok := seen[h]; ok {
			t.Errorf("%s: the hash is that of %s", name, other)
		}
		seen[h] = name
	}
}

// TestInspect_Changed writes to a file while it is read.
func TestInspect_Changed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(path string) error
	}{
		{"longer", func(p string) error { return appendTo(p, "0123456789\n") }},
		{"shorter", func(p string) error { return os.Truncate(p, 1<<20) }},
		{"a fault", func(p string) error { return appendTo(p, "\"") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, t.TempDir(), "x.csv", "a\n"+strings.Repeat("0123456789\n", 200_000))
			past := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path, past, past); err != nil {
				t.Fatal(err)
			}
			done := false
			_, err := ingest.Inspect(t.Context(), ingest.Source{Path: path},
				ingest.Options{Progress: func(read, _ int64) {
					if !done && read > 500_000 {
						done = true
						if err := c.change(path); err != nil {
							t.Error(err)
						}
					}
				}})
			if herb.CodeOf(err) != herb.CodeUnavailable || !strings.Contains(err.Error(), path) {
				t.Errorf("got error %v", err)
			}
		})
	}
}

func appendTo(path, s string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(s)
	return errors.Join(err, f.Close())
}

// TestRecords_ReadOnce lists a source whose file was removed: Inspect has read the records.
func TestRecords_ReadOnce(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{3, 200_000} { // kept in memory, and in a temporary file
		path := writeFile(t, t.TempDir(), "x.csv", "a,b\n"+strings.Repeat("0123456789,\n", rows))
		table := inspect(t, ingest.Source{Path: path})
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := range table.Records(t.Context()) {
			n++
			if err != nil || r[0] != "0123456789" || r[1] != "" {
				t.Fatalf("record %d is %q, error %v", n, r, err)
			}
		}
		if n != rows {
			t.Errorf("got %d of %d records", n, rows)
		}
	}
}

func TestRecords_Again(t *testing.T) {
	t.Parallel()
	table := inspect(t, ingest.Source{Path: writeFile(t, t.TempDir(), "x.csv", "a,b\n1,2\n3,4\n5,6\n")})
	for _, stop := range []int{1, 2, 9} {
		var got []herb.Record
		for r, err := range table.Records(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r)
			if len(got) == stop {
				break
			}
		}
		want := []herb.Record{{"1", "2"}, {"3", "4"}, {"5", "6"}}
		if diff := cmp.Diff(want[:min(stop, 3)], got); diff != "" {
			t.Errorf("records that were kept (-want +got):\n%s", diff)
		}
	}
}

func TestCancellation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"x.csv":    "a\n" + strings.Repeat("0123456789\n", 200_000),
		"x.ndjson": strings.Repeat("{\"a\":1}\n", 200_000),
	} {
		src := ingest.Source{Path: writeFile(t, dir, name, content)}
		ctx, cancel := context.WithCancel(t.Context())
		var reached int64
		_, err := ingest.Inspect(ctx, src, ingest.Options{Progress: func(read, _ int64) {
			reached = read
			if read > 500_000 {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) || reached > 1_000_000 {
			t.Errorf("%s: Inspect read %d bytes and returned %v", name, reached, err)
		}

		ctx, cancel = context.WithCancel(t.Context())
		n := 0
		for _, err = range inspect(t, src).Records(ctx) {
			n++
			if n == 1000 {
				cancel()
			}
		}
		if !errors.Is(err, context.Canceled) || n != 1001 {
			t.Errorf("%s: Records yielded %d times and ended with %v", name, n, err)
		}
		cancel()
	}
}

// TestInspect_spillFails reads more rows than fit in memory without a folder for the rest.
func TestInspect_spillFails(t *testing.T) {
	t.Parallel()
	src := ingest.Source{Path: writeFile(t, t.TempDir(), "x.csv", "a\n"+strings.Repeat("0123456789\n", 200_000))}
	_, err := ingest.Inspect(t.Context(), src, ingest.Options{Temp: filepath.Join(t.TempDir(), "none")})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v", err)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	content := "a\n" + strings.Repeat("0123456789\n", 100_000)
	var steps, last, total int64
	opts := ingest.Options{Progress: func(read, size int64) {
		if read <= last || size < read {
			t.Errorf("%d of %d bytes after %d", read, size, last)
		}
		steps, last, total = steps+1, read, size
	}}
	table, err := ingest.Inspect(t.Context(), ingest.Source{Path: writeFile(t, t.TempDir(), "x.csv", content)}, opts)
	if err != nil || last != int64(len(content)) || last != total || steps < 3 {
		t.Errorf("first pass: %d steps up to %d, error %v", steps, last, err)
	}
	steps, last = 0, 0
	for _, err := range table.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if last != total || last < int64(len(content)) || steps < 3 {
		t.Errorf("second pass: %d steps up to %d", steps, last)
	}
}

// TestProgress_inferring reads records whose columns are known only after the last one, so that
// they are read twice.
func TestProgress_inferring(t *testing.T) {
	t.Parallel()
	const records = 50_000
	path := writeFile(t, t.TempDir(), "x.ndjson", strings.Repeat(`{"a":"0123456789"}`+"\n", records))
	counted, inferred, size := 0, int64(0), int64(0)
	_, err := ingest.Inspect(t.Context(),
		ingest.Source{Path: path, Fields: []ingest.FieldSetting{{Name: "a", From: "a"}}}, ingest.Options{
			Rows: func(n int) {
				if n < counted || inferred > 0 {
					t.Errorf("%d rows after %d rows and %d bytes", n, counted, inferred)
				}
				counted = n
			},
			Inferring: func(read, total int64) { inferred, size = read, total },
		})
	if err != nil || counted != records || inferred == 0 || inferred != size {
		t.Errorf("%d rows, inferred from %d of %d bytes, error %v", counted, inferred, size, err)
	}
}

// TestMemory reads a file of 12 MB whose records are small. Memory must not grow with the file.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "x.csv"))
	if err != nil {
		t.Fatal(err)
	}
	block := strings.Repeat("1,fern,2024-05-01,\"shade,hardy\",some text that is there to fill the file\n", 14_000)
	if _, err := f.WriteString("id,name,day,tags,note\n" + strings.Repeat(block, 12)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var most uint64
	watch := ingest.Options{Progress: func(read, _ int64) {
		if read%(2<<20) < 256<<10 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
	}}
	table, err := ingest.Inspect(t.Context(), ingest.Source{Path: f.Name()}, watch)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range table.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 12*14_000 {
		t.Errorf("got %d records", n)
	}
	if most == 0 || most > before.HeapAlloc+4<<20 {
		t.Errorf("reading held %d KiB, and %d KiB before it began", most>>10, before.HeapAlloc>>10)
	}
}

func TestLongValue(t *testing.T) {
	dir := t.TempDir()
	for name, file := range map[string]struct {
		size       int
		head, tail string
	}{
		"x.csv":  {7 << 20, "a,b\n1,\"", "\"\n2,x\n"},
		"x.json": {7 << 20, `[{"a":1,"b":"`, `"},{"a":2,"b":"x"}]`},
	} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		block := strings.Repeat("0123456789abcdef", 1<<16)
		f.WriteString(file.head)
		for range file.size / len(block) {
			f.WriteString(block)
		}
		f.WriteString(file.tail)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		var lengths []int
		for _, r := range recordsOf(t, inspect(t, ingest.Source{Path: f.Name()})) {
			lengths = append(lengths, len(r[1]))
		}
		if diff := cmp.Diff([]int{file.size, 1}, lengths); diff != "" {
			t.Errorf("%s: lengths of values (-want +got):\n%s", name, diff)
		}
		if _, err := ingest.Inspect(t.Context(), ingest.Source{Path: f.Name()},
			ingest.Options{MaxRecord: 1 << 20}); err == nil ||
			!strings.Contains(err.Error(), "the record is longer than 1 MiB") {
			t.Errorf("%s: over the limit: got error %v", name, err)
		}
		os.Remove(f.Name())
	}
}

// TestInspect_hexadecimalGeometries checks that text stays as written, also if it is a geometry as
// PostGIS exports it.
func TestInspect_hexadecimalGeometries(t *testing.T) {
	t.Parallel()
	const geometry = "0101000020E6100000000000000000F03F0000000000000040"
	table := inspect(t, ingest.Source{Path: writeFile(t, t.TempDir(), "a.csv", "id,geom\n1,"+geometry+"\n")})
	if got := recordsOf(t, table); len(got) != 1 || got[0][1] != geometry {
		t.Errorf("got records %q", got)
	}
}
