package segment

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// purpose says what a request needs the matching records for.
type purpose int

const (
	forListing  purpose = iota // reads some records
	forCounting                // counts values or groups of all matching records
)

// evaluate calls read with the records that match a request. Every kind of request is evaluated
// here, so that the checks before, the announcement of counting and the release of memory are the
// same for all. A trace, which may be nil, receives the stages of the evaluation.
func (r *Reader) evaluate(ctx context.Context, q *query.Request, p purpose, trace plan.Trace,
	read func(*matches) error) error {
	return r.file.Guard(func() error {
		if err := r.checkContains(q); err != nil {
			return err
		}
		if _, err := q.Area.Select(r.Coordinates()); err != nil {
			return err
		}
		if q.MayExceedWords() {
			if _, err := q.Words(r.words.Contains); err != nil {
				return err
			}
		}
		st := guard.NewSteps(ctx)
		defer st.Release()
		if p == forCounting {
			r.announceCounting(st)
		}
		m := r.match(st, q, trace)
		defer m.release()
		st.Check()
		return read(m)
	})
}

// checkContains returns an error if a request searches too many long values for a substring: its
// time would grow with their size. It does not depend on the other conditions, so that a field
// either has the operator or does not.
func (r *Reader) checkContains(q *query.Request) error {
	for _, cond := range q.Conditions {
		if cond.Op != query.OpContains {
			continue
		}
		long := r.columns[cond.Field].LongValues()
		if long <= query.MaxLongValues {
			continue
		}
		f, remedy := r.Fields()[cond.Field], query.OpPrefix
		if f.Searchable {
			remedy = query.OpMatch
		}
		return herb.Invalidf("%s searches at most %d long values, and field %q has %d; use %s",
			query.FilterParam(f.Name, cond.Op), query.MaxLongValues,
			f.Name, long, query.FilterParam(f.Name, remedy))
	}
	return nil
}

// announceCounting announces that a query counts the records or values of the dataset, so that one
// that cannot run now is rejected before it has worked. Many such queries are short, so it does not
// announce all records.
func (r *Reader) announceCounting(st *guard.Steps) {
	const most = 1 << 16
	st.Announce(min(r.Len(), most))
}
