package query

import (
	"context"
	"iter"
	"time"

	"herbarium/internal/herb"
)

// Stream is the complete result of a request, regardless of its page, yielded record by record.
type Stream struct {
	Total int // matching records
	// Records yields the records in the order of the request, each a JSON object that is only valid until the next one.
	// An error ends the sequence.
	Records iter.Seq2[[]byte, error]
}

// RefusePages returns an error if a raw query contains pagination parameters, for endpoints that return the complete
// result. As in a listing, an empty value counts as absent.
func RefusePages(raw string) error {
	ps, err := ParseParams(raw)
	if err != nil {
		return err
	}
	for _, p := range ps {
		if (p.Name == ParamPage || p.Name == ParamPerPage) && p.Value != "" {
			return herb.Invalidf("%q is given, but an export has no pages: it is the whole result; leave %q out", p.Name, p.Name)
		}
	}
	return nil
}

type yieldKey struct{}

// WithYield returns a context for a long-running query, which calls yield every few thousand steps with the time they
// took. yield may block to leave the processors to shorter queries.
func WithYield(ctx context.Context, yield func(worked time.Duration)) context.Context {
	return context.WithValue(ctx, yieldKey{}, yield)
}

// YieldOf returns the function set by WithYield, or nil.
func YieldOf(ctx context.Context) func(worked time.Duration) {
	yield, _ := ctx.Value(yieldKey{}).(func(time.Duration))
	return yield
}
