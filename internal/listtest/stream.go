package listtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Streamer is a Lister that also gives out the whole answer to a request. The suite holds it to that, too.
type Streamer interface {
	Stream(ctx context.Context, r *query.Request) (query.Stream, error)
}

// Stream answers as an engine does.
func (o *Oracle) Stream(ctx context.Context, r *query.Request) (query.Stream, error) {
	found := o.findAll(r)
	return query.Stream{Total: len(found), Records: func(yield func([]byte, error) bool) {
		for _, n := range found {
			b, err := render(o.fields, o.records[n])
			if err == nil {
				err = ctx.Err()
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}}, nil
}

// agreeInFull compares the whole answer of an engine with the oracle's, if it gives out whole answers.
func agreeInFull(ctx context.Context, l Lister, o *Oracle, r *query.Request) error {
	s, ok := l.(Streamer)
	if !ok {
		return nil
	}
	stream, err := s.Stream(ctx, r)
	if err != nil {
		return fmt.Errorf("streaming: %w", err)
	}
	got := answer{Meta: metaOf(r, stream.Total)}
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
	found := o.findAll(r)
	want := answer{Meta: metaOf(r, len(found))}
	for _, n := range found {
		want.Records = append(want.Records, o.records[n])
	}
	if err := want.differs(got); err != nil {
		return fmt.Errorf("in full: %w", err)
	}
	return nil
}

// checkStreams sees that the pages of a listing, one after the other, are byte for byte what the stream gives out; that a
// stream can be left early; and that it ends with its context.
func checkStreams(ctx context.Context, l Lister, fields []herb.Field) error {
	s, ok := l.(Streamer)
	if !ok {
		return nil
	}
	var errs []error
	for _, raw := range walkQueries {
		if err := checkStream(ctx, l, s, fields, raw); err != nil {
			errs = append(errs, fmt.Errorf("streaming %q: %w", raw, err))
		}
	}
	return errors.Join(append(errs, checkCancelled(ctx, s, fields))...)
}

func checkStream(ctx context.Context, l Lister, s Streamer, fields []herb.Field, raw string) error {
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
	// The page of the request must not matter.
	r, err := query.Parse(raw+"&page=3&per_page=2", fields)
	if err != nil {
		return err
	}
	stream, err := s.Stream(ctx, r)
	if err != nil {
		return err
	}
	for range stream.Records {
		break // nothing may be left behind that a later reader would trip over
	}
	if stream, err = s.Stream(ctx, r); err != nil {
		return err
	}
	for rec, err := range stream.Records {
		if err != nil {
			return err
		}
		streamed = append(append(streamed, rec...), '\n')
	}
	if !bytes.Equal(paged, streamed) || bytes.Count(streamed, []byte{'\n'}) != stream.Total {
		return fmt.Errorf("the stream of %d records is not what the pages are:\n%s\n%s", stream.Total, streamed, paged)
	}
	return nil
}

// checkCancelled ends a stream by its context, which must be noticed long before its last record.
func checkCancelled(ctx context.Context, s Streamer, fields []herb.Field) error {
	r, err := query.Parse("sort=id", fields)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := s.Stream(ctx, r)
	if err != nil {
		return err
	}
	cancel()
	for _, err := range stream.Records {
		if errors.Is(err, context.Canceled) {
			return nil
		}
	}
	return errors.New("a stream goes on after its context has ended")
}
