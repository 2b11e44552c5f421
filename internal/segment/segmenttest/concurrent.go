package segmenttest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// checkCanceled stops a stream early and cancels the context of another, which must end long before
// its last record. Both must leave no state behind that breaks a later read.
func checkCanceled(t testing.TB, e Engine) error {
	fields := herb.PlantFields()
	records := newGenerator(3, true).plantRecords(700)
	o, l := NewOracle(fields, records), e.Open(t, fields, records)
	r, err := query.Parse("sort=id", fields)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopped, err := l.Stream(ctx, r)
	if err != nil {
		return err
	}
	for range stopped.Records {
		break
	}
	canceled, err := l.Stream(ctx, r)
	if err != nil {
		return err
	}
	cancel()
	for _, err := range canceled.Records {
		if errors.Is(err, context.Canceled) {
			return agree(t.Context(), l, o, "sort=id")
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
