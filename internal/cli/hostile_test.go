package cli_test

import (
	"archive/zip"
	"bytes"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/testseed"
)

// hostileFile is a truncated, damaged or malicious file.
type hostileFile struct {
	name string
	file string
	make func(t *testing.T, path string)
	want string // part of the error; empty if the file is published
	n    int    // number of records if the file is published
}

func containing(content string) func(*testing.T, string) {
	return func(t *testing.T, path string) { rewrite(t, path, content) }
}

// hostileFiles returns the cases that take little time, each with its expected result.
func hostileFiles(t *testing.T) []hostileFile {
	columns := func(n int) string {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("c%d", i)
		}
		return strings.Join(names, ",") + "\n" + strings.Repeat(strings.Repeat("1,", n-1)+"2\n", 3)
	}
	var rows strings.Builder
	rows.WriteString("id,name\n")
	for i := range 30_000 {
		fmt.Fprintf(&rows, "%d,\"name, %d\"\n", i, i*7919%10_007)
	}
	long, packed, table := strings.Repeat("x", 9<<20), gzipped(t, rows.String()), parquetOf(t)
	const nesting = 100_000
	return []hostileFile{
		{name: "as many columns as there can be", file: "x.csv", make: containing(columns(10_000)), n: 3},
		{name: "one column more", file: "x.csv", make: containing(columns(10_001)), want: "more than 10000 columns"},
		{name: "a long line", file: "x.csv", make: containing("a,b\n1," + long + "\n"),
			want: "line 2: the record is longer than"},
		{name: "a long text in JSON", file: "x.json", make: containing(`[{"a":"` + long + `"}]`),
			want: "record 1, line 1: the record is longer than"},
		{name: "a quote that is never closed", file: "x.csv",
			make: containing("a,b\n1,\"" + strings.Repeat("x\n", 5<<20)),
			want: "is the quote opened in line 2 never closed?"},
		{name: "long names", file: "x.csv",
			make: containing(strings.Repeat("a", 1<<20) + ",b\n" + strings.Repeat("1,2\n", 9)),
			want: "bytes; at most 1000 are possible"},
		{name: "cut within quotes", file: "x.csv", make: containing(rows.String() + "30000,\"name, c"),
			want: "line 30002: the quote opened here is never closed"},
		{name: "cut gzip", file: "x.csv.gz", make: containing(packed[:len(packed)/2]),
			want: "the gzip data ends too early"},
		{name: "cut Parquet", file: "x.parquet", make: containing(table[:len(table)/2]), want: "Parquet"},
		{name: "absurd length of what describes Parquet", file: "x.parquet",
			make: containing(table[:len(table)-8] + "\xff\xff\xff\x7fPAR1"), want: "would begin before the file"},
		{name: "absurd sizes in Parquet", file: "x.parquet", make: containing(absurdParquet(t, table)),
			want: "is damaged or truncated"},
		{name: "rows without columns in Parquet", file: "x.parquet", make: containing(emptyParquet(t, table)),
			want: "rows without any column"},
		{name: "virtual tables alone", file: "x.db", make: makeVirtualTables,
			want: `"words" is a virtual table, which is not published`},
		{name: "zip bomb", file: "x.xlsx", make: makeZipBomb, want: "unpacked bytes, which is too much"},
		{name: "zero bytes", file: "x.csv", make: containing("a,b\n" + strings.Repeat("\x00", 1<<20)),
			want: "the file is not text"},
		{name: "mixed encodings", file: "x.csv", make: containing(rows.String() + "1,é\n2,\xE9\n"),
			want: "the file mixes encodings"},
		{name: "deep objects", file: "x.json",
			make: containing(strings.Repeat(`{"a":`, nesting) + "1" + strings.Repeat("}", nesting)),
			want: "nested more than 100 levels deep"},
		{name: "nothing", file: "x.csv", make: containing(""), want: "the file is empty"},
		{name: "delimiters alone", file: "x.csv", make: containing(strings.Repeat(",,,\n", 100)), n: 0},
		{name: "a folder", file: "x.csv", make: func(t *testing.T, path string) {
			must.NoError(t, os.Mkdir(path, 0o700))
		}, want: "contains 0 datasets"},
		{name: "a pipe", file: "x.csv", make: makePipe, want: "not a regular file"},
		{name: "a link to itself", file: "x.csv", make: func(t *testing.T, path string) {
			must.NoError(t, os.Symlink(path, path))
		}, want: "cannot be read"},
		{name: "a link out of a folder", file: "folder", make: func(t *testing.T, path string) {
			must.NoError(t, os.Mkdir(path, 0o700))
			must.NoError(t, os.Symlink("/etc/passwd", filepath.Join(path, "x.csv")))
		}, want: "leads out of the folder"},
		{name: "a path that leads out", file: "datapackage.json",
			make: containing(`{"name":"n","resources":[{"name":"r","path":"../../etc/passwd"}]}`),
			want: "leads out of the folder"},
		{name: "a path to all of the machine", file: "datapackage.json",
			make: containing(`{"name":"n","resources":[{"name":"r","path":"/etc/passwd"}]}`),
			want: `resources[0].path is "/etc/passwd"`},
		{name: "a name that leads out", file: "datapackage.json",
			make: containing(`{"name":"../..","resources":[{"name":"../../x","data":[{"a":1}]}]}`),
			want: `cannot name a dataset after "../.."`},
	}
}

