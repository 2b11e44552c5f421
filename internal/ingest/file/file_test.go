package file_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// bzip2Letter is the letter a, compressed with bzip2.
const bzip2Letter = "BZh91AY&SY\x19\x93\x9bk\x00\x00\x00\x01\x00 \x00 \x00!\x18F\x82\xeeH\xa7\n\x12\x032sm`"

func compress(t *testing.T, kind, content string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch kind {
	case "gz":
		w = gzip.NewWriter(&b)
	case "zst":
		w, err = zstd.NewWriter(&b)
	default:
		return content
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// section returns content without a path.
func section(s string) *io.SectionReader {
	return io.NewSectionReader(strings.NewReader(s), 0, int64(len(s)))
}

var formats = []rows.Format{{Extensions: []string{".csv"}, Generic: []string{".txt"}}}

// TestFile_content reads every kind of compression in every way, and hashes the stored bytes.
func TestFile_content(t *testing.T) {
	temp := t.TempDir()
	long := strings.Repeat("0123456789abcdef\n", 40_000)
	for _, c := range []struct{ name, stored, want, base string }{
		{"x.csv", long, long, "x.csv"},
		{"empty.csv", "", "", "empty.csv"},
		{"x.csv.gz", compress(t, "gz", long), long, "x.csv"},
		{"x.csv.zst", compress(t, "zst", long), long, "x.csv"},
		{"x.csv.xz", xzLong(t), long, "x.csv"},
		{"x.csv.bz2", bzip2Letter, "a", "x.csv"},
		{"x.zip", rowstest.Zip(t, "README=hello", "data/y.csv="+long, "__MACOSX/data/y.csv=junk"), long, "y.csv"},
		{"one.zip", rowstest.Zip(t, "table.txt="+long), long, "table.txt"},
		{"text.zip", rowstest.Zip(t, "meta.xml=x", "table.TXT="+long), long, "table.TXT"},
		{"notes.zip", rowstest.Zip(t, "notes.txt=x", "table.csv="+long), long, "table.csv"},
	} {
		for _, way := range []string{"sequential", "random", "path", "hash only"} {
			t.Run(c.name+" "+way, func(t *testing.T) {
				path := rowstest.WriteFile(t, t.TempDir(), c.name, c.stored)
				f, err := file.Open(t.Context(), path, file.Options{Temp: temp, Formats: formats})
				if err != nil {
					t.Fatal(err)
				}
				var got []byte
				switch way {
				case "sequential":
					in, err := f.Open()
					if err != nil {
						t.Fatal(err)
					}
					got, err = io.ReadAll(iotest.HalfReader(in))
					if err != nil || in.Close() != nil {
						t.Fatal(err)
					}
				case "random":
					content, err := f.Random()
					if err != nil {
						t.Fatal(err)
					}
					got, err = io.ReadAll(content)
					if err != nil {
						t.Fatal(err)
					}
				case "path":
					path, err := f.Path()
					if err != nil {
						t.Fatal(err)
					}
					got, err = os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
				default:
					got = []byte(c.want)
				}
				if string(got) != c.want || f.Name() != c.base || f.Size() != int64(len(c.stored)) {
					t.Errorf("got %d bytes, name %q, size %d", len(got), f.Name(), f.Size())
				}
				if sum, err := f.Sum(); err != nil || sum != sha256.Sum256([]byte(c.stored)) {
					t.Errorf("wrong hash, error %v", err)
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
				if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
					t.Errorf("%d temporary files are left, error %v", len(left), err)
				}
			})
		}
	}
}

// TestFile_hashOrder reads a file in random order before and between sequential reads; every byte
// is hashed once.
func TestFile_hashOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	content := strings.Repeat("0123456789", 20_000)
	for range 20 {
		f, err := file.Open(t.Context(), "x", file.Options{Content: section(content)})
		if err != nil {
			t.Fatal(err)
		}
		at, err := f.Random()
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			off := random.Int64N(at.Size())
			buf := make([]byte, random.IntN(50_000))
			if _, err := at.ReadAt(buf, off); err != nil && err != io.EOF {
				t.Fatal(err)
			}
		}
		if sum, err := f.Sum(); err != nil || sum != sha256.Sum256([]byte(content)) {
			t.Fatalf("wrong hash, error %v", err)
		}
	}
}

