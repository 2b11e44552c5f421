package listtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// result is the decoded result of a request.
type result struct {
	Meta    query.Meta
	Records []herb.Record
}

// newResult decodes records and checks their format: JSON objects with the fields in order, all values strings.
func newResult(fields []herb.Field, meta query.Meta, records [][]byte) (result, error) {
	decoded, err := herb.DecodeRecords(fields, records)
	return result{meta, decoded}, err
}

// list executes a request and decodes the page.
func list(ctx context.Context, l query.Source, fields []herb.Field, r *query.Request) (result, error) {
	page, err := l.List(ctx, r)
	if err != nil {
		return result{}, fmt.Errorf("listing: %w", err)
	}
	return newResult(fields, r.Meta(page.Total), page.Records)
}

// stream executes a request and returns all records. It fails if they are more than most.
func stream(ctx context.Context, l query.Source, r *query.Request, most int) (records [][]byte, err error) {
	s, err := l.Stream(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("streaming: %w", err)
	}
	for b, err := range s.Records {
		if err != nil {
			return nil, fmt.Errorf("streaming, after %d records: %w", len(records), err)
		}
		if records = append(records, slices.Clone(b)); len(records) > most {
			return nil, errors.New("the stream does not end")
		}
	}
	if len(records) != s.Total {
		return nil, fmt.Errorf("the stream has %d records and announces %d", len(records), s.Total)
	}
	return records, nil
}

// agree compares the page and the stream of an engine with those of the oracle.
func agree(ctx context.Context, l query.Source, o *Oracle, r *query.Request) error {
	got, err := list(ctx, l, o.fields, r)
	if err != nil {
		return err
	}
	records, total := o.Find(r)
	if err := compare(result{metaOf(r, total), records}, got); err != nil {
		return err
	}
	streamed, err := stream(ctx, l, r, len(o.records))
	if err != nil {
		return err
	}
	if got, err = newResult(o.fields, got.Meta, streamed); err == nil {
		err = compare(result{got.Meta, o.matches(r)}, got)
	}
	if err != nil {
		return fmt.Errorf("in full: %w", err)
	}
	return nil
}

// agreeInCounts compares the facets or the grid of an engine with those of the oracle. It does nothing if raw is empty.
func agreeInCounts[Request, Counts any](
	ctx context.Context, raw string, fields []herb.Field, parse func(string, []herb.Field) (Request, error),
	engine, oracle func(context.Context, Request) (Counts, error),
) error {
	if raw == "" {
		return nil
	}
	r, err := parse(raw, fields)
	if err != nil {
		return err
	}
	got, err := engine(ctx, r)
	if err != nil {
		return fmt.Errorf("counting: %w", err)
	}
	want, err := oracle(ctx, r)
	if err != nil {
		return err
	}
	return compare(want, got)
}

// compare returns an error that describes the difference of two results, or nil if they are equal.
func compare(want, got any) error {
	if reflect.DeepEqual(want, got) {
		return nil
	}
	diff := cmp.Diff(want, got, cmpopts.EquateEmpty())
	if diff == "" {
		return nil
	}
	return fmt.Errorf("the answer differs (-want +got):\n%s", herb.Clip(diff, 4000)) // values may be very long
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
