package web

import (
	"bytes"
	"context"
	"encoding/csv"
	"net/http/httptest"
	"testing"

	"herbarium/bench/gen"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/listtest"
)

type benchLibrary struct {
	d herb.Dataset
	o *listtest.Oracle
}

func (l benchLibrary) Acquire(context.Context, herb.Ref) (library.Snapshot, error) {
	return library.Snapshot{Dataset: l.d, Source: l.o}, nil
}
func (l benchLibrary) Datasets(context.Context) ([]herb.Dataset, error) {
	return []herb.Dataset{l.d}, nil
}
func (l benchLibrary) Editions(context.Context, herb.Ref) ([]library.Edition, error) {
	return nil, nil
}

type noKeys struct{}

func (noKeys) Verify(context.Context, string) (herb.Principal, error) { return herb.Principal{}, nil }

func BenchmarkBrowse(b *testing.B) {
	g := gen.New(1)
	var recs []herb.Record
	for i := range 25 {
		row, err := csv.NewReader(bytes.NewReader(g.AppendRecord(nil, i))).Read()
		if err != nil {
			b.Fatal(err)
		}
		recs = append(recs, row)
	}
	d := herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "b"}, Fields: gen.Fields(), Records: 25}
	p, err := New(Options{Library: benchLibrary{d, listtest.NewOracle(d.Fields, recs)}, Keys: noKeys{}})
	if err != nil {
		b.Fatal(err)
	}
	h := p.Handlers()["GET /datasets/{namespace}/{dataset}"]
	r := httptest.NewRequest("GET", "/datasets/a/b", nil)
	r.SetPathValue("namespace", "a")
	r.SetPathValue("dataset", "b")
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		if err := h(w, r); err != nil {
			b.Fatal(err)
		}
	}
}
