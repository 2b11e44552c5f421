package listtest

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Faceter is a Lister that computes facets. The suite then checks these too.
type Faceter interface {
	Facets(ctx context.Context, r *query.FacetRequest) (query.Facets, error)
}

// agreeInFacets compares the facets of an engine with those of the oracle if the engine is a Faceter. It does nothing
// if raw is empty.
func agreeInFacets(ctx context.Context, l Lister, o *Oracle, raw string) error {
	f, ok := l.(Faceter)
	if !ok || raw == "" {
		return nil
	}
	r, err := query.ParseFacets(raw, o.fields)
	if err != nil {
		return err
	}
	got, err := f.Facets(ctx, r)
	if err != nil {
		return fmt.Errorf("counting: %w", err)
	}
	want, err := o.Facets(ctx, r)
	if err != nil {
		return err
	}
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("the facets differ (-want +got):\n%.4000s", diff)
	}
	return nil
}

// facets returns a raw facet query with the filters and the search of a listing, or "" if no field is filterable.
func (g *generator) facets(fields []herb.Field, listing string) string {
	params, err := url.ParseQuery(listing)
	if err != nil {
		panic(fmt.Sprintf("the generator made an invalid query %q: %v", listing, err))
	}
	for _, name := range []string{query.ParamPage, query.ParamPerPage, query.ParamSort, query.ParamOrder} {
		params.Del(name)
	}
	var choices []string
	for _, f := range fields {
		if f.Filterable {
			choices = append(choices, f.Name)
		}
	}
	if len(choices) == 0 {
		return ""
	}
	g.Shuffle(len(choices), func(i, j int) { choices[i], choices[j] = choices[j], choices[i] })
	params[query.ParamField] = choices[:1+g.IntN(len(choices))]
	if g.chance(70) {
		params.Set(query.ParamTop, strconv.Itoa(pick(g, []int{0, 1, 2, 3, 5, 100})))
	}
	if g.chance(70) {
		params.Set(query.ParamBuckets, strconv.Itoa(pick(g, []int{0, 2, 3, 4, 7, 30, 100})))
	}
	if raw := params.Encode(); len(raw) <= query.MaxQueryBytes {
		return raw
	}
	return ""
}

// Facets implements Faceter.
func (o *Oracle) Facets(_ context.Context, r *query.FacetRequest) (query.Facets, error) {
	found := o.findAll(r.Request)
	f := query.Facets{Total: len(found)}
	for _, i := range r.Fields {
		f.Fields = append(f.Fields, o.facet(found, i, r))
	}
	return f, nil
}

// counted is a value of a facet and its count.
type counted struct {
	query.ValueCount
	place parsedValue
}

func (o *Oracle) facet(found []int, field int, r *query.FacetRequest) query.Facet {
	t := o.fields[field].Type
	f := query.Facet{Field: o.fields[field].Name, Type: t}
	values := map[string]*counted{}
	for _, n := range found {
		value := o.records[n][field]
		if value == "" {
			f.Empty++
			continue
		}
		seen := map[string]bool{}
		for _, part := range parts(t, value) {
			id := identity(t, part)
			if seen[id] {
				continue // counts once per record
			}
			seen[id] = true
			if values[id] == nil {
				values[id] = &counted{query.ValueCount{Value: o.firstWritten(field, id)}, parseValue(t, part)}
			}
			values[id].Count++
		}
	}
	all := make([]*counted, 0, len(values))
	for _, v := range values {
		all = append(all, v)
	}
	inOrder := func(a, b *counted) int {
		return cmp.Or(a.place.compare(b.place), strings.Compare(a.Value, b.Value))
	}
	slices.SortFunc(all, inOrder)
	f.Distinct = len(all)
	if (t == herb.TypeNumber || t == herb.TypeDate) && len(all) > 0 {
		f.Min, f.Max = all[0].Value, all[len(all)-1].Value
		f.Histogram = histogram(t, all, r.Buckets)
	}
	slices.SortStableFunc(all, func(a, b *counted) int { return cmp.Compare(b.Count, a.Count) })
	for _, v := range all[:min(len(all), r.Top)] {
		f.Values = append(f.Values, v.ValueCount)
	}
	return f
}

// parts returns the values that are counted: the elements of a list, or the value itself.
func parts(t herb.Type, value string) []string {
	if t == herb.TypeList {
		return text.Elements(value)
	}
	return []string{value}
}

// identity returns a string that is equal for two values exactly if facets count them as one.
func identity(t herb.Type, value string) string {
	if t == herb.TypeNumber {
		return parseValue(t, value).number.RatString()
	}
	return value
}