// TestPublish_hostile publishes each file over a dataset that a server lists. A file that cannot be
// read changes neither the listing nor the data folder, and is reported in one error.
func TestPublish_hostile(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "shop/prices.csv", "code,price\n007,1.50\n008,2\n"))
	s := e.serve(t)
	const listing = "/api/v1/shop/prices/data?sort=price&order=desc"
	_, before := s.get(t, listing)
	versions := e.versions(t)
	for i, tt := range hostileFiles(t) {
		path := filepath.Join(t.TempDir(), tt.file)
		tt.make(t, path)
		as := "shop/prices"
		if tt.want == "" {
			as = fmt.Sprintf("shop/case-%d", i)
		}
		code, out, errOut := e.run(t, "publish", path, "--as", as)
		if tt.want == "" {
			versions++
			if code != 0 {
				t.Errorf("%s: exit code %d\n%.2000s", tt.name, code, errOut)
			} else if n := s.total(t, "/api/v1/"+as+"/data?per_page=1"); n != tt.n {
				t.Errorf("%s: %d records; want %d", tt.name, n, tt.n)
			}
		} else if code != 1 || out != "" || strings.Count(errOut, tt.want) != 1 || len(errOut) > 1000 ||
			strings.Contains(errOut, "panic") {
			t.Errorf("%s: exit code %d, output %.200q and this in place of %q:\n%.2000s", tt.name, code, out,
				tt.want, errOut)
		}
		if n := e.versions(t); n != versions {
			t.Errorf("%s: there are %d files of versions; want %d", tt.name, n, versions)
			versions = n
		}
		if status, after := s.get(t, listing); status != 200 || after != before {
			t.Errorf("%s: the listing is now %d %.300s", tt.name, status, after)
		}
	}
}

