package segmenttest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/testseed"
	"herbarium/internal/text"
)

// broken is an engine with one fault: an oracle whose request or result is altered.
type broken func(o *Oracle, r *query.Request) (query.Page, error)

type brokenLister struct {
	*Oracle
	fault broken
}

func (b brokenLister) List(_ context.Context, r *query.Request) (query.Page, error) {
	return b.fault(b.Oracle, r)
}

// withRequest returns an engine that misinterprets requests.
func withRequest(change func(*query.Request)) broken {
	return func(o *Oracle, r *query.Request) (query.Page, error) {
		changed := *r
		if r.Search != nil {
			changed.Search = &query.Search{Clauses: slices.Clone(r.Search.Clauses)}
		}
		changed.Conditions = slices.Clone(r.Conditions)
		change(&changed)
		return o.List(context.Background(), &changed)
	}
}

// withTypes returns an engine that treats values of one type as another.
func withTypes(from, to herb.Type) broken {
	return func(o *Oracle, r *query.Request) (query.Page, error) {
		return o.retyped(from, to).List(context.Background(), r)
	}
}

// retyped returns an oracle of the same records with the fields of one type changed to another.
func (o *Oracle) retyped(from, to herb.Type) *Oracle {
	fields := slices.Clone(o.fields)
	for i := range fields {
		if fields[i].Type == from {
			fields[i].Type = to
		}
	}
	return NewOracle(fields, o.records)
}

// withOrder returns an engine that reorders the result.
func withOrder(change func(o *Oracle, r *query.Request, found []int)) broken {
	return func(o *Oracle, r *query.Request) (query.Page, error) {
		found := o.findAll(r)
		change(o, r, found)
		return o.page(r, found), nil
	}
}

// page returns the requested page of the records with these indexes.
func (o *Oracle) page(r *query.Request, found []int) query.Page {
	page := query.Page{Total: len(found)}
	for i, n := range found {
		if i/r.PerPage == r.Page-1 {
			page.Records = append(page.Records, o.records[n].AppendJSON(nil, o.fields))
		}
	}
	return page
}

// checkDetected checks that one of some random datasets detects the fault of an engine.
func checkDetected(t *testing.T, e Engine, datasets int) {
	t.Helper()
	for seed := range datasets {
		if checkRandom(t, e, uint64(seed), smallDataset) != nil {
			t.Logf("detected by dataset %d", seed)
			return
		}
	}
	t.Errorf("%d random datasets do not detect the fault", datasets)
}

// checkAllDetected checks that random datasets, and named cases if byCases is set, detect each
// fault of an engine. Faults of listings alone are looked for in listings alone.
func checkAllDetected[Fault any](t *testing.T, faults map[string]Fault, byCases, listings bool,
	open func(*Oracle, Fault) query.Engine) {
	for name, fault := range faults {
		t.Run(strings.ReplaceAll(name, ",", ""), func(t *testing.T) {
			t.Parallel()
			e := Engine{listings: listings,
				Open: func(_ testing.TB, fields []herb.Field, records []herb.Record) query.Engine {
					return open(NewOracle(fields, records), fault)
				}}
			if byCases && !slices.ContainsFunc(testCases(), func(s testCase) bool {
				if listings {
					s.queries = slices.DeleteFunc(s.queries, func(q namedQuery) bool { return q.keyword != "list" })
				}
				return s.check(t.Context(), e.Open(t, s.fields, s.records)) != nil
			}) {
				t.Error("no named case detects the fault")
			}
			checkDetected(t, e, 1000)
		})
	}
}

// withResult returns an engine that corrupts the result.
func withResult(change func(r *query.Request, p *query.Page)) broken {
	return func(o *Oracle, r *query.Request) (query.Page, error) {
		p, err := o.List(context.Background(), r)
		change(r, &p)
		return p, err
	}
}

