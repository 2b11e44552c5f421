package systemtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// parquetColumns are the columns of a file that other programs read: how the value of a record is
// written, what DuckDB reads, and what hyparquet reads if that differs.
var parquetColumns = []struct {
	name, duckType string
	values         [][3]string // written, DuckDB, hyparquet
}{
	{"price", "DECIMAL(6,2)", [][3]string{{`"1.234,50 €"`, "1234.50", "1234.5"}, {`"-7,05 €"`, "-7.05", ""},
		{"", "", ""}}},
	{"huge", "DECIMAL(21,1)",
		[][3]string{{"-12345678901234567890.5", "-12345678901234567890.5", "-12345678901234570000"}}},
	{"double", "DOUBLE", [][3]string{{"1e30", "1e+30", ""}, {"0.30000000000000004", "0.30000000000000004", ""},
		{"2.5e-20", "2.5e-20", ""}}},
	{"day", "DATE", [][3]string{{"29.02.2024", "2024-02-29", "2024-02-29T00:00:00.000Z"},
		{"31.12.1969", "1969-12-31", "1969-12-31T00:00:00.000Z"}}},
	{"at", "TIMESTAMP WITH TIME ZONE",
		[][3]string{{"2024-02-29T13:30:00.25+05:30", "2024-02-29 08:00:00.25+00", "2024-02-29T08:00:00.250Z"}}},
	{"local", "TIMESTAMP", [][3]string{{"1969-12-31T23:59:59", "1969-12-31 23:59:59", "1969-12-31T23:59:59.000Z"},
		{"", "", ""}}},
	{"clock", "TIME", [][3]string{{"9:05 pm", "21:05:00", "75900000000"}}},
	{"open", "BOOLEAN", [][3]string{{"yes", "true", ""}, {"no", "false", ""}, {"", "", ""}}},
	{"tags", "VARCHAR[]", [][3]string{{`"oak, red"`, `["oak","red"]`, ""}, {"oak", `["oak"]`, ""}, {"", "", ""}}},
	{"name", "VARCHAR", [][3]string{{"Zoë", "Zoë", ""}, {`"x ""y"""`, `x "y"`, ""}, {"", "", ""}}},
	{"code", "VARCHAR", [][3]string{{"007", "007", ""}, {"08a", "08a", ""}}},
	{"mixed", "VARCHAR", [][3]string{{"2024-01-01T00:00Z", "2024-01-01T00:00Z", ""},
		{"2024-01-01T00:00", "2024-01-01T00:00", ""}}},
}

// writeParquetSource writes a file with a number of records.
func writeParquetSource(t *testing.T, dir string, records int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("id")
	for _, c := range parquetColumns {
		b.WriteString("," + c.name)
	}
	for n := range records {
		fmt.Fprintf(&b, "\n%d", n)
		for i, c := range parquetColumns {
			b.WriteString("," + c.values[(n+i)%len(c.values)][0])
		}
	}
	write(t, b.String()+"\n", dir, "all.csv")
	declared := map[string]string{ // what inference does not choose
		"mixed": `,"type":"datetime"`, "code": `,"type":"string"`, "tags": `,"type":"list"`,
		"open": `,"type":"boolean","trueValues":["yes"],"falseValues":["no"]`,
	}
	fields := `{"name":"id"}`
	for _, c := range parquetColumns {
		fields += `,{"name":"` + c.name + `"` + declared[c.name] + `}`
	}
	write(t, `{"name":"trees","resources":[{"name":"all","path":"all.csv","schema":{"fields":[`+fields+`]}}]}`, dir,
		"datapackage.json")
}

