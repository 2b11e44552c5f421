package webtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// parquetTraffic counts the responses that are Parquet files, or parts of them.
type parquetTraffic struct {
	mu         sync.Mutex
	preflights int
	whole      int // responses with a whole file
	bytes      int // of parts
}

// reset returns the counts and sets them to zero.
func (c *parquetTraffic) reset() (preflights, whole, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	preflights, whole, bytes = c.preflights, c.whole, c.bytes
	c.preflights, c.whole, c.bytes = 0, 0, 0
	return preflights, whole, bytes
}

// around counts the responses of a handler.
func (c *parquetTraffic) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counted := &countedResponse{ResponseWriter: w}
		next.ServeHTTP(counted, r)
		if !strings.HasSuffix(r.URL.Path, "/data.parquet") {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		switch {
		case r.Method == http.MethodOptions:
			c.preflights++
		case counted.status == http.StatusPartialContent:
			c.bytes += counted.bytes
		case r.Method == http.MethodGet && counted.status == http.StatusOK:
			c.whole++
		}
	})
}

type countedResponse struct {
	http.ResponseWriter
	status, bytes int
}

func (w *countedResponse) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *countedResponse) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *countedResponse) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.bytes += n
	return n, err
}

// openParquetReaders opens a page of another origin that reads Parquet files.
func openParquetReaders(t *testing.T, s *site) *tab {
	t.Helper()
	tools := filepath.Dir(programtest.NodeModules(t, "@duckdb/duckdb-wasm"))
	files := httptest.NewServer(http.FileServer(http.Dir(tools)))
	t.Cleanup(files.Close)
	b := open(t, s, tabOptions{Also: files.URL})
	b.VisitAddress(files.URL + "/parquet/browser.html")
	b.Until("document.documentElement.dataset.ready")
	return b
}

// rows calls a function of the page that returns rows of texts; "\x00" stands for a missing value.
func (b *tab) rows(function string, args ...any) (rows [][]string) {
	b.Helper()
	encoded, err := json.Marshal(args)
	must.NoError(b.T, err)
	for _, row := range eval[[][]*string](b, fmt.Sprintf("window.%s(...%s)", function, encoded)) {
		var values []string
		for _, v := range row {
			if v == nil {
				values = append(values, "\x00")
			} else {
				values = append(values, *v)
			}
		}
		rows = append(rows, values)
	}
	return rows
}

// TestInterop_parquet reads Parquet files on a page of another origin, by ranges: with DuckDB, with
// hyparquet, and with a key.
func TestInterop_parquet(t *testing.T) {
	t.Parallel()
	traffic := &parquetTraffic{}
	s := newSite(t, traffic.around)
	b := openParquetReaders(t, s)
	garden := s.url + "/api/v1/garden/catalog/data.parquet"
	var listed []map[string]string
	for page := 1; page == 1 || len(listed)%100 == 0; page++ {
		listed = append(listed, get(t, s.url+"/api/v1/garden/catalog/data?per_page=100&page="+
			strconv.Itoa(page)).Data...)
	}
	// want returns the values of fields as readers print them.
	want := func(missing string, fields ...string) (rows [][]string) {
		for _, record := range listed {
			var row []string
			for _, field := range fields {
				v := record[field]
				switch number, err := strconv.ParseFloat(v, 64); {
				case v == "":
					v = missing
				case missing != "" && err == nil: // not as written
					v = strconv.FormatFloat(number, 'f', -1, 64)
				}
				row = append(row, v)
			}
			rows = append(rows, row)
		}
		return rows
	}
	compare := func(what string, want, got [][]string) {
		t.Helper()
		if len(want) == 0 {
			t.Fatalf("%s: no records", what)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s differs (-listing +reader):\n%s", what, diff)
		}
		if _, whole, n := traffic.reset(); whole > 0 || n == 0 {
			t.Errorf("%s: %d requests of the whole file, %d bytes of parts", what, whole, n)
		}
	}
	fields := []string{"id", "title", "category", "date", "price"}
	compare("DuckDB", want("\x00", fields...), b.rows("duckdb",
		`SELECT id::VARCHAR, title, category, date::VARCHAR, price::DOUBLE FROM '`+garden+`' ORDER BY id`))
	compare("DuckDB, texts", want("", fields...), b.rows("duckdb",
		`SELECT id, title, category, date, price FROM read_parquet('`+garden+`?_types=text') ORDER BY id::INTEGER`))
	compare("hyparquet", want("\x00", "id", "title", "category"),
		b.rows("hyparquet", garden, []string{"id", "title", "category"}))

	staffURL := s.url + "/api/v1/locked/staff/data.parquet"
	rows := b.rows("hyparquet", staffURL, []string{"name", "room"}, map[string]string{"X-API-Key": s.staffKey})
	if diff := cmp.Diff([][]string{{"Secretive Ana", "7"}, {"Secretive Bo", "8"}}, rows); diff != "" {
		t.Errorf("the protected file differs:\n%s", diff)
	}
	if preflights, _, _ := traffic.reset(); preflights == 0 {
		t.Error("no preflight preceded requests with a key")
	}
	size := len(s.download(t, garden))
	exposed := eval[[]string](b, fmt.Sprintf("window.range(%q)", garden))
	if diff := cmp.Diff([]string{"200", "206", fmt.Sprintf("bytes 0-3/%d", size), "bytes", "PAR1"},
		exposed); diff != "" {
		t.Errorf("a script reads of a range:\n%s", diff)
	}
}

