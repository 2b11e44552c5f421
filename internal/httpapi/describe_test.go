package httpapi_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCatalogue(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.create(t, `{"id":7,"name":"Rose"}`)
	var got struct{ Datasets []map[string]any }
	if err := json.Unmarshal([]byte(s.get(t, "/api/v1").body), &got); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{
			"namespace": "garden", "name": "catalog", "title": "The garden", "description": "What grows here.", "access": "open",
			"records": 60.0, "version": "v1", "published_at": "2026-03-20T08:30:00Z",
			"field_names": []any{"id", "title", "description", "category", "status", "date", "url", "image", "price", "author", "tags"},
			"links":       map[string]any{"self": "/api/v1/garden/catalog", "data": "/api/v1/garden/catalog/data", "openapi": "/openapi.json"},
		},
		{
			"namespace": "locked", "name": "staff", "access": "key", "records": 3.0, "version": "v1",
			"published_at": "2026-03-20T08:30:00Z", "field_names": []any{"name"},
			"links": map[string]any{"self": "/api/v1/locked/staff", "data": "/api/v1/locked/staff/data", "openapi": "/openapi.json"},
		},
		{
			"namespace": "odd", "name": "a-b.c", "access": "open", "records": 0.0, "version": "v1",
			"published_at": "2026-03-20T08:30:00Z", "field_names": []any{"page", "a b&c", `quo"te<`},
			"links": map[string]any{"self": "/api/v1/odd/a-b.c", "data": "/api/v1/odd/a-b.c/data", "openapi": "/openapi.json"},
		},
		{
			"namespace": "store", "name": "plants", "access": "open", "records": 1.0, "version": "plants-1",
			"field_names": []any{"id", "name", "tag"},
			"links":       map[string]any{"self": "/api/v1/store/plants", "data": "/api/v1/store/plants/data", "openapi": "/openapi.json"},
		},
	}
	if diff := cmp.Diff(want, got.Datasets); diff != "" {
		t.Errorf("catalogue (-want +got):\n%s", diff)
	}
}

func TestDescriptor(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	type field struct {
		Name, Type, Title, Description   string
		Searchable, Filterable, Sortable bool
		Operators                        []string
	}
	var got struct {
		Namespace, Name, Version string
		Records                  int
		Fields                   []field
	}
	if err := json.Unmarshal([]byte(s.get(t, "/api/v1/garden/catalog").body), &got); err != nil {
		t.Fatal(err)
	}
	want := field{
		Name: "price", Type: "number", Title: "Price", Description: "In euros", Filterable: true, Sortable: true,
		Operators: []string{"eq", "ne", "gt", "gte", "lt", "lte", "in", "empty"},
	}
	if diff := cmp.Diff(want, got.Fields[8]); diff != "" || got.Records != 60 || got.Version != "v1" || len(got.Fields) != 11 {
		t.Errorf("price (-want +got):\n%s\n%+v", diff, got)
	}
	if err := json.Unmarshal([]byte(s.get(t, "/api/v1/odd/a-b.c").body), &got); err != nil {
		t.Fatal(err)
	}
	if ops := got.Fields[2].Operators; ops == nil || len(ops) != 0 {
		t.Errorf("a field that is not filterable has operators %v", ops)
	}
	if a := s.get(t, "/api/v1/garden/nothing"); a.status != 404 {
		t.Errorf("an unknown dataset is described: %d", a.status)
	}
}

func TestDescriptorOfPlantsIsOfNow(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	records := func() (n int) {
		var d struct{ Records int }
		if err := json.Unmarshal([]byte(s.get(t, "/api/v1/store/plants").body), &d); err != nil {
			t.Fatal(err)
		}
		return d.Records
	}
	if n := records(); n != 0 {
		t.Errorf("%d plants before any was created", n)
	}
	s.create(t, `{"id":7,"name":"Rose"}`)
	if n := records(); n != 1 {
		t.Errorf("%d plants after one was created", n)
	}
}
