package web

import (
	"context"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/state"
	"herbarium/internal/web/view/tables"
)

// pageRows is the rows of a page with the start of their values, as far as the page shows them. The
// caller releases them.
type pageRows struct {
	query.Page
	rows    []herb.Record
	release func()
}

// list lists a page of rows and decodes them: the values of each row up to a limit for each field.
// It reserves memory for what it decodes, because a record can have megabytes.
func (v datasetView) list(ctx context.Context, req *query.Request, limit func(row, field int) int) (p pageRows, err error) {
	if p.Page, err = v.List(ctx, req); err != nil {
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
	if p.release, err = query.Reserve(ctx, inPage*size); err != nil {
		return p, err
	}
	p.rows = make([]herb.Record, len(p.Records))
	for i, record := range p.Records {
		p.rows[i], err = herb.DecodeClipped(v.Fields, record, func(field int) int { return limit(i, field) })
		if err != nil {
			p.release()
			return p, err
		}
	}
	return p, nil
}

// openRow opens the record that a state names by its content hash, if it does. lost is not nil if
// no row of the listing has that content.
func openRow(ctx context.Context, v datasetView, s *state.State) (lost, err error) {
	const maxPages = 10 // of rows with the same filters, which a link chooses to be few
	if s.Row == "" {
		return nil, nil
	}
	lost = herb.Errorf(herb.CodeNotFound, "no row of this version has the content that the link was made for; open the version of that time")
	req, err := s.Request(v.Order)
	if herb.CodeOf(err) == herb.CodeInvalid { // the page says why
		return lost, nil
	}
	if err != nil {
		return nil, err
	}
	req.PerPage = query.MaxPerPage
	for req.Page = 1; req.Page <= maxPages; req.Page++ {
		found, err := v.List(ctx, req)
		if err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(found.Records, func(record []byte) bool { return state.RowHash(record) == s.Row }); at >= 0 {
			s.OpenRow(req.Offset() + at)
			return nil, nil
		}
		if len(found.Records) < req.PerPage {
			break
		}
	}
	return lost, nil
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