func TestFile_rejected(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef\n", 40_000)
	zipped := rowstest.Zip(t, "a.csv=1")
	for _, c := range []struct{ name, stored, want string }{
		{"twice", compress(t, "gz", compress(t, "zst", "a")), "compressed twice"},
		{"cut.gz", compress(t, "gz", long)[:100], "cut off"},
		{"cut.xz", xzLong(t)[:100], "xz data"},
		{"damaged.bz2", strings.Replace(bzip2Letter, "\x9b", "\x9c", 1), "bzip2 data is damaged"},
		{"two tables", rowstest.Zip(t, "a.csv=1", "b.csv=2"),
			"contains 2 tables (a.csv, b.csv); name one of them, such as FILE#a.csv"},
		{"two texts", rowstest.Zip(t, "a.txt=1", "b.txt=2", "c.xml=3"), "contains 2 tables (a.txt, b.txt)"},
		{"a small text", rowstest.Zip(t, "a.txt=1", "b.shp=222"), "contains no table"},
		{"no table", rowstest.Zip(t, "a.xml=1", "b.xml=2"), "contains no table"},
		{"archives", rowstest.Zip(t, "a.zip=1", "b.7z=2", "c.xml=3"),
			"contains other archives (a.zip, b.7z), which are not read; unpack it and publish them"},
		{"OpenDocument", rowstest.Zip(t, "mimetype=application/vnd.oasis.opendocument.spreadsheet", "content.xml=x"),
			"an OpenDocument"},
		{"cut zip", zipped[:len(zipped)-10], "zip archive is damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, err := file.Open(t.Context(), "x", file.Options{Content: section(c.stored), Formats: formats})
			if err == nil {
				_, err = f.Random()
			}
			if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v; want %q", err, c.want)
			}
		})
	}
}

// TestFile_bomb rejects content that is much larger than the stored file.
func TestFile_bomb(t *testing.T) {
	t.Parallel()
	stored := strings.Repeat(compress(t, "zst", strings.Repeat("0", 1<<20)), 200)
	f, err := file.Open(t.Context(), "x", file.Options{Content: section(stored)})
	if err != nil {
		t.Fatal(err)
	}
	content, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	if n, err := io.Copy(io.Discard, content); herb.CodeOf(err) != herb.CodeInvalid ||
		!strings.Contains(err.Error(), "more than 67108864 unpacked bytes") || n > 64<<20 {
		t.Errorf("got error %v after %d bytes", err, n)
	}
}

// TestFile_changed detects a file that is written while it is read.
func TestFile_changed(t *testing.T) {
	t.Parallel()
	past := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name   string
		change func(path string) error
		want   herb.Code
	}{
		{"unchanged", func(string) error { return nil }, ""},
		{"longer", func(p string) error { return os.WriteFile(p, []byte("a,b\n1,2\n3,4\n"), 0o600) },
			herb.CodeUnavailable},
		{"shorter", func(p string) error { return os.Truncate(p, 3) }, herb.CodeUnavailable},
		{"same size", func(p string) error { return os.WriteFile(p, []byte("a,b\n1,3\n"), 0o600) },
			herb.CodeUnavailable},
		{"log written", func(p string) error { return os.WriteFile(p+"-wal", []byte("other"), 0o600) },
			herb.CodeUnavailable},
		{"replaced, so that the open file is as it was", func(p string) error {
			return errors.Join(os.WriteFile(p+".new", []byte("x"), 0o600), os.Rename(p+".new", p))
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := rowstest.WriteFile(t, t.TempDir(), "x.csv", "a,b\n1,2\n")
			rowstest.WriteFile(t, "", path+"-wal", "log")
			if err := errors.Join(os.Chtimes(path, past, past), os.Chtimes(path+"-wal", past, past)); err != nil {
				t.Fatal(err)
			}
			f, err := file.Open(t.Context(), path, file.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := c.change(path); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Sum(); c.want == "" && err != nil || c.want != "" && herb.CodeOf(err) != c.want {
				t.Errorf("got error %v", err)
			}
		})
	}
}

