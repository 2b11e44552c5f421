package httpapi_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/typed"
)

// preparedLibrary returns prepared results, so that only this package is measured.
type preparedLibrary struct {
	dataset herb.Dataset
	page    query.Page
}

func (l *preparedLibrary) Acquire(context.Context, herb.Ref) (library.View, error) {
	return library.View{Dataset: l.dataset, Engine: l}, nil
}

func (l *preparedLibrary) AcquireVersion(ctx context.Context, ref herb.Ref, _ string) (library.View, error) {
	return l.Acquire(ctx, ref)
}

func (l *preparedLibrary) Live(context.Context) ([]herb.LiveVersion, error) { return nil, nil }

func (l *preparedLibrary) Search(context.Context, string, string) ([]herb.LiveVersion, error) {
	return nil, nil
}

func (l *preparedLibrary) ProtectedRefs(context.Context) ([]herb.Ref, error) { return nil, nil }

func (l *preparedLibrary) MayMatch(herb.LiveVersion, *query.Search) bool { return true }

func (l *preparedLibrary) IsClosed(herb.LiveVersion) bool { return false }

func (l *preparedLibrary) Datasets(context.Context, []herb.LiveVersion, bool) ([]herb.Dataset, error) {
	return nil, nil
}

func (l *preparedLibrary) List(context.Context, *query.Request) (query.Page, error) {
	return l.page, nil
}

func (l *preparedLibrary) Stream(context.Context, *query.Request) (query.Stream, error) {
	return query.Stream{}, nil
}

func (l *preparedLibrary) Facets(context.Context, *query.FacetRequest) (query.Facets, error) {
	return query.Facets{}, nil
}

func (l *preparedLibrary) Grid(context.Context, *query.GridRequest) (query.Grid, error) {
	return query.Grid{}, nil
}

func (l *preparedLibrary) Aggregate(context.Context, *query.AggregateRequest) (query.Aggregate, error) {
	return query.Aggregate{}, nil
}

func (l *preparedLibrary) ListVersions(context.Context, herb.Ref) (herb.VersionList, error) {
	return herb.VersionList{}, nil
}

func (l *preparedLibrary) StreamGroups(context.Context, *query.AggregateRequest) (query.GroupStream, error) {
	return query.Aggregate{}.Stream(), nil
}

func (l *preparedLibrary) OpenParquet(context.Context, library.View, bool) (*os.File, error) {
	return nil, nil
}

func (l *preparedLibrary) Words(*query.Request) (query.Words, error) {
	return nil, nil
}

func (l *preparedLibrary) Types() ([]typed.Column, error) { return nil, nil }

// nullWriter discards everything.
type nullWriter struct{ header http.Header }

func (w *nullWriter) Header() http.Header         { return w.header }
func (w *nullWriter) Write(b []byte) (int, error) { return len(b), nil }
func (w *nullWriter) WriteHeader(int)             {}

// prepared returns a function that lists one page of 25 records, from the handler to the write.
func prepared(t testing.TB, log *slog.Logger, target string, headers ...string) func() {
	t.Helper()
	api := preparedAPI(t, log)
	r := request("GET", target, "", headers...)
	w := &nullWriter{http.Header{}}
	return func() {
		clear(w.header)
		api.ServeHTTP(w, r)
	}
}

// preparedAPI returns an API over a preparedLibrary.
func preparedAPI(t testing.TB, log *slog.Logger) *httpapi.API {
	t.Helper()
	d, records := catalog()
	s := newService(t, nil)
	req, err := query.Parse("", d.Fields)
	if err != nil {
		t.Fatal(err)
	}
	s.library.put(d, records)
	view, err := s.library.Acquire(t.Context(), d.Ref)
	if err != nil {
		t.Fatal(err)
	}
	page, err := view.List(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	opts := options(t, &preparedLibrary{d, page})
	opts.Log = log
	api, err := httpapi.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// discardLog returns a log that is formatted as in production and discarded.
func discardLog() *slog.Logger { return slog.New(slog.NewJSONHandler(io.Discard, nil)) }

func BenchmarkListing(b *testing.B) {
	const path = "/api/v1/garden/catalog/data"
	for _, bm := range []struct{ name, target, header string }{
		{"plain", path, ""},
		{"page", path + "?page=2&per_page=25", ""},
		{"filter and sort", path + "?category=fern&sort=price&order=desc", ""},
		{"gzip", path, "Accept-Encoding: gzip"},
		{"zstd", path, "Accept-Encoding: zstd"},
		{"not modified", path, "If-None-Match: *"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			list := prepared(b, discardLog(), bm.target, bm.header)
			b.ReportAllocs()
			for b.Loop() {
				list()
			}
		})
	}
}
