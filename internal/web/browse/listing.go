package browse

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/query"
	"herbarium/internal/web/view/tables"
)

// results is the memory of what a page has read, which is released when the page was rendered.
type results struct{ release []func() }

// keep has release called when the page was rendered.
func (s *results) keep(release func()) { s.release = append(s.release, release) }

// reserve reserves memory until the page was rendered.
func (s *results) reserve(ctx context.Context, bytes int) error {
	release, err := query.Reserve(ctx, bytes)
	if err == nil {
		s.keep(release)
	}
	return err
}

// free releases the memory.
func (s *results) free() {
	for _, release := range s.release {
		release()
	}
}

// Facets counts the values of fields.
func (v datasetView) Facets(ctx context.Context, req *query.FacetRequest) (query.Facets, error) {
	found, release, err := operations.Facets(ctx, &v.View, req)
	if err == nil {
		v.results.keep(release)
	}
	return found, err
}

// Grid counts rows in the cells of a grid.
func (v datasetView) Grid(ctx context.Context, req *query.GridRequest) (query.Grid, error) {
	found, release, err := operations.Grid(ctx, &v.View, req)
	if err == nil {
		v.results.keep(release)
	}
	return found, err
}

// pageRows is the rows of a page with the start of their values, as far as the page shows them.
type pageRows struct {
	query.Page
	rows []herb.Record
}

// list lists a page of rows and decodes them: the values of each row up to a limit for each field.
// It reserves memory for what it decodes, because a record can have megabytes.
func (v datasetView) list(ctx context.Context, req *query.Request, limit func(row, field int) int) (p pageRows,
	err error) {
	p.Page, err = v.List(ctx, req)
	if err != nil {
		return p, err
	}
	const inPage = 2 // decoded, and in the view models
	size := 0
	for i, record := range p.Records {
		limits := 0
		for field := range v.Fields {
			limits += limit(i, field)
		}
		size += min(len(record), limits) + len(v.Fields)*16
	}
	if err := v.results.reserve(ctx, inPage*size); err != nil {
		return p, err
	}
	p.rows = make([]herb.Record, len(p.Records))
	for i, record := range p.Records {
		p.rows[i], err = herb.DecodeClipped(v.Fields, record, func(field int) int { return limit(i, field) })
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// valueLimits returns how much of each value the page of a state shows, in bytes: more of the open
// record than of the others, and nothing of columns that are not shown.
func (page *rowsPage) valueLimits(req *query.Request) func(row, field int) int {
	columns := tables.DecodeLimits(page.State, req)
	return func(row, field int) int {
		if row == page.State.Record-1 {
			return tables.MaxRecordValue
		}
		return columns[field]
	}
}