// readParquet reads a file with a reader of tools/parquet.
func readParquet(t *testing.T, args ...string) (read struct {
	Columns [][2]string
	Rows    [][]*string
	Bytes   int
}) {
	t.Helper()
	tools := filepath.Join(filepath.Dir(programtest.NodeModules(t, "hyparquet")), "parquet")
	cmd := exec.CommandContext(t.Context(), programtest.LookPath(t, "node"), append([]string{"read.mjs"}, args...)...)
	cmd.Dir, cmd.Stderr = tools, os.Stderr
	out, err := cmd.Output()
	must.NoError(t, err)
	must.NoError(t, json.Unmarshal(out, &read))
	return read
}

// parquetRecords is the number of records of startParquet.
const parquetRecords = 3000

// startParquet starts a node with the dataset trees/all and returns the content of its Parquet
// file.
func startParquet(t *testing.T) (n *node, content string) {
	t.Helper()
	i, dir := newFolder(t), t.TempDir()
	writeParquetSource(t, dir, parquetRecords)
	i.run(t, "publish", dir)
	n = i.start(t)
	return n, n.expect(200, "/api/v1/trees/all/data.parquet").Body
}

// TestInterop_parquetFile reads the Parquet file of a version with other programs.
func TestInterop_parquetFile(t *testing.T) {
	t.Parallel()
	n, content := startParquet(t)
	t.Run("DuckDB", func(t *testing.T) {
		file := write(t, content, t.TempDir(), "all.parquet")
		read := readParquet(t, "duckdb", file)
		checkParquet(t, read.Rows, parquetRecords, 1)
		for i, c := range parquetColumns {
			if read.Columns[i+1] != [2]string{c.name, c.duckType} {
				t.Errorf("column %v, want %s %s", read.Columns[i+1], c.name, c.duckType)
			}
		}
	})
	t.Run("hyparquet", func(t *testing.T) {
		path := n.URL + "/api/v1/trees/all/data.parquet"
		checkParquet(t, readParquet(t, "hyparquet", path).Rows, parquetRecords, 2)
		one := readParquet(t, "hyparquet", path, "id")
		if len(one.Rows) != parquetRecords || *one.Rows[parquetRecords-1][0] != strconv.Itoa(parquetRecords-1) {
			t.Errorf("%d records", len(one.Rows))
		}
	})
}

// TestParquet publishes the Parquet file of a version again, and reads it by ranges.
func TestParquet(t *testing.T) {
	t.Parallel()
	n, content := startParquet(t)
	t.Run("texts", func(t *testing.T) {
		texts := n.expect(200, "/api/v1/trees/all/data.parquet?_types=text").Body
		file := write(t, texts, t.TempDir(), "texts.parquet")
		other := newFolder(t)
		other.run(t, "publish", "--as", "trees/all", file)
		want, got := cellsOf(t, n, "trees/all"), cellsOf(t, other.start(t), "trees/all")
		if want == "" || got != want {
			t.Errorf("content hash %s, want %s", got, want)
		}
	})
	t.Run("HTTP", func(t *testing.T) {
		checkRanges(t, n.URL+"/api/v1/trees/all/data.parquet", content)
	})
}

// cellsOf returns the content hash of a dataset.
func cellsOf(t *testing.T, n *node, ref string) string {
	t.Helper()
	var d struct{ Report struct{ Cells string } }
	must.NoError(t, json.Unmarshal([]byte(n.expect(200, "/api/v1/"+ref).Body), &d))
	return d.Report.Cells
}