// firstWritten returns a value as written in the first record of the dataset that has it.
func (o *Oracle) firstWritten(field int, id string) string {
	if o.fields[field].Type != herb.TypeNumber {
		return id
	}
	return o.written[field]()[id]
}

// firstWritings returns the numbers of a field as first written.
func firstWritings(t herb.Type, field int, records []herb.Record) map[string]string {
	first := map[string]string{}
	for _, rec := range records {
		if value := rec[field]; value != "" {
			if id := identity(t, value); first[id] == "" {
				first[id] = value
			}
		}
	}
	return first
}

// histogram counts values, which must be in ascending order.
func histogram(t herb.Type, all []*counted, most int) []query.Bucket {
	if most == 0 {
		return nil
	}
	var borders []string
	if t == herb.TypeDate {
		borders = dateBorders(all[0].place.date, all[len(all)-1].place.date, most)
	} else {
		borders = numberBorders(all[0], all[len(all)-1], most)
	}
	var buckets []query.Bucket
	for i := 1; i < len(borders); i++ {
		b := query.Bucket{From: borders[i-1], To: borders[i]}
		from, to := parseValue(t, b.From), parseValue(t, b.To)
		for _, v := range all {
			last := i == len(borders)-1
			if v.place.compare(from) >= 0 && (v.place.compare(to) < 0 || last && v.place.compare(to) == 0) {
				b.Count += v.Count
			}
		}
		buckets = append(buckets, b)
	}
	return buckets
}

// numberBorders tries steps of 1, 2, 5, 10 and so on, in units of the last significant decimal place.
func numberBorders(least, greatest *counted, most int) []string {
	places := 0
	for _, v := range []*counted{least, greatest} {
		whole, fraction, _ := strings.Cut(strings.TrimPrefix(v.Value, "-"), ".")
		fraction = strings.TrimRight(fraction, "0")
		if len(whole)+len(fraction) > query.MaxBorderDigits {
			return nil
		}
		places = max(places, len(fraction))
	}
	unit := big.NewRat(1, 1)
	for range places {
		unit.Mul(unit, big.NewRat(1, 10))
	}
	for ; ; unit.Mul(unit, big.NewRat(10, 1)) {
		for _, factor := range []int64{1, 2, 5} {
			step := new(big.Rat).Mul(unit, big.NewRat(factor, 1))
			first, last := floor(least.place.number, step), floor(greatest.place.number, step)
			count := new(big.Int).Sub(last, first)
			if count.Cmp(big.NewInt(int64(most))) >= 0 {
				continue
			}
			var borders []string
			for i := first; i.Cmp(last) <= 0; i.Add(i, big.NewInt(1)) {
				borders = append(borders, plain(step, i, places))
			}
			return append(borders, plain(step, last.Add(last, big.NewInt(1)), places))
		}
	}
}

// floor returns n divided by step, rounded toward negative infinity.
func floor(n, step *big.Rat) *big.Int {
	q := new(big.Rat).Quo(n, step)
	return new(big.Int).Div(q.Num(), q.Denom())
}

// plain formats a multiple of a step.
func plain(step *big.Rat, times *big.Int, places int) string {
	s := new(big.Rat).Mul(step, new(big.Rat).SetInt(times)).FloatString(places)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// dateBorders tries a day, a week, a month, a quarter, and years.
func dateBorders(least, greatest time.Time, most int) []string {
	type step struct{ days, months, years int }
	steps := []step{{days: 1}, {days: 7}, {months: 1}, {months: 3}}
	for years := 1; years <= 10_000; years *= 10 {
		steps = append(steps, step{years: years}, step{years: 2 * years}, step{years: 5 * years})
	}
	for _, s := range steps {
		begin := least
		switch {
		case s.days == 7:
			for begin.Weekday() != time.Monday {
				begin = begin.AddDate(0, 0, -1)
			}
		case s.days == 0:
			begin = begin.AddDate(0, 0, 1-begin.Day())
			for s.months == 3 && begin.Month()%3 != 1 || s.years > 0 && begin.Month() != time.January {
				begin = begin.AddDate(0, -1, 0)
			}
			for s.years > 0 && begin.Year()%s.years != 0 {
				begin = begin.AddDate(-1, 0, 0)
			}
		}
		borders := []string{border(begin)}
		for at := begin; !at.After(greatest) && len(borders) <= most+1; {
			at = at.AddDate(s.years, s.months, s.days)
			borders = append(borders, border(at))
		}
		if len(borders) <= most+1 {
			return borders
		}
	}
	panic("the oracle found no step for dates")
}

// border formats a date, clamped to the valid range.
func border(d time.Time) string {
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	if d.Before(first) {
		d = first
	}
	if d.After(last) {
		d = last
	}
	return d.Format(time.DateOnly)
}