// download returns the body of a response.
func (s *site) download(t *testing.T, address string) string {
	t.Helper()
	res, err := programtest.Send(t.Context(), http.DefaultClient, http.MethodGet, address, "")
	must.NoError(t, err)
	if res.Status != http.StatusOK {
		t.Fatalf("%s: %d %s", address, res.Status, res.Body)
	}
	return res.Body
}

// TestInterop_parquetBytes counts what readers fetch for one column of a file. In soak runs it has
// a million records.
func TestInterop_parquetBytes(t *testing.T) {
	t.Parallel()
	onlyInSoakRuns(t)
	const records = 1_000_000
	l := &library{}
	must.NoError(t, l.open(context.Background()))
	t.Cleanup(l.stop)
	var source bytes.Buffer
	source.WriteString("id,amount,kind,note\n")
	sum := 0
	for n := range records {
		sum += n * 7919 % 100_000
		fmt.Fprintf(&source, "%d,%d,%s,the note of record %d is %x\n", n, n*7919%100_000,
			[]string{"oak", "elm", "ash"}[n%3], n, n*2_654_435_761)
	}
	must.NoError(t, l.publishFiles(t.Context(), map[string]string{"large/million.csv": source.String()}))
	must.NoError(t, l.data.Library.Refresh(t.Context()))
	traffic := &parquetTraffic{}
	s := l.serve(t, traffic.around)
	b := openParquetReaders(t, s)
	address := s.url + "/api/v1/large/million/data.parquet"
	size := len(s.download(t, address))
	traffic.reset()
	for _, tt := range []struct {
		name string
		rows func() [][]string
		want string
	}{
		{"DuckDB, the number of records",
			func() [][]string { return b.rows("duckdb", "SELECT count(*)::VARCHAR FROM '"+address+"'") },
			strconv.Itoa(records)},
		{"DuckDB, the sum of a column",
			func() [][]string { return b.rows("duckdb", "SELECT sum(amount)::VARCHAR FROM '"+address+"'") },
			strconv.Itoa(sum)},
		{"DuckDB, one record", func() [][]string {
			return b.rows("duckdb", "SELECT kind FROM '"+address+"' WHERE id = 500000")
		}, "ash"},
		{"hyparquet, a column", func() [][]string { return b.rows("hyparquet", address, []string{"amount"})[:1] }, "0"},
	} {
		rows := tt.rows()
		_, whole, n := traffic.reset()
		t.Logf("%s: %d of %d bytes (%.1f %%)", tt.name, n, size, 100*float64(n)/float64(size))
		if len(rows) != 1 || rows[0][0] != tt.want || whole > 0 || n > size/2 {
			t.Errorf("%s: %v, want %s; %d requests of the whole file, %d of %d bytes", tt.name, rows, tt.want,
				whole, n, size)
		}
	}
}
