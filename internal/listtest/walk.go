package listtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// walkQueries are paged through from first to last. They are valid for plants and any other dataset with their fields.
var walkQueries = []string{
	"", "sort=id", "sort=id&order=desc", "sort=name", "sort=name&order=desc", "sort=tag", "sort=tag&order=desc",
	"tag=", "tag[ne]=tree", "tag[ne]=tree&sort=tag&order=desc", "id[gte]=0&sort=name", "search=rose",
	"search=ro*&sort=tag", "sort=tag,-id", "sort=-tag,name", "tag[ne]=tree&sort=-tag,-name,id",
	"search=-fern&sort=tag&order=desc",
}

// checkWalks reads all pages in sequence and expects every record once, and a stream with the same bytes.
func checkWalks(t testing.TB, e Engine) error {
	fields := herb.PlantFields()
	records := newGenerator(3, true).plantRecords(300)
	o, l := NewOracle(fields, records), e.Open(t, fields, records)
	var errs []error
	for _, raw := range walkQueries {
		for _, perPage := range []int{37, 100} {
			if err := checkWalk(t.Context(), l, o, raw, perPage); err != nil {
				errs = append(errs, fmt.Errorf("walking %q: %w", raw, err))
			}
		}
	}
	return errors.Join(errs...)
}

func checkWalk(ctx context.Context, l query.Source, o *Oracle, raw string, perPage int) error {
	var paged [][]byte
	for page, hasNext := 1, true; hasNext; page++ {
		r, err := query.Parse(fmt.Sprintf("%s&per_page=%d&page=%d", raw, perPage, page), o.fields)
		if err != nil {
			return err
		}
		p, err := l.List(ctx, r)
		if err != nil {
			return err
		}
		for _, b := range p.Records {
			paged = append(paged, slices.Clone(b))
		}
		if len(paged) > len(o.records) {
			return fmt.Errorf("the walk does not end after %d records", len(paged))
		}
		hasNext = r.Meta(p.Total).HasNext
	}
	// The page of the request must have no effect on a stream.
	r, err := query.Parse(raw+"&page=3&per_page=2", o.fields)
	if err != nil {
		return err
	}
	all, err := stream(ctx, o, r, len(o.records))
	if err != nil {
		return err
	}
	if err := compare(all, paged); err != nil {
		return err
	}
	stopped, err := l.Stream(ctx, r)
	if err != nil {
		return err
	}
	for range stopped.Records {
		break // must leave no state behind that breaks a later read
	}
	streamed, err := stream(ctx, l, r, len(o.records))
	if err != nil {
		return err
	}
	return compare(all, streamed)
}

// checkCanceled cancels the context of a stream, which must end long before its last record.
func checkCanceled(t testing.TB, e Engine) error {
	fields := herb.PlantFields()
	l := e.Open(t, fields, newGenerator(3, true).plantRecords(700))
	r, err := query.Parse("sort=id", fields)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := l.Stream(ctx, r)
	if err != nil {
		return err
	}
	cancel()
	for _, err := range s.Records {
		if errors.Is(err, context.Canceled) {
			return nil
		}
	}
	return errors.New("the stream continues after its context is canceled")
}

// checkConcurrent sends requests from several goroutines at once.
func checkConcurrent(t testing.TB, e Engine) error {
	fields := herb.PlantFields()
	g := newGenerator(2, true)
	records := g.plantRecords(150)
	o, l := NewOracle(fields, records), e.Open(t, fields, records)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		var raws []string
		for range 25 {
			raws = append(raws, g.query(fields, records))
		}
		wg.Go(func() {
			for _, raw := range raws {
				if err := agree(t.Context(), l, o, raw); err != nil {
					errs[i] = fmt.Errorf("query: %s\n%w", raw, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
