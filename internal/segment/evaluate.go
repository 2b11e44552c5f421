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
// same for all. A trace, which may be nil, receives the steps of the evaluation.
func (u *Union) evaluate(ctx context.Context, q *query.Request, p purpose, trace plan.Trace, read func(*matches) error) error {
	return u.guard(func() error {
		if err := u.checkContains(q); err != nil {
			return err
		}
		if _, err := q.Area.Select(u.coordinates()); err != nil {
			return err
		}
		st := guard.NewSteps(ctx)
		defer st.Release()
		if p == forCounting {
			u.announceCounting(st)
		}
		m := u.match(st, q, trace)
		defer m.release()
		st.Check()
		return read(m)
	})
}

// guard calls read and converts faults of the maps and failed format checks to errors.
func (u *Union) guard(read func() error) error {
	for _, r := range u.Segments {
		inner := read
		read = func() error { return r.file.Guard(inner) }
	}
	return read()
}

// checkContains returns an error if a request searches too many long values for a substring: its
// time would grow with their size. It does not depend on the other conditions, so that a field
// either has the operator or does not.
func (u *Union) checkContains(q *query.Request) error {
	for _, cond := range q.Conditions {
		if cond.Op != query.OpContains {
			continue
		}
		long := 0
		for _, r := range u.Segments {
			long += r.columns[cond.Field].LongValues()
		}
		if long <= query.MaxLongValues {
			continue
		}
		f, remedy := u.fields()[cond.Field], query.OpPrefix
		if f.Searchable {
			remedy = query.OpMatch
		}
		return herb.Invalidf("%s searches at most %d long values, and field %q has %d; use %s", query.FilterParam(f.Name, cond.Op), query.MaxLongValues,
			f.Name, long, query.FilterParam(f.Name, remedy))
	}
	return nil
}

// coordinates returns where the records are. Unions of several segments have none.
func (u *Union) coordinates() []herb.Coordinates {
	if len(u.Segments) > 1 {
		return nil
	}
	return u.Segments[0].Coordinates()
}

// announceCounting announces that a query counts the records or values of the dataset, so that one
// that cannot run now is rejected before it has worked. Many such queries are short, so it does not
// announce all records.
func (u *Union) announceCounting(st *guard.Steps) {
	const most = 1 << 16
	st.Announce(min(u.Len(), most))
}

// matches is the records of a union that match a request.
type matches struct {
	steps    *guard.Steps
	request  *query.Request
	segments []*segmentMatches // by segment
	total    int
}

// match returns the records that match a request. The caller must release them.
func (u *Union) match(st *guard.Steps, q *query.Request, trace plan.Trace) *matches {
	m := &matches{steps: st, request: q, segments: make([]*segmentMatches, len(u.Segments))}
	for i, r := range u.Segments {
		m.segments[i] = r.match(st, q, trace)
		m.total += m.segments[i].len()
	}
	return m
}

func (m *matches) release() {
	for _, s := range m.segments {
		s.release()
	}
}

// detach returns the matches for use after the evaluation, and leaves m without any to release.
func (m *matches) detach() *matches {
	detached := *m
	m.segments = nil
	return &detached
}
