// Package peer lists the same records from SQLite as common services do: count(*) for the total, LIMIT and OFFSET for the
// page, FTS5 for words.
package peer

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"

	"herbarium/bench/gen"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Server serves listings from a database of Load.
type Server struct {
	db     *sql.DB
	fields []herb.Field

	mu         sync.Mutex
	statements map[string]*sql.Stmt
}

// Open opens a database.
func Open(ctx context.Context, path string) (*Server, error) {
	db, err := connect(path, "query_only(1)", "mmap_size(8589934592)", "cache_size(-65536)", "temp_store(memory)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Server{db: db, fields: gen.Fields(), statements: map[string]*sql.Stmt{}}, nil
}

// Close closes the database.
func (s *Server) Close() error { return s.db.Close() }

// ServeHTTP responds with a page, for any path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := s.answer(r.Context(), r.URL.RawQuery)
	if err != nil {
		status := http.StatusInternalServerError
		if herb.CodeOf(err) == herb.CodeInvalid {
			status = http.StatusBadRequest
		}
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

func (s *Server) answer(ctx context.Context, raw string) ([]byte, error) {
	req, err := query.Parse(raw, s.fields)
	if err != nil {
		return nil, err
	}
	page, err := s.List(ctx, req)
	if err != nil {
		return nil, err
	}
	meta, err := json.Marshal(req.Meta(page.Total))
	return fmt.Appendf(nil, `{"data":[%s],"meta":%s}`, bytes.Join(page.Records, []byte{','}), meta), err
}

// List returns a page.
func (s *Server) List(ctx context.Context, r *query.Request) (query.Page, error) {
	count, page, err := translate(r)
	if err != nil {
		return query.Page{}, err
	}
	counting, err1 := s.prepare(ctx, count.sql)
	listing, err2 := s.prepare(ctx, page.sql)
	if err := errors.Join(err1, err2); err != nil {
		return query.Page{}, err
	}
	var out query.Page
	if err := counting.QueryRowContext(ctx, count.args...).Scan(&out.Total); err != nil {
		return query.Page{}, err
	}
	rows, err := listing.QueryContext(ctx, page.args...)
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

// prepare returns a cached prepared statement.
func (s *Server) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st, ok := s.statements[text]; ok {
		return st, nil
	}
	st, err := s.db.PrepareContext(ctx, text)
	if err == nil {
		s.statements[text] = st
	}
	return st, err
}

// Constant returns a handler that writes a body of a given size, as an upper bound for the throughput of a Go server.
func Constant(size int) http.Handler {
	contentType, length := []string{"application/json"}, []string{strconv.Itoa(size)}
	body := bytes.Repeat([]byte{'x'}, size)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h["Content-Type"], h["Content-Length"] = contentType, length
		_, _ = w.Write(body)
	})
}