// TestFile_copies hands out a private copy of a confined database with its log, and removes
// leftovers of killed processes.
func TestFile_copies(t *testing.T) {
	t.Parallel()
	folder, temp := t.TempDir(), t.TempDir()
	path := rowstest.WriteFile(t, folder, "x.db", "database")
	rowstest.WriteFile(t, "", path+"-wal", "log")
	leftover := filepath.Join(temp, "herbarium-copy-1")
	past := time.Now().Add(-25 * time.Hour)
	if err := errors.Join(os.Mkdir(leftover, 0o700), os.Chtimes(leftover, past, past)); err != nil {
		t.Fatal(err)
	}
	dir, err := file.OpenDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	f, err := file.Open(t.Context(), path, file.Options{Dir: dir, Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	copied, err := f.Path()
	if err != nil {
		t.Fatal(err)
	}
	if db, err := os.ReadFile(copied); err != nil || string(db) != "database" || !strings.HasPrefix(copied, temp) {
		t.Errorf("%s: got %q, error %v", copied, db, err)
	}
	if log, err := os.ReadFile(copied + "-wal"); err != nil || string(log) != "log" {
		t.Errorf("got log %q, error %v", log, err)
	}
	if _, err := os.Stat(leftover); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the leftover is still there, error %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, error %v", len(left), err)
	}
}

// failingDisk is a file that cannot be read any more if fails is set.
type failingDisk struct {
	*strings.Reader
	fails bool
}

func (d *failingDisk) ReadAt(p []byte, off int64) (int, error) {
	if d.fails {
		return 0, io.ErrClosedPipe
	}
	return d.Reader.ReadAt(p, off)
}

// TestFile_failures prefers the reason why a file cannot be read, and ends with the context.
func TestFile_failures(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	f, err := file.Open(ctx, "x", file.Options{Content: section("abc")})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := f.Sum(); !errors.Is(err, context.Canceled) || !errors.Is(f.Cause(io.EOF), context.Canceled) {
		t.Errorf("got %v and %v", err, f.Cause(io.EOF))
	}
	for range 2 { // a partial copy is not returned the second time
		if path, err := f.Path(); !errors.Is(err, context.Canceled) || path != "" {
			t.Errorf("got copy %q, error %v", path, err)
		}
	}
	disk := &failingDisk{Reader: strings.NewReader("abc")}
	f, err = file.Open(t.Context(), "x", file.Options{Content: io.NewSectionReader(disk, 0, disk.Size())})
	if err != nil {
		t.Fatal(err)
	}
	content, err := f.Random()
	if err != nil {
		t.Fatal(err)
	}
	disk.fails = true
	_, err = content.ReadAt(make([]byte, 3), 0)
	if err := f.Cause(rows.Damaged(err, "the file")); err != io.ErrClosedPipe {
		t.Errorf("an error of the disk: got %v", err)
	}
	if _, _, err := file.TempCopy(t.TempDir(), iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
	if _, err := file.Open(t.Context(), t.TempDir(), file.Options{}); !errors.Is(err, file.ErrNotRegular) {
		t.Errorf("a folder: got %v", err)
	}
	if _, err := file.Open(t.Context(), "nofile", file.Options{}); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("no file: got %v", err)
	}
}

// TestFile_nestedArchive checks that archives in archives have messages of their own.
func TestFile_nestedArchive(t *testing.T) {
	t.Parallel()
	inner := rowstest.Zip(t, "a.csv=1")
	for _, c := range []struct{ name, stored, want string }{
		{"zip in zip", rowstest.Zip(t, "inner.zip="+inner),
			"the zip archive contains other archives (inner.zip), which are not read; unpack it and publish them"},
		{"zip with the name of a table", rowstest.Zip(t, "a.csv="+inner),
			"the zip archive contains other archives (a.csv), which are not read; unpack it and publish them"},
		{"zip in gzip", compress(t, "gz", inner),
			"the file is a zip archive that is compressed with gzip; unpack it once"},
		{"tar in zip", rowstest.Zip(t, "t.tar="+strings.Repeat("\x00", 257)+"ustar"),
			"t.tar in the zip archive: the file is a tar archive; unpack it and publish the tables in it"},
	} {
		f, err := file.Open(t.Context(), "x",
			file.Options{Content: section(c.stored),
				Formats: []rows.Format{{Name: "csv", Extensions: []string{".csv"}}}})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = f.Detect("csv")
		if fmt.Sprint(err) != c.want || herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("%s: got error %v", c.name, err)
		}
		f.Close()
	}
}