func faults() map[string]broken {
	eachClause := func(change func(*query.Clause)) broken {
		return withRequest(func(r *query.Request) {
			if r.Search != nil {
				for i := range r.Search.Clauses {
					change(&r.Search.Clauses[i])
				}
			}
		})
	}
	eachMatch := func(change func(o *query.Operand)) broken {
		return withRequest(func(r *query.Request) {
			for i, c := range r.Conditions {
				if c.Op == query.OpMatch {
					r.Conditions[i].Values = slices.Clone(c.Values)
					for k := range c.Values {
						change(&r.Conditions[i].Values[k])
					}
				}
			}
		})
	}
	operator := func(from, to query.Op) broken {
		return withRequest(func(r *query.Request) {
			for i, c := range r.Conditions {
				if c.Op == from {
					r.Conditions[i].Op = to
				}
			}
		})
	}
	place := func(o *Oracle, r *query.Request, n int) parsedValue {
		f := r.Sort[0].Field
		return parseValue(o.fields[f], o.records[n][f])
	}
	isDescending := func(r *query.Request) bool { return len(r.Sort) == 1 && r.Sort[0].Desc }
	eachSortField := func(change func(i int, f *query.SortField)) broken {
		return withRequest(func(r *query.Request) {
			r.Sort = slices.Clone(r.Sort)
			for i := range r.Sort {
				change(i, &r.Sort[i])
			}
		})
	}
	return map[string]broken{
		"ties reversed in descending order": withOrder(func(o *Oracle, r *query.Request, found []int) {
			if isDescending(r) {
				slices.Reverse(found)
				slices.SortStableFunc(found,
					func(a, b int) int { return compareForSort(place(o, r, a), place(o, r, b), true) })
			}
		}),
		"empty values first in descending order": withOrder(func(o *Oracle, r *query.Request, found []int) {
			if isDescending(r) {
				slices.SortStableFunc(found,
					func(a, b int) int { return -compareForSort(place(o, r, a), place(o, r, b), false) })
			}
		}),
		"text sorted by its bytes": withOrder(func(o *Oracle, r *query.Request, found []int) {
			if len(r.Sort) == 1 && o.fields[r.Sort[0].Field].Type == herb.TypeText && !r.Sort[0].Desc {
				slices.SortStableFunc(found, func(a, b int) int {
					p, q := place(o, r, a), place(o, r, b)
					p.text, q.text = o.records[a][r.Sort[0].Field], o.records[b][r.Sort[0].Field]
					return compareForSort(p, q, false)
				})
			}
		}),
		"ties of several fields reversed": withOrder(func(o *Oracle, r *query.Request, found []int) {
			if len(r.Sort) > 1 {
				slices.Reverse(found)
				slices.SortStableFunc(found, func(a, b int) int { return o.compare(a, b, r.Sort) })
			}
		}),
		"best matches in dataset order": withOrder(func(_ *Oracle, r *query.Request, found []int) {
			if r.ByRelevance() {
				slices.Sort(found)
			}
		}),
		"worst matches first": withOrder(func(_ *Oracle, r *query.Request, found []int) {
			if r.ByRelevance() {
				slices.Reverse(found)
			}
		}),
		"order without sort": withOrder(func(_ *Oracle, r *query.Request, found []int) {
			if len(r.Sort) == 0 && r.Search == nil {
				slices.Reverse(found)
			}
		}),
		"prefix ignored":    eachClause(func(c *query.Clause) { c.Prefix = false }),
		"prefix everywhere": eachClause(func(c *query.Clause) { c.Prefix = true }),
		"exclusion ignored": eachClause(func(c *query.Clause) { c.Exclude = false }),
		"phrase cut short":  eachClause(func(c *query.Clause) { c.Words = c.Words[:1] }),
		"phrase backwards": eachClause(func(c *query.Clause) {
			c.Words = slices.Clone(c.Words)
			slices.Reverse(c.Words)
		}),
		"other forms ignored": eachClause(func(c *query.Clause) { c.Forms = nil }),
		"other forms of exact words": eachClause(func(c *query.Clause) {
			if c.Exact {
				c.Forms = text.Forms(c.Words[0])
			}
		}),
		"other forms ignored in match": eachMatch(func(o *query.Operand) {
			clauses := slices.Clone(o.Search.Clauses)
			for i := range clauses {
				clauses[i].Forms = nil
			}
			o.Search = &query.Search{Clauses: clauses}
		}),
		"search ignored":  withRequest(func(r *query.Request) { r.Search = nil }),
		"filters ignored": withRequest(func(r *query.Request) { r.Conditions = nil }),
		"or is and":       withRequest(func(r *query.Request) { r.Any = nil }),
		"one group only":  withRequest(func(r *query.Request) { r.Any = r.Any[:min(1, len(r.Any))] }),
		"one filter only": withRequest(func(r *query.Request) {
			r.Conditions = r.Conditions[:min(1, len(r.Conditions))]
		}),
		"sort ignored":       withRequest(func(r *query.Request) { r.Sort = nil }),
		"descending ignored": eachSortField(func(_ int, f *query.SortField) { f.Desc = false }),
		"one sort field only": withRequest(func(r *query.Request) {
			r.Sort = r.Sort[:min(1, len(r.Sort))]
		}),
		"two sort fields only": withRequest(func(r *query.Request) {
			r.Sort = r.Sort[:min(2, len(r.Sort))]
		}),
		"direction of the first sort field only": eachSortField(
			func(i int, f *query.SortField) { f.Desc = f.Desc && i == 0 }),
		"sort fields backwards": withRequest(func(r *query.Request) {
			r.Sort = slices.Clone(r.Sort)
			slices.Reverse(r.Sort)
		}),
		"page ignored": withRequest(func(r *query.Request) { r.Page = 1 }),
		"one value only": withRequest(func(r *query.Request) {
			for i := range r.Conditions {
				r.Conditions[i].Values = r.Conditions[i].Values[:1]
			}
		}),
		"a search without words finds all": withRequest(func(r *query.Request) {
			if r.Search != nil && len(r.Search.Clauses) == 0 {
				r.Search = nil
			}
		}),
		"not equal is equal": operator(query.OpNe, query.OpEq),
		"any case is exact":  operator(query.OpIEq, query.OpEq),
		"any case, excluded": operator(query.OpINe, query.OpNe),
		"any case is prefix": operator(query.OpIEq, query.OpPrefix),
		"greater or equal":   operator(query.OpGt, query.OpGte),
		"greater, not equal": operator(query.OpGte, query.OpGt),
		"less or equal":      operator(query.OpLt, query.OpLte),
		"less, not equal":    operator(query.OpLte, query.OpLt),
		"prefix finds nothing": withRequest(func(r *query.Request) {
			for i, c := range r.Conditions {
				if c.Op == query.OpPrefix {
					r.Conditions[i].Values = []query.Operand{{Text: "\uFFFF"}}
				}
			}
		}),
		"contains is prefix": operator(query.OpContains, query.OpPrefix),
		"match in any field": matchAnywhere,
		"match ranks": withOrder(func(o *Oracle, r *query.Request, found []int) {
			i := slices.IndexFunc(r.Conditions, func(c query.Condition) bool { return c.Op == query.OpMatch })
			if i >= 0 && len(r.Sort) == 0 && r.Search == nil {
				scores := o.scores(r.Conditions[i].Values[0].Search)
				slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
			}
		}),
		"match of all words is of the first": eachMatch(func(o *query.Operand) {
			o.Search = &query.Search{Clauses: o.Search.Clauses[:min(1, len(o.Search.Clauses))]}
		}),
		"match excludes nothing": eachMatch(func(o *query.Operand) {
			o.Search = &query.Search{Clauses: slices.Clone(o.Search.Clauses)}
			for i := range o.Search.Clauses {
				o.Search.Clauses[i].Exclude = false
			}
		}),
		"numbers as text":     withTypes(herb.TypeNumber, herb.TypeText),
		"datetimes as text":   withTypes(herb.TypeDateTime, herb.TypeText),
		"booleans as text":    withTypes(herb.TypeBoolean, herb.TypeText),
		"lists as text":       withTypes(herb.TypeList, herb.TypeText),
		"text as lists":       withTypes(herb.TypeText, herb.TypeList),
		"rarity after filter": rarityAfterFilter,
		"every field searchable": func(o *Oracle, r *query.Request) (query.Page, error) {
			fields := slices.Clone(o.fields)
			for i := range fields {
				fields[i].Searchable = true
			}
			return NewOracle(fields, o.records).List(context.Background(), r)
		},
		"total of the page": withResult(func(_ *query.Request, p *query.Page) { p.Total = len(p.Records) }),
		"no total past the end": withResult(func(_ *query.Request, p *query.Page) {
			if len(p.Records) == 0 {
				p.Total = 0
			}
		}),
		"one record too many": withResult(func(_ *query.Request, p *query.Page) {
			if len(p.Records) > 0 {
				p.Records = append(p.Records, p.Records[0])
			}
		}),
		"values trimmed": withResult(func(_ *query.Request, p *query.Page) { replace(p, `.0"`, `"`) }),
		"numbers as JSON": withResult(func(_ *query.Request, p *query.Page) {
			replace(p, `:"1"`, `:1`)
			replace(p, `:"2"`, `:2`)
		}),
		"null for empty": withResult(func(_ *query.Request, p *query.Page) { replace(p, `:""`, `:null`) }),
		"data behind":    withResult(func(_ *query.Request, p *query.Page) { replace(p, "}", "},") }),
		"an error": func(*Oracle, *query.Request) (query.Page, error) {
			return query.Page{}, herb.Errorf(herb.CodeInternal, "out of order")
		},
	}
}

