package peer

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/bench/gen"
	"herbarium/bench/shapes"
	"herbarium/internal/query"
)

func open(t *testing.T, n int) *Server {
	t.Helper()
	dir := t.TempDir()
	path, err := gen.File(t.Context(), dir, 1, n)
	if err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(dir, "peer.db")
	if err := Load(t.Context(), path, db); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
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
		{"search=-", 200, `{"data":[],"meta":{"total":0,`},
		{"search=" + gen.CommonWord + "+-" + gen.CommonWord, 200, `{"data":[],"meta":{"total":0,`},
		{"sort=prize", 400, `did you mean "price"?`},
		{"title[prefix]=A", 400, "not done here"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "/data?"+c.raw, nil))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%q: %d %.300s; want %d and %s", c.raw, w.Code, w.Body, c.status, c.want)
		}
	}
}

// TestPlans checks the query plans of the peer: sorted listings read an index, and every filter has one.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := open(t, 2000)
	for raw, want := range map[string]string{
		"sort=price":            "USING INDEX items_price",
		"sort=price&order=desc": "USING INDEX items_price_desc",
		"sort=date&order=desc":  "USING INDEX items_date_desc",
		"sort=title":            "USING INDEX items_title",
		"author=x":              "items_author",
		"tags=x":                "item_tags_tag",
		"search=x":              "VIRTUAL TABLE INDEX",
	} {
		r, err := query.Parse(raw, gen.Fields())
		if err != nil {
			t.Fatal(err)
		}
		_, page, err := translate(r)
		if err != nil {
			t.Fatal(err)
		}
		plan := explain(t, s, page)
		if !strings.Contains(plan, want) || strings.Contains(plan, "TEMP B-TREE") && !strings.Contains(raw, "tags") {
			t.Errorf("%q is found by\n%s\nwant %s", raw, plan, want)
		}
	}
	for _, shape := range shapes.All() {
		r, err := query.Parse(shape.Query, gen.Fields())
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := translate(r); err != nil {
			t.Errorf("%s: %v", shape.Name, err)
		}
	}
}

func explain(t *testing.T, s *Server, st statement) string {
	t.Helper()
	rows, err := s.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+st.sql, st.args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(detail + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

func TestLoad_invalid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	csv := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(csv, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Load(t.Context(), csv, filepath.Join(dir, "a.db")); err == nil || !strings.Contains(err.Error(), "the header is") {
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
