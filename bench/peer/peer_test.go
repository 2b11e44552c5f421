package peer

import (
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/bench/gen"
	"herbarium/internal/must"
)

func open(t *testing.T, n int) *Server {
	t.Helper()
	dir := t.TempDir()
	path, err := gen.File(t.Context(), dir, 1, n)
	must.NoError(t, err)
	db := filepath.Join(dir, "peer.db")
	must.NoError(t, Load(t.Context(), path, db))
	s, err := Open(t.Context(), db)
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, s.Close()) })
	return s
}

func TestServer_ServeHTTP(t *testing.T) {
	t.Parallel()
	s := open(t, 60)
	for _, c := range []struct {
		raw    string
		status int
		want   string
	}{
		{"", 200, `"meta":{"total":60,"page":1,"per_page":25,"total_pages":3,"has_next":true,"has_prev":false}}`},
		{"per_page=1&page=2", 200, `{"data":[{"id":"2","title":"`},
		{"author=" + url.QueryEscape(gen.Author), 200, `{"data":[],"meta":{"total":0,`},
		{"sort=prize", 400, `did you mean "price"?`},
		{"title[prefix]=A", 400, "not one of the shapes"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "/data?"+c.raw, nil))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%q: %d %.300s; want %d and %s", c.raw, w.Code, w.Body, c.status, c.want)
		}
	}
}

// TestPlans checks the query plans of the peer: sorted listings read an index, and every filter has
// one.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := open(t, 2000)
	want := map[string]string{
		"sort-first":    "USING INDEX items_price",
		"category-sort": "items_category",
		"tag-sort":      "item_tags_tag",
		"author":        "items_author",
		"range-sort":    "items_",
		"rare-word":     "VIRTUAL TABLE INDEX",
	}
	for name, st := range statements() {
		plan := explain(t, s, st)
		if !strings.Contains(plan, want[name]) || strings.HasPrefix(name, "sort-") &&
			strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%q is found by\n%s\nwant %s", name, plan, want[name])
		}
	}
}

func explain(t *testing.T, s *Server, st statement) string {
	t.Helper()
	rows, err := s.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+st.page(),
		append(slices.Clone(st.args), 25, 0)...)
	must.NoError(t, err)
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var detail string
		must.NoError(t, rows.Scan(&id, &parent, &unused, &detail))
		plan.WriteString(detail + "\n")
	}
	must.NoError(t, rows.Err())
	return plan.String()
}

func TestLoad_invalid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	csv := filepath.Join(dir, "a.csv")
	must.NoError(t, os.WriteFile(csv, []byte("a,b\n1,2\n"), 0o600))
	if err := Load(t.Context(), csv, filepath.Join(dir, "a.db")); err == nil ||
		!strings.Contains(err.Error(), "the header is") {
		t.Errorf("the error is %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
}

func TestConstant(t *testing.T) {
	t.Parallel()
	h := Constant(12_345)
	for range 2 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/anything?a=b", nil))
		if w.Code != 200 || w.Body.Len() != 12_345 || w.Header().Get("Content-Length") != "12345" {
			t.Errorf("status %d, %d bytes, header %v", w.Code, w.Body.Len(), w.Header())
		}
	}
}