func replace(p *query.Page, before, after string) {
	for i, rec := range p.Records {
		p.Records[i] = bytes.ReplaceAll(rec, []byte(before), []byte(after))
	}
}

// matchAnywhere finds the words of a match in any field.
func matchAnywhere(o *Oracle, r *query.Request) (query.Page, error) {
	changed := *r
	changed.Conditions = nil
	var matches []query.Condition
	for _, c := range r.Conditions {
		if c.Op == query.OpMatch {
			matches = append(matches, c)
		} else {
			changed.Conditions = append(changed.Conditions, c)
		}
	}
	found := slices.DeleteFunc(o.findAll(&changed), func(n int) bool {
		return slices.ContainsFunc(matches, func(c query.Condition) bool {
			return !slices.ContainsFunc(c.Values, func(v query.Operand) bool { return contains(o.words[n], v.Search) })
		})
	})
	return o.page(r, found), nil
}

// rarityAfterFilter computes IDF over the filtered records instead of the whole dataset.
func rarityAfterFilter(o *Oracle, r *query.Request) (query.Page, error) {
	if len(r.Conditions) == 0 || len(r.Sort) > 0 {
		return o.List(context.Background(), r)
	}
	var left []herb.Record
	for _, rec := range o.records {
		if meetsAll(o.fields, rec, r.Conditions) {
			left = append(left, rec)
		}
	}
	return NewOracle(o.fields, left).List(context.Background(), r)
}

