package listtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// scene is a dataset with questions whose answers were worked out by hand. The first field of every record is a name
// by which the answers speak of it.
type scene struct {
	name    string
	plants  bool // an engine that holds plants alone can play it
	fields  []herb.Field
	records []herb.Record
	asks    []question
	facets  []facetQuestion
}

// question is a raw query and its answer.
type question struct {
	query string
	want  string // the first fields of the records on the page
	total int    // zero: as many as are on the page
}

// scenes returns all of them.
func scenes() []scene {
	return slices.Concat(plantScenes(), catalogScenes(), valueScenes(), textScenes(), searchScenes(), facetScenes())
}

// check asks all questions of a scene.
func (s scene) check(ctx context.Context, l Lister) error {
	var errs []error
	for _, q := range s.asks {
		if err := s.checkOne(ctx, l, q); err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", q.query, err))
		}
	}
	for _, q := range s.facets {
		if err := s.checkFacets(ctx, l, q); err != nil {
			errs = append(errs, fmt.Errorf("facets %q: %w", q.query, err))
		}
	}
	return errors.Join(errs...)
}

func (s scene) checkOne(ctx context.Context, l Lister, q question) error {
	r, err := query.Parse(q.query, s.fields)
	if err != nil {
		return err
	}
	got, err := ask(ctx, l, &decoder{fields: s.fields}, r)
	if err != nil {
		return err
	}
	ids := strings.Fields(q.want)
	total := q.total
	if total == 0 {
		total = len(ids)
	}
	want := answer{Meta: metaOf(r, total)}
	for _, id := range ids {
		i := slices.IndexFunc(s.records, func(rec herb.Record) bool { return rec[0] == id })
		if i < 0 {
			return fmt.Errorf("the scene has no record %q", id)
		}
		want.Records = append(want.Records, s.records[i])
	}
	return want.differs(got)
}

// field returns a field that can be filtered and sorted by, and searched if it holds text.
func field(name string, t herb.Type) herb.Field {
	return herb.Field{
		Name:       name,
		Type:       t,
		Searchable: t == herb.TypeText || t == herb.TypeList,
		Filterable: true,
		Sortable:   true,
	}
}

// named returns the fields of a scene about one field: a name for each record, which is not searched, and that field.
func named(f herb.Field) []herb.Field {
	id := field("id", herb.TypeText)
	id.Searchable = false
	return []herb.Field{id, f}
}