// checkParquet compares rows with the values that a reader, by its number, reads.
func checkParquet(t *testing.T, rows [][]*string, records, reader int) {
	t.Helper()
	if len(rows) != records {
		t.Fatalf("%d records, want %d", len(rows), records)
	}
	for n, row := range rows {
		want := []string{strconv.Itoa(n)}
		for i, c := range parquetColumns {
			v := c.values[(n+i)%len(c.values)]
			want = append(want, v[reader])
			if v[reader] == "" {
				want[i+1] = v[1]
			}
		}
		var got []string
		for i, v := range row {
			if (v == nil) != (want[i] == "") {
				t.Fatalf("record %d, column %d: %v, want %q", n, i, v, want[i])
			}
			got = append(got, "")
			if v != nil {
				got[i] = *v
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("record %d: %q, want %q", n, got, want)
		}
	}
}

// checkRanges requests parts of a file.
func checkRanges(t *testing.T, path, content string) {
	do := func(method, path string, headers ...string) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, path, nil)
		must.NoError(t, err)
		for _, h := range append(headers, "Accept-Encoding: gzip, br, zstd", "Origin: https://example.org") {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(r)
		must.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		must.NoError(t, err)
		return res, string(body)
	}
	size := len(content)
	head, _ := do("HEAD", path)
	tag := head.Header.Get("ETag")
	if head.StatusCode != 200 || head.ContentLength != int64(size) || head.Header.Get("Accept-Ranges") != "bytes" ||
		!strings.HasPrefix(tag, `"`) {
		t.Errorf("HEAD: %s %v", head.Status, head.Header)
	}
	for _, tt := range []struct {
		name, header string
		status       int
		body         string
		contentRange string
	}{
		{"whole", "X-None: 1", 200, content, ""},
		{"first", "Range: bytes=0-3", 206, "PAR1", fmt.Sprintf("bytes 0-3/%d", size)},
		{"suffix", "Range: bytes=-4", 206, "PAR1", fmt.Sprintf("bytes %d-%d/%d", size-4, size-1, size)},
		{"open end", fmt.Sprintf("Range: bytes=%d-", size-8), 206, content[size-8:],
			fmt.Sprintf("bytes %d-%d/%d", size-8, size-1, size)},
		{"beyond the end", fmt.Sprintf("Range: bytes=%d-%d", size-8, size+100), 206, content[size-8:],
			fmt.Sprintf("bytes %d-%d/%d", size-8, size-1, size)},
		{"longer suffix than the file", fmt.Sprintf("Range: bytes=-%d", size+100), 206, content,
			fmt.Sprintf("bytes 0-%d/%d", size-1, size)},
		{"outside", fmt.Sprintf("Range: bytes=%d-", size), 416, "", fmt.Sprintf("bytes */%d", size)},
		{"empty suffix", "Range: bytes=-0", 416, "", fmt.Sprintf("bytes */%d", size)},
		{"too many", "Range: bytes=" + strings.Repeat("0-0,", 100) + "1-1", 400, "", ""},
		{"known", "If-None-Match: " + tag, 304, "", ""},
		{"of another file", `If-Match: "other"`, 412, "", ""},
	} {
		res, body := do("GET", path, tt.header)
		if res.StatusCode != tt.status || tt.status < 300 && body != tt.body ||
			res.Header.Get("Content-Range") != tt.contentRange ||
			tt.status < 400 && res.Header.Get("ETag") != tag || res.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %s, %d bytes, %v", tt.name, res.Status, len(body), res.Header)
		}
		if tt.status >= 400 && (!strings.HasPrefix(body, fmt.Sprintf(`{"error":%d,`, tt.status)) ||
			!strings.HasPrefix(res.Header.Get("Content-Type"), "application/json")) {
			t.Errorf("%s: the error is %q, %v", tt.name, body, res.Header)
		}
		if !strings.Contains(res.Header.Get("Access-Control-Expose-Headers"), "Content-Range") {
			t.Errorf("%s: scripts cannot read the range", tt.name)
		}
	}
	for condition, status := range map[string]int{tag: 206, `"other"`: 200, "W/" + tag: 200} {
		if res, _ := do("GET", path, "Range: bytes=0-3", "If-Range: "+condition); res.StatusCode != status {
			t.Errorf("If-Range %s: %s", condition, res.Status)
		}
	}
	several, body := do("GET", path, "Range: bytes=0-3,-4")
	_, params, err := mime.ParseMediaType(several.Header.Get("Content-Type"))
	must.NoError(t, err)
	parts := multipart.NewReader(strings.NewReader(body), params["boundary"])
	for range 2 {
		part, err := parts.NextPart()
		must.NoError(t, err)
		if b, _ := io.ReadAll(part); string(b) != "PAR1" {
			t.Errorf("a part is %q", b)
		}
	}
	for _, query := range []string{"?price=3", "?sort=id", "?page=1", "?_types=int", "?_types=text&_types=text"} {
		res, body := do("GET", path+query)
		if res.StatusCode != 400 || strings.HasPrefix(query, "?price") && !strings.Contains(body, "data.csv") {
			t.Errorf("%s: %s %s", query, res.Status, body)
		}
	}
	preflight, _ := do("OPTIONS", path, "Access-Control-Request-Method: GET",
		"Access-Control-Request-Headers: range,if-range")
	if allowed := preflight.Header.Get("Access-Control-Allow-Headers"); preflight.StatusCode != 204 ||
		!strings.Contains(allowed, "If-Range") || !strings.Contains(allowed, ", Range") {
		t.Errorf("preflight: %s %s", preflight.Status, allowed)
	}
}