// TestPut_hostile sends every hostile file, and every file of package ingest that cannot be read,
// to a server, with a key that may publish one dataset only. Each has the same error as with the
// command; the listing, other datasets and the data folder stay as they are.
func TestPut_hostile(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "shop/prices.csv", "code,price\n007,1.50\n008,2\n"))
	e.must(t, "publish", write(t, "shop/stock.csv", "code,count\n007,1\n"))
	s := e.serve(t)
	key := strings.TrimSpace(e.must(t, "keys", "create", "--name", "ci", "--scope", "publish:shop/prices"))
	put := func(dataset, file, content string) programtest.Response {
		t.Helper()
		return s.do(t, http.MethodPut, "/api/v1/"+dataset+"/source?_allow_breaking=true&_check=true", content,
			"X-API-Key", key, "Content-Disposition", "attachment; filename="+file, "Prefer", "wait=600")
	}
	const prices, stock = "/api/v1/shop/prices/data?sort=price&order=desc", "/api/v1/shop/stock/data"
	_, before := s.get(t, prices)
	_, other := s.get(t, stock)
	versions := e.versions(t)
	send := func(name, file, content, want string) {
		t.Helper()
		a := put("shop/prices", file, content)
		var body struct{ Message, Status string }
		must.NoError(t, json.Unmarshal([]byte(a.Body), &body))
		if want == "" && (a.Status != 200 || body.Status != "checked") ||
			want != "" && (a.Status != 422 || !strings.Contains(body.Message, want) || len(body.Message) > 1000 ||
				strings.Contains(body.Message, e["HERBARIUM_DATA"])) {
			t.Errorf("%s: %d and this in place of %q: %.1000s", name, a.Status, want, a.Body)
		}
		if a := put("shop/stock", file, "x"); a.Status != 403 {
			t.Errorf("%s for another dataset: %d %s", name, a.Status, a.Body)
		}
		if n := e.versions(t); n != versions {
			t.Errorf("%s: there are %d files of versions; want %d", name, n, versions)
		}
		if status, after := s.get(t, prices); status != 200 || after != before {
			t.Errorf("%s: the listing is now %d %.300s", name, status, after)
		}
	}
	sendDescriptor := func(name, descriptor string) {
		t.Helper()
		var b bytes.Buffer
		form := multipart.NewWriter(&b)
		must.NoError(t, errors.Join(form.WriteField("descriptor", descriptor), form.WriteField("file", "a\n1\n"),
			form.Close()))
		a := s.do(t, http.MethodPut, "/api/v1/shop/prices/source?_allow_breaking=true&_check=true", b.String(),
			"X-API-Key", key, "Content-Type", form.FormDataContentType(), "Prefer", "wait=600")
		// the path of a file that was sent is ignored
		if a.Status != 200 && a.Status != 422 || strings.Contains(a.Body, "root:") {
			t.Errorf("%s: %d %.1000s", name, a.Status, a.Body)
		}
	}
	for _, f := range hostileFiles(t) {
		path := filepath.Join(t.TempDir(), f.file)
		f.make(t, path)
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue // it cannot be sent
		}
		content, err := os.ReadFile(path)
		must.NoError(t, err)
		if f.file == "datapackage.json" {
			sendDescriptor(f.name, string(content))
			continue
		}
		send(f.name, f.file, string(content), f.want)
	}
	for _, f := range rowstest.UnreadableFiles() {
		send(f.Name, f.File, f.Content, f.File+": "+f.Want)
	}
	if testseed.Soak() { // these take as long as all others together
		for _, f := range rowstest.ExpandingFiles() {
			send(f.Name, f.File, f.Content, f.Want)
		}
	}
	if _, after := s.get(t, stock); after != other {
		t.Errorf("another dataset lists %s", after)
	}
	if left, err := filepath.Glob(filepath.Join(e["HERBARIUM_DATA"], "versions", "*.part*")); err != nil ||
		len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// TestPublish_dataFolder publishes and serves the data folder, and a folder that contains it.
func TestPublish_dataFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Dir(filepath.Dir(write(t, "shop/prices.csv", "code,price\n007,1.50\n")))
	e := newEnvironment(t)
	e["HERBARIUM_DATA"] = filepath.Join(dir, "data")
	e.must(t, "publish", filepath.Join(dir, "shop"))
	must.NoError(t, os.Symlink("../data/herbarium.db", filepath.Join(dir, "shop", "keys.db")))
	for _, path := range []string{filepath.Join(dir, "data"), filepath.Join(dir, "data", "herbarium.db"),
		filepath.Join(dir, "shop", "keys.db")} {
		for _, args := range [][]string{{"publish", path}, {"publish", path, "--as", "shop/x"}, {"serve", path}} {
			if code, out, errOut := e.run(t, args...); code != 1 || out != "" ||
				!strings.Contains(errOut, "is in the data folder of the program (--data)") {
				t.Errorf("%q: exit code %d\n%s%s", args, code, out, errOut)
			}
		}
	}
	code, out, errOut := e.run(t, "publish", dir)
	if code != 1 || !strings.Contains(errOut, "data: data folder of the program (--data), which is never published") ||
		!strings.Contains(errOut, "keys.db leads out of") &&
			!strings.Contains(errOut, "keys.db is in the data folder") ||
		!strings.Contains(out, "unchanged shop/prices") {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
	if list := e.must(t, "datasets"); strings.Contains(list, "keys") || strings.Contains(list, "data/") {
		t.Errorf("something else was published:\n%s", list)
	}
}

// TestPublish_superseded publishes a file that is replaced continuously. The listing has one of its
// contents.
func TestPublish_superseded(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	path := write(t, "shop/x.csv", "n\n0\n")
	contents := make([]string, 2)
	for i := range contents {
		contents[i] = "n,who\n" + strings.Repeat(fmt.Sprintf("%d,%d\n", i, i), 20_000+i)
	}
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			next := path + ".next"
			err := errors.Join(os.WriteFile(next, []byte(contents[i%2]), 0o600), os.Rename(next, path))
			select {
			case <-stop:
				stopped <- err
				return
			default:
			}
		}
	}()
	for range 5 {
		code, _, errOut := e.run(t, "publish", path, "--as", "shop/x")
		if code != 0 && !strings.Contains(errOut, "changed while it was being read") {
			t.Errorf("exit code %d\n%s", code, errOut)
		}
	}
	close(stop)
	must.NoError(t, <-stopped)
	e.must(t, "publish", path, "--as", "shop/x")
	got := strings.ReplaceAll(e.must(t, "export", "shop/x"), "\r\n", "\n")
	if got != contents[0] && got != contents[1] {
		t.Errorf("what is listed is neither of the contents: %d bytes", len(got))
	}
}