// TestFaults checks that the suite detects every fault, by the named cases and by the random
// datasets alike.
func TestFaults(t *testing.T) {
	t.Parallel()
	checkAllDetected(t, faults(), true, true,
		func(o *Oracle, fault broken) query.Engine { return brokenLister{o, fault} })
}

// TestFaultsInPlants checks that plants and concurrent listings detect faults.
func TestFaultsInPlants(t *testing.T) {
	t.Parallel()
	engine := func(fault string) Engine {
		return Engine{Plants: true, Open: func(_ testing.TB, fields []herb.Field, records []herb.Record) query.Engine {
			return brokenLister{NewOracle(fields, records), faults()[fault]}
		}}
	}
	if checkConcurrent(t, engine("search ignored")) == nil {
		t.Error("concurrent listings do not detect a fault")
	}
	checkDetected(t, engine("empty values first in descending order"), 100)
}

// onlyInSoakRuns skips a test that takes long: TestFaults shows in every run that the suite detects
// faults.
func onlyInSoakRuns(t *testing.T) {
	t.Helper()
	if !testseed.Soak() {
		t.Skip("takes long; `make soak` runs it")
	}
}

// TestFaultsInStreams checks that faults of streams are detected if the listing is correct.
func TestFaultsInStreams(t *testing.T) {
	t.Parallel()
	onlyInSoakRuns(t)
	all := faults()
	for _, name := range []string{"page ignored", "total of the page", "no total past the end"} {
		delete(all, name) // not faults without pages
	}
	checkAllDetected(t, all, false, true,
		func(o *Oracle, fault broken) query.Engine { return brokenStreamer{o, fault} })
}

// brokenStreamer is an engine with a fault in its streams only.
type brokenStreamer struct {
	*Oracle
	fault broken
}

func (b brokenStreamer) Stream(_ context.Context, r *query.Request) (query.Stream, error) {
	all := *r
	all.Page, all.PerPage = 1, len(b.records)+1
	p, err := b.fault(b.Oracle, &all)
	return query.Stream{Total: p.Total, Records: func(yield func([]byte, error) bool) {
		for _, rec := range p.Records {
			if !yield(rec, nil) {
				return
			}
		}
	}}, err
}

// TestGenerator checks that random plants and random queries are valid.
func TestGenerator(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		g := newGenerator(seed, true)
		seen := map[string]bool{}
		for _, rec := range g.records(g.fields(), g.size()) {
			if _, ok := text.Key(herb.TypeNumber, rec[0]); !ok || seen[rec[0]] {
				t.Fatalf("seed %d: id %q", seed, rec[0])
			}
			seen[rec[0]] = true
			for _, s := range rec[1:] {
				if len([]rune(s)) > 255 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7F }) {
					t.Fatalf("seed %d: %q is not valid in a plant", seed, s)
				}
			}
		}
		one, two := newGenerator(seed, false), newGenerator(seed, false)
		if a, b := fmt.Sprint(one.records(one.fields(), 50)), fmt.Sprint(two.records(two.fields(), 50)); a != b {
			t.Fatalf("seed %d is not reproducible", seed)
		}
	}
}
