package listtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Lister is an engine opened on a dataset.
type Lister interface {
	List(ctx context.Context, r *query.Request) (query.Page, error)
	Stream(ctx context.Context, r *query.Request) (query.Stream, error)
	Facets(ctx context.Context, r *query.FacetRequest) (query.Facets, error)
	Grid(ctx context.Context, r *query.GridRequest) (query.Grid, error)
}

// result is the decoded result of a request.
type result struct {
	Meta    query.Meta
	Records []herb.Record
}

// execute executes a request and decodes the result.
func execute(ctx context.Context, l Lister, fields []herb.Field, r *query.Request) (result, error) {
	page, err := l.List(ctx, r)
	if err != nil {
		return result{}, fmt.Errorf("listing: %w", err)
	}
	a := result{Meta: r.Meta(page.Total)}
	for i, b := range page.Records {
		rec, err := decode(fields, b)
		if err != nil {
			return result{}, fmt.Errorf("record %d on the page: %w in %q", i, err, b)
		}
		a.Records = append(a.Records, rec)
	}
	return a, nil
}

// agree compares the result of an engine with that of the oracle.
func agree(ctx context.Context, l Lister, o *Oracle, r *query.Request) error {
	got, err := execute(ctx, l, o.fields, r)
	if err != nil {
		return err
	}
	records, total := o.Find(r)
	return result{Meta: metaOf(r, total), Records: records}.differs(got)
}

// differs returns an error that describes the difference, or nil if got equals a.
func (a result) differs(got result) error {
	if a.Meta == got.Meta && slices.EqualFunc(a.Records, got.Records, slices.Equal[herb.Record]) {
		return nil
	}
	diff := cmp.Diff(a, got, cmpopts.EquateEmpty())
	const most = 4000 // values may be very long
	if len(diff) > most {
		diff = strings.ToValidUTF8(diff[:most], "") + "…"
	}
	return fmt.Errorf("the answer differs (-want +got):\n%s", diff)
}

// decode parses a record and checks its format: a JSON object with the fields in order, all values strings, and no
// trailing data.
func decode(fields []herb.Field, b []byte) (herb.Record, error) {
	if !utf8.Valid(b) {
		return nil, errors.New("invalid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	expect := func(want json.Token) error {
		got, err := d.Token()
		if err == nil && got != want {
			err = fmt.Errorf("got %v, want %v", got, want)
		}
		return err
	}
	if err := expect(json.Delim('{')); err != nil {
		return nil, err
	}
	rec := make(herb.Record, len(fields))
	for i, f := range fields {
		if err := expect(f.Name); err != nil {
			return nil, err
		}
		value, err := d.Token()
		if err != nil {
			return nil, err
		}
		s, ok := value.(string)
		if !ok {
			return nil, fmt.Errorf("the value of %q is not a string", f.Name)
		}
		rec[i] = s
	}
	if err := expect(json.Delim('}')); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("trailing data after the object")
	}
	return rec, nil
}

// describe formats a dataset for a failure message: its fields, then one line per record.
func describe(fields []herb.Field, records []herb.Record) string {
	var b strings.Builder
	names, _ := json.Marshal(fields) // fields cannot fail
	fmt.Fprintf(&b, "fields: %s\n%d records:\n", names, len(records))
	const most = 100
	for i, rec := range records[:min(len(records), most)] {
		fmt.Fprintf(&b, "%3d %.300q\n", i, []string(rec))
	}
	if len(records) > most {
		fmt.Fprintf(&b, "… and %d more\n", len(records)-most)
	}
	return b.String()
}