// TestParquet_protected checks that a file needs the key of its records, in every version.
func TestParquet_protected(t *testing.T) {
	t.Parallel()
	i := newFolder(t)
	i.run(t, "publish", filepath.Join(writeOpenAndProtected(t), "vault"))
	key := strings.TrimSpace(i.run(t, "keys", "create", "--name", "reader", "--scope", "data:read:vault/people"))
	n := i.start(t)
	for _, path := range []string{"/api/v1/vault/people/data.parquet", "/api/v1/vault/people/data.parquet?_types=text",
		"/datasets/vault/people/data.parquet"} {
		n.expect(401, path)
		n.expect(401, path, "Range", "bytes=0-3")
	}
	n.expect(200, "/api/v1/vault/people/data.parquet", "X-API-Key", key)
	n.expect(401, "/api/v1/vault/people/data.parquet")
	n.expect(400, "/api/v1/store/plants/data.parquet")
	n.expect(404, "/api/v1/no/such/data.parquet")
}

// TestParquet_nodes checks that nodes share a file, and that it is removed with its dataset.
func TestParquet_nodes(t *testing.T) {
	t.Parallel()
	i, dir := newServices(t).newShared(t), t.TempDir()
	writeParquetSource(t, dir, 100)
	i.run(t, "publish", dir)
	first := i.start(t)
	content := first.expect(200, "/api/v1/trees/all/data.parquet").Body
	stored := func() (names []string) {
		for name := range i.files(t) {
			if strings.HasSuffix(name, ".parquet") {
				names = append(names, name)
			}
		}
		return names
	}
	eventually(t, "the file is stored", func(context.Context) error {
		if len(stored()) == 0 {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	second := i.newNode(t).start(t)
	if got := second.expect(200, "/api/v1/trees/all/data.parquet").Body; got != content {
		t.Error("nodes have different files")
	}
	if strings.Contains(second.Output(), "built file") {
		t.Error("a node has built a file that is in the object store")
	}
}

// TestParquet_concurrent checks that a file is built once, however many clients request it at the
// same time.
func TestParquet_concurrent(t *testing.T) {
	t.Parallel()
	i, dir := newFolder(t), t.TempDir()
	writeParquetSource(t, dir, 20_000)
	i.run(t, "publish", dir)
	n := i.start(t)
	const clients = 20
	results := make(chan error, clients)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range clients {
		go func() {
			_, err := get(ctx, n.URL+"/api/v1/trees/all/data.parquet")
			results <- err
		}()
	}
	for range clients {
		must.NoError(t, <-results)
	}
	must.NoError(t, n.Stop()) // all of its output has arrived
	if built := strings.Count(n.Output(), "built file"); built != 1 {
		t.Errorf("the file was built %d times", built)
	}
}