func TestFile_detect(t *testing.T) {
	t.Parallel()
	formats := []rows.Format{
		{Name: "csv", Extensions: []string{".csv"}},
		{Name: "json", Extensions: []string{".json"}, Matches: func(h []byte) bool {
			return len(h) > 0 &&
				h[0] == '['
		}},
	}
	for _, c := range []struct{ name, said, content, format, want string }{
		{"text", "", "a,b\n", "csv", ""},
		{"by content", "", "[1]", "json", ""},
		{"content over extension", "csv", "[1]", "json", "the content is json, not csv"},
		{"by name", "json", "x", "json", ""},
		{"a header that begins like a magic", "", "ORCID,name\n", "csv", ""},
		{"tar", "csv", strings.Repeat("\x00", 257) + "ustar", "", "a tar archive"},
		{"Git LFS", "csv", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n", "",
			"a Git LFS pointer"},
		{"git-annex", "csv", "/annex/objects/MD5E-s12--0.csv\n", "", "a git-annex pointer"},
		{"Arrow", "csv", "ARROW1\x00\x00", "", "an Arrow"},
		{"ORC", "", "ORC\x00\x01", "", "an ORC file"},
		{"legacy workbook", "", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "", ".xls"},
		{"web page", "csv", "\xEF\xBB\xBF<!DOCTYPE HTML>", "", "a web page"},
		{"web page in UTF-16", "csv", "\xFF\xFE<\x00h\x00t\x00m\x00l\x00>\x00", "", "a web page"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, err := file.Open(t.Context(), "x", file.Options{Content: section(c.content), Formats: formats})
			if err != nil {
				t.Fatal(err)
			}
			format, note, err := f.Detect(c.said)
			if format.Name != c.format || c.format == "" && herb.CodeOf(err) != herb.CodeInvalid {
				t.Errorf("got format %q, error %v", format.Name, err)
			}
			if err != nil {
				note = err.Error()
			}
			if !strings.Contains(note, c.want) || c.want == "" && note != "" {
				t.Errorf("got %q; want %q", note, c.want)
			}
		})
	}
}

// TestOpen_LargeWorkbook does not unpack a workbook that has more parts than an archive may have.
func TestOpen_LargeWorkbook(t *testing.T) {
	t.Parallel()
	parts := []string{"[Content_Types].xml=<Types/>"}
	for i := range 1_100 {
		parts = append(parts, "xl/worksheets/sheet"+strconv.Itoa(i)+".xml=")
	}
	f, err := file.Open(t.Context(), rowstest.WriteFile(t, t.TempDir(), "x.xlsx", rowstest.Zip(t, parts...)),
		file.Options{})
	if err != nil || f.Name() != "x.xlsx" {
		t.Fatalf("error %v", err)
	}
	f.Close()
}
