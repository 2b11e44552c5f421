package segment

import (
	"context"
	"fmt"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// List returns the requested page. Its records point into the map.
func (r *Reader) List(ctx context.Context, q *query.Request) (page query.Page, err error) {
	err = runQuery(ctx, r.file.Guard, []*Reader{r}, q, func(st *guard.Steps) error {
		numbers, total := r.findPage(st, q, nil)
		page.Total = total
		page.Records = make([][]byte, len(numbers))
		for i, n := range numbers {
			page.Records[i] = r.records.JSON(n)
			prefault(st, page.Records[i])
		}
		return nil
	})
	return page, err
}

// runQuery calls read, which evaluates a request, with the steps of the query. All kinds of
// requests are evaluated by it, so that the checks before are the same for all.
func runQuery(ctx context.Context, guarded func(read func() error) error, segments []*Reader, q *query.Request, read func(st *guard.Steps) error) error {
	return guarded(func() error {
		if err := checkContains(segments, q); err != nil {
			return err
		}
		st := guard.NewSteps(ctx)
		defer st.Release()
		return read(st)
	})
}

// checkContains returns an error if a request searches too many long values for a substring: its
// time would grow with their size. It does not depend on the other conditions, so that a field
// either has the operator or does not.
func checkContains(segments []*Reader, q *query.Request) error {
	for _, cond := range q.Conditions {
		long := 0
		for _, r := range segments {
			if cond.Op == query.OpContains {
				long += r.columns[cond.Field].LongValues()
			}
		}
		if long <= query.MaxLongValues {
			continue
		}
		f, remedy := segments[0].columns[cond.Field].Field, query.OpPrefix
		if f.Searchable {
			remedy = query.OpMatch
		}
		return herb.Invalidf("%s searches at most %d long values, and field %q has %d; use %s", query.FilterParam(f.Name, cond.Op), query.MaxLongValues,
			f.Name, long, query.FilterParam(f.Name, remedy))
	}
	return nil
}

// prefault reads from every memory page of a record, so that a fault in the map occurs here, where
// it is converted to an error, and not while the record is sent. The result must be used, or the
// compiler removes the reads.
func prefault(st *guard.Steps, record []byte) {
	const memoryPage = 4096
	const stepsPerPage = 16 // to decode or copy what is read
	zero := false
	for at := 0; at < len(record); at += memoryPage {
		st.Add(stepsPerPage)
		zero = zero || record[at] == 0
	}
	if zero || record[0] != '{' || record[len(record)-1] != '}' {
		guard.Corrupt("a record is not an object")
	}
}

// findPage returns the numbers of the records on the page, in order, and the total on all pages.
func (r *Reader) findPage(st *guard.Steps, q *query.Request, trace plan.Trace) (numbers []uint32, total int) {
	res := r.evaluate(st, q, trace)
	defer res.set.Release()
	st.Check()
	total = res.total(r)
	from := min(q.Offset(), total)
	to := min(from+q.PerPage, total)
	if from == to {
		return nil, total
	}
	if trace == nil {
		return r.locate(st, q, res, from, to), total
	}
	trace.Measure(fmt.Sprintf("records %d to %d", from+1, to), r.describeOrder(q, res), func() int {
		numbers = r.locate(st, q, res, from, to)
		return len(numbers)
	})
	return numbers, total
}

// locate returns the numbers of the records at positions [from, to) of a result, in the order of
// the request.
func (r *Reader) locate(st *guard.Steps, q *query.Request, res result, from, to int) []uint32 {
	switch {
	case len(q.Sort) > 0:
		order := column.NewOrder(st, r.columns, q.Sort, res.set, res.only)
		defer order.Release()
		return order.Page(from, to)
	case len(res.clauses) > 0:
		return r.scorer(st, res).Page(res.set, from, to)
	case res.set == nil:
		return numbersBetween(from, to)
	default:
		return res.set.Slice(st, from, to)
	}
}

func numbersBetween(from, to int) []uint32 {
	numbers := make([]uint32, to-from)
	for i := range numbers {
		numbers[i] = uint32(from + i)
	}
	return numbers
}

// result is the records that match a request.
type result struct {
	set     *bitmap.Set        // nil means all records
	only    plan.Condition     // selects the set if there is exactly one condition; else nil
	clauses []*fulltext.Clause // for scoring
}

func (res result) total(r *Reader) int {
	if res.set == nil {
		return r.Len()
	}
	return res.set.Len()
}

// describeOrder describes the order of the records of a request, for Explain.
func (r *Reader) describeOrder(q *query.Request, res result) string {
	switch {
	case len(q.Sort) > 0:
		names := make([]string, len(q.Sort))
		for i, f := range q.Sort {
			if names[i] = r.Fields()[f.Field].Name; f.Desc {
				names[i] += " descending"
			}
		}
		return "sorted by " + strings.Join(names, ", ")
	case len(res.clauses) > 0:
		return "by relevance"
	default:
		return "in dataset order"
	}
}

// scorer returns the scorer of a result, with the statistics of the segment.
func (r *Reader) scorer(st *guard.Steps, res result) *fulltext.Scorer {
	return r.words.NewScorer(st, res.clauses, r.words.Statistics(st, res.clauses))
}

// evaluate returns the records that match a request. The caller must release the set.
func (r *Reader) evaluate(st *guard.Steps, q *query.Request, trace plan.Trace) (res result) {
	var terms []plan.Term
	if q.Search != nil {
		if len(q.Search.Clauses) == 0 {
			return result{set: bitmap.NewBuilder(&r.pool).Set(st)}
		}
		for _, c := range q.Search.Clauses {
			st.Check()
			clause := r.words.Clause(st, c)
			terms = append(terms, plan.Term{Condition: clause, Exclude: c.Exclude})
			if !c.Exclude {
				res.clauses = append(res.clauses, clause)
			}
		}
	}
	terms = append(terms, r.terms(st, q.Conditions)...)
	if len(terms) == 1 && !terms[0].Exclude {
		res.only = terms[0].Condition
	}
	res.set = plan.Evaluate(st, &r.pool, terms, trace)
	return res
}

// terms returns the conditions for evaluation. Those that select ranges of one field are combined.
func (r *Reader) terms(st *guard.Steps, conditions []query.Condition) (terms []plan.Term) {
	ranges := map[int]int{} // by field, the index of its range in terms
	for _, cond := range conditions {
		if cond.Op == query.OpMatch {
			terms = append(terms, r.words.Match(st, cond)...)
			continue
		}
		st.Add(column.LookupSteps * len(cond.Values))
		t := r.columns[cond.Field].Term(st, cond)
		if ranks, ok := t.Condition.(column.Ranks); ok && !t.Exclude {
			if i, ok := ranges[cond.Field]; ok {
				terms[i].Condition = terms[i].Condition.(column.Ranks).And(ranks)
				continue
			}
			ranges[cond.Field] = len(terms)
		}
		terms = append(terms, t)
	}
	return terms
}
