package segmenttest

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

// stream executes a request and returns all records. It fails if they are more than most.
func stream(ctx context.Context, l query.Engine, r *query.Request, most int) (records [][]byte, err error) {
	s, err := l.Stream(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("streaming: %w", err)
	}
	for b, err := range s.Records {
		if err != nil {
			return nil, fmt.Errorf("streaming, after %d records: %w", len(records), err)
		}
		records = append(records, slices.Clone(b))
		if len(records) > most {
			return nil, errors.New("the stream does not end")
		}
	}
	if len(records) != s.Total {
		return nil, fmt.Errorf("the stream has %d records and announces %d", len(records), s.Total)
	}
	return records, nil
}

// checkGroupStream compares the stream of the groups of an engine with all its groups.
func checkGroupStream(ctx context.Context, l query.Engine, raw string, fields []herb.Field) error {
	r, err := query.ParseAggregate(raw, fields)
	if err != nil {
		return err
	}
	want, err := l.Aggregate(ctx, r)
	if err != nil {
		return nil //nolint:nilerr // rejected, as by the oracle
	}
	groups, err := l.StreamGroups(ctx, r)
	if err != nil {
		return err
	}
	defer groups.Release()
	got := query.Aggregate{Total: want.Total, Groups: groups.Groups}
	for row, err := range groups.Rows {
		if err != nil {
			return err
		}
		got.Rows = append(got.Rows, row)
	}
	if groups.Len != len(got.Rows) {
		return fmt.Errorf("the stream has %d groups and announces %d", len(got.Rows), groups.Len)
	}
	return compare(want, got)
}

// agree compares the requested page, the first ones, the one in the middle, the last one and the
// stream of an engine with those of the oracle.
func agree(ctx context.Context, l query.Engine, o *Oracle, raw string) error {
	r, err := query.Parse(raw, o.fields)
	if err != nil {
		return err
	}
	if done, err := agreeOnWords(ctx, l, o, r); done || err != nil {
		return err
	}
	all, err := stream(ctx, o, r, len(o.records))
	if err != nil {
		return err
	}
	last := r.Meta(len(all)).TotalPages
	for _, page := range []int{r.Page, 1, 2, 3, last/2 + 1, max(last, 1)} {
		q := *r
		q.Page = page
		from := min(q.Offset(), len(all))
		want := query.Page{Total: len(all), Records: all[from:min(from+q.PerPage, len(all))]}
		got, err := l.List(ctx, &q)
		if err == nil {
			err = compare(want, got)
		}
		if err != nil {
			return fmt.Errorf("page %d: %w", page, err)
		}
	}
	got, err := stream(ctx, l, r, len(o.records))
	if err == nil {
		err = compare(all, got)
	}
	if err != nil {
		return fmt.Errorf("in full: %w", err)
	}
	types, err := l.Types()
	if err != nil {
		return err
	}
	return agreeOnTyped(r, types, got)
}

// agreeOnWords compares the words that an engine searches with those of the oracle. done is true if
// both reject the request, because they are too many.
func agreeOnWords(ctx context.Context, l query.Engine, o *Oracle, r *query.Request) (done bool, err error) {
	want, wantErr := o.Words(r)
	got, err := l.Words(r)
	if wantErr == nil {
		return false, errors.Join(err, compare(want, got))
	}
	_, listErr := l.List(ctx, r)
	for _, err := range []error{err, listErr} {
		if herb.MessageOf(err) != herb.MessageOf(wantErr) {
			return false, fmt.Errorf("error %w; want %w", err, wantErr)
		}
	}
	return true, nil
}

// agreeOn compares the result of an engine with that of the oracle. Both may reject a request that
// does not suit the values.
func agreeOn[Request, Result any](
	ctx context.Context, raw string, fields []herb.Field, parse func(string, []herb.Field) (Request, error),
	engine, oracle func(context.Context, Request) (Result, error),
) error {
	if _, err := parse(raw, fields); err != nil {
		return err
	}
	got, err := evaluate(ctx, raw, fields, parse, engine)
	want, wantErr := evaluate(ctx, raw, fields, parse, oracle)
	if herb.CodeOf(err) == herb.CodeInvalid && herb.MessageOf(err) == herb.MessageOf(wantErr) {
		return nil
	}
	if err := errors.Join(err, wantErr); err != nil {
		return err
	}
	return compare(want, got)
}

// evaluate parses and executes a request.
func evaluate[Request, Result any](
	ctx context.Context, raw string, fields []herb.Field, parse func(string, []herb.Field) (Request, error),
	execute func(context.Context, Request) (Result, error),
) (result Result, err error) {
	r, err := parse(raw, fields)
	if err != nil {
		return result, err
	}
	return execute(ctx, r)
}

// compare returns an error that describes the difference of two results, or nil if they are equal.
func compare(want, got any) error {
	if reflect.DeepEqual(want, got) {
		return nil
	}
	text := cmp.Transformer("text", func(record []byte) string { return string(record) })
	diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), text)
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