func makePipe(t *testing.T, path string) {
	if err := exec.Command("mkfifo", path).Run(); err != nil {
		must.NoError(t, os.Symlink(os.DevNull, path)) // a system without pipes has devices
	}
}

// makeZipBomb creates a workbook with a sheet whose declared size is far larger than its compressed
// content.
func makeZipBomb(t *testing.T, path string) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	const types = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`
	const relations = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/></Relationships>`
	const book = `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` +
		`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`
	for _, part := range [][2]string{
		{"[Content_Types].xml", types}, {"_rels/.rels", fmt.Sprintf(relations, "officeDocument", "xl/workbook.xml")},
		{"xl/workbook.xml", book},
		{"xl/_rels/workbook.xml.rels", fmt.Sprintf(relations, "worksheet", "worksheets/sheet1.xml")},
	} {
		w, err := z.Create(part[0])
		must.NoError(t, err)
		_, err = w.Write([]byte(part[1]))
		must.NoError(t, err)
	}
	w, err := z.CreateRaw(&zip.FileHeader{Name: "xl/worksheets/sheet1.xml", Method: zip.Deflate,
		CompressedSize64: 1 << 20, UncompressedSize64: 4 << 30})
	must.NoError(t, err)
	_, err = w.Write(make([]byte, 1<<20))
	must.NoError(t, err)
	must.NoError(t, z.Close())
	rewrite(t, path, b.String())
}

// makeVirtualTables creates a database that has only virtual tables.
func makeVirtualTables(t *testing.T, path string) {
	db, err := sql.Open("sqlite", path)
	must.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `CREATE VIRTUAL TABLE words USING fts5(word)`)
	must.NoError(t, err)
}

// parquetOf returns a Parquet file with some records.
func parquetOf(t *testing.T) string {
	type row struct {
		ID   int64
		Name string
	}
	rows := make([]row, 1000)
	for i := range rows {
		rows[i] = row{int64(i), fmt.Sprintf("name %d", i)}
	}
	var b bytes.Buffer
	must.NoError(t, parquet.Write(&b, rows))
	return b.String()
}

// absurdParquet returns a Parquet file that declares an absurd number of rows.
func absurdParquet(t *testing.T, file string) string {
	t.Helper()
	return changedParquet(t, file, func(meta *format.FileMetaData) {
		meta.NumRows = 1 << 60
		for i := range meta.RowGroups {
			g := &meta.RowGroups[i]
			g.NumRows, g.TotalByteSize = 1<<60, 1<<60
			for k := range g.Columns {
				c := &g.Columns[k].MetaData
				c.NumValues, c.TotalCompressedSize, c.TotalUncompressedSize = 1<<60, 1<<60, 1<<60
			}
		}
	})
}

// emptyParquet returns a Parquet file that declares rows without columns.
func emptyParquet(t *testing.T, file string) string {
	t.Helper()
	return changedParquet(t, file, func(meta *format.FileMetaData) {
		meta.NumRows, meta.Schema = 1<<60, meta.Schema[:1]
		meta.Schema[0].NumChildren.V = 0
		meta.RowGroups = meta.RowGroups[:1]
		meta.RowGroups[0].NumRows, meta.RowGroups[0].Columns = 1<<60, nil
	})
}

// changedParquet changes the metadata of a Parquet file.
func changedParquet(t *testing.T, file string, change func(*format.FileMetaData)) string {
	t.Helper()
	end := len(file) - 8
	begin := end - int(binary.LittleEndian.Uint32([]byte(file[end:])))
	var meta format.FileMetaData
	must.NoError(t, thrift.Unmarshal(new(thrift.CompactProtocol), []byte(file[begin:end]), &meta))
	change(&meta)
	foot, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	must.NoError(t, err)
	return file[:begin] + string(foot) + string(binary.LittleEndian.AppendUint32(nil, uint32(len(foot)))) + "PAR1"
}
