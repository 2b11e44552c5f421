package operations

import (
	"context"
	"iter"

	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/typed"
)

// Records is a page of records, with the fields that its request selects.
type Records struct {
	query.Page
	Request *query.Request
	Types   []typed.Column // of values in typed JSON; nil: all values are texts
	Words   query.Words    // result of Engine.Words
	Release func()
}

// List returns a page of records. The caller must release it.
func List(ctx context.Context, v *library.View, req *query.Request) (found Records, err error) {
	found.Request = req
	found.Types, err = req.Types(v.Engine)
	if err != nil {
		return found, err
	}
	found.Page, err = v.List(ctx, req)
	if err != nil {
		return found, err
	}
	found.Words, err = v.Engine.Words(req)
	if err != nil {
		return found, err
	}
	found.Release, err = reserve(ctx, export.TypedMemory(&v.Dataset, req))
	return found, err
}

// reserve reserves the memory of a result, if it needs any.
func reserve(ctx context.Context, bytes int) (release func(), err error) {
	if bytes == 0 {
		return func() {}, nil
	}
	return query.Reserve(ctx, bytes)
}

// Names returns the names of the fields.
func (found *Records) Names() (names []string) {
	for _, f := range found.Request.Fields() {
		names = append(names, f.Name)
	}
	return names
}

// Rows yields the values of each record in the order of the fields.
func (found *Records) Rows(ctx context.Context, v *library.View) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		release, err := reserve(ctx, export.RecordMemory(&v.Dataset, found.Request))
		if err != nil {
			yield(nil, err)
			return
		}
		defer release()
		fields := found.Request.Fields()
		decoder := herb.NewRecordDecoder(fields)
		for record, err := range found.Request.SelectStream(query.Stream{Records: found.records}, nil).Records {
			row := make([]string, 0, len(fields))
			if err == nil {
				err = decoder.Decode(record, func(value []byte) { row = append(row, string(value)) })
			}
			if err == nil {
				err = ctx.Err()
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// records yields the records with all fields.
func (found *Records) records(yield func([]byte, error) bool) {
	for _, record := range found.Records {
		if !yield(record, nil) {
			return
		}
	}
}
