// Package peer lists the same records from SQLite as common services do: count(*) for the total,
// LIMIT and OFFSET for the page, FTS5 for words.
package peer

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"herbarium/bench/gen"
	"herbarium/bench/shapes"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Server serves the shapes from a database of Load.
type Server struct {
	db      *sql.DB
	fields  []herb.Field
	queries map[string]prepared // by the canonical form of the first page
}

// prepared is the prepared statement of a shape.
type prepared struct {
	count, page *sql.Stmt
	args        []any
}

// Open opens a database.
func Open(ctx context.Context, path string) (*Server, error) {
	db, err := connect(path, "query_only(1)", "mmap_size(8589934592)", "cache_size(-65536)", "temp_store(memory)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	s := &Server{db: db, fields: gen.Fields(), queries: map[string]prepared{}}
	sqls := statements()
	for _, shape := range shapes.All() {
		r, err1 := query.Parse(shape.Query, s.fields)
		sql := sqls[shape.Name]
		count, err2 := db.PrepareContext(ctx, sql.count())
		page, err3 := db.PrepareContext(ctx, sql.page())
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", shape.Name, err), db.Close())
		}
		s.queries[key(r)] = prepared{count, page, sql.args}
	}
	return s, nil
}

// Close closes the database.
func (s *Server) Close() error { return s.db.Close() }

// ServeHTTP responds with a page, for any path. Errors are those of requests that are not measured.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, err := query.Parse(r.URL.RawQuery, s.fields)
	var page query.Page
	if err == nil {
		page, err = s.List(r.Context(), req)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	meta, _ := json.Marshal(req.Meta(page.Total)) // plain numbers
	body := fmt.Appendf(nil, `{"data":[%s],"meta":%s}`, bytes.Join(page.Records, []byte{','}), meta)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// key identifies a request, regardless of its page.
func key(r *query.Request) string {
	b, _ := json.Marshal([]any{r.Conditions, r.Search, r.Sort}) // plain structs
	return string(b)
}

// List returns a page.
func (s *Server) List(ctx context.Context, r *query.Request) (query.Page, error) {
	q, ok := s.queries[key(r)]
	if !ok {
		return query.Page{}, herb.Invalidf("%s is not one of the shapes", key(r))
	}
	var out query.Page
	if err := q.count.QueryRowContext(ctx, q.args...).Scan(&out.Total); err != nil {
		return query.Page{}, err
	}
	rows, err := q.page.QueryContext(ctx, append(slices.Clone(q.args), r.PerPage, r.Offset())...)
	if err != nil {
		return query.Page{}, err
	}
	defer rows.Close()
	record := make(herb.Record, len(s.fields))
	into := make([]any, len(record))
	for i := range record {
		into[i] = &record[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return query.Page{}, err
		}
		out.Records = append(out.Records, record.AppendJSON(nil, s.fields))
	}
	return out, rows.Err()
}

// Constant returns a handler that writes a body of a given size, as an upper bound for the
// throughput of a Go server.
func Constant(size int) http.Handler {
	contentType, length := []string{"application/json"}, []string{strconv.Itoa(size)}
	body := bytes.Repeat([]byte{'x'}, size)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h["Content-Type"], h["Content-Length"] = contentType, length
		_, _ = w.Write(body)
	})
}
