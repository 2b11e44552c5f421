package listtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Stream implements Lister.
func (o *Oracle) Stream(ctx context.Context, r *query.Request) (query.Stream, error) {
	all := o.matches(r)
	return query.Stream{Total: len(all), Records: func(yield func([]byte, error) bool) {
		for _, rec := range all {
			if err := ctx.Err(); !yield(render(o.fields, rec), err) || err != nil {
				return
			}
		}
	}}, nil
}

// agreeInFull compares the complete result of an engine with that of the oracle.
func agreeInFull(ctx context.Context, l Lister, o *Oracle, r *query.Request) error {
	stream, err := l.Stream(ctx, r)
	if err != nil {
		return fmt.Errorf("streaming: %w", err)
	}
	got := result{Meta: metaOf(r, stream.Total)}
	for b, err := range stream.Records {
		if err != nil {
			return fmt.Errorf("streaming, after %d records: %w", len(got.Records), err)
		}
		rec, err := decode(o.fields, b)
		if err != nil {
			return fmt.Errorf("record %d of the stream: %w in %q", len(got.Records), err, b)
		}
		if got.Records = append(got.Records, rec); len(got.Records) > len(o.records) {
			return errors.New("the stream does not end")
		}
	}
	all := o.matches(r)
	if err := (result{metaOf(r, len(all)), all}).differs(got); err != nil {
		return fmt.Errorf("in full: %w", err)
	}
	return nil
}

// checkStreams checks that a stream equals the concatenated pages of a listing byte for byte, that it can be stopped
// early, and that it ends with its context.
func checkStreams(t testing.TB, e Engine) error {
	ctx, fields := t.Context(), herb.PlantFields()
	l := e.Open(t, fields, newGenerator(3, true).plantRecords(700))
	var errs []error
	for _, raw := range walkQueries {
		if err := checkStream(ctx, l, fields, raw); err != nil {
			errs = append(errs, fmt.Errorf("streaming %q: %w", raw, err))
		}
	}
	return errors.Join(append(errs, checkCanceled(ctx, l, fields))...)
}

func checkStream(ctx context.Context, l Lister, fields []herb.Field, raw string) error {
	var paged, streamed []byte
	for page := 1; ; page++ {
		r, err := query.Parse(fmt.Sprintf("%s&per_page=100&page=%d", raw, page), fields)
		if err != nil {
			return err
		}
		p, err := l.List(ctx, r)
		if err != nil {
			return err
		}
		for _, rec := range p.Records {
			paged = append(append(paged, rec...), '\n')
		}
		if !r.Meta(p.Total).HasNext {
			break
		}
	}
	// The page of the request must have no effect.
	r, err := query.Parse(raw+"&page=3&per_page=2", fields)
	if err != nil {
		return err
	}
	stream, err := l.Stream(ctx, r)
	if err != nil {
		return err
	}
	for range stream.Records {
		break // must leave no state behind that breaks a later read
	}
	if stream, err = l.Stream(ctx, r); err != nil {
		return err
	}
	for rec, err := range stream.Records {
		if err != nil {
			return err
		}
		streamed = append(append(streamed, rec...), '\n')
	}
	if !bytes.Equal(paged, streamed) || bytes.Count(streamed, []byte{'\n'}) != stream.Total {
		return fmt.Errorf("the stream of %d records differs from the pages:\n%s\n%s", stream.Total, streamed, paged)
	}
	return nil
}

// checkCanceled cancels the context of a stream, which must end long before its last record.
func checkCanceled(ctx context.Context, l Lister, fields []herb.Field) error {
	r, err := query.Parse("sort=id", fields)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := l.Stream(ctx, r)
	if err != nil {
		return err
	}
	cancel()
	for _, err := range stream.Records {
		if errors.Is(err, context.Canceled) {
			return nil
		}
	}
	return errors.New("the stream continues after its context is canceled")
}
