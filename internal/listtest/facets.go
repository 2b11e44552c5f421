package listtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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
	def := o.fields[field]
	f := query.Facet{Field: def.Name, Type: def.Type}
	values := map[string]*counted{}
	for _, n := range found {
		value := o.records[n][field]
		if _, missing := missingRank(def, value); missing {
			f.Empty++
			continue
		}
		seen := map[string]bool{}
		for _, part := range parts(def.Type, value) {
			id := identity(def, part)
			if seen[id] {
				continue // counts once per record
			}
			seen[id] = true
			if values[id] == nil {
				written := id
				if def.Type.IsScalar() {
					written = o.written[field]()[id]
				}
				values[id] = &counted{query.ValueCount{Value: written}, parseValue(def, part)}
			}
			values[id].Count++
		}
	}
	all := slices.SortedFunc(maps.Values(values), func(a, b *counted) int {
		return cmp.Or(a.place.compare(b.place), strings.Compare(a.Value, b.Value))
	})
	f.Distinct = len(all)
	if query.HasRange(def.Type) && len(all) > 0 {
		f.Min, f.Max = all[0].Value, all[len(all)-1].Value
		f.Histogram = histogram(def, all, r.Buckets)
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
func identity(f herb.Field, value string) string {
	if !f.Type.IsScalar() {
		return value
	}
	return parseValue(f, value).identity()
}

// firstWritings returns the values of a scalar field by identity, each as written in the first record that has it.
func firstWritings(f herb.Field, field int, records []herb.Record) map[string]string {
	first := map[string]string{}
	for _, rec := range records {
		if id := identity(f, rec[field]); first[id] == "" {
			first[id] = rec[field]
		}
	}
	return first
}

// histogram counts values, which must be in ascending order.
func histogram(f herb.Field, all []*counted, most int) []query.Bucket {
	if most == 0 {
		return nil
	}
	var borders []string
	least, greatest := all[0].place, all[len(all)-1].place
	if f.Type == herb.TypeNumber {
		borders = numberBorders(least.number, greatest.number, most)
	} else {
		borders = timeBorders(f.Type, least.time, greatest.time, most)
	}
	var buckets []query.Bucket
	for i := 1; i < len(borders); i++ {
		b := query.Bucket{From: localized(f, borders[i-1]), To: localized(f, borders[i])}
		from, to := parseValue(f, b.From), parseValue(f, b.To)
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

// localized writes a border with the decimal separator of its field.
func localized(f herb.Field, border string) string {
	if f.Notation.Decimal == "" {
		return border
	}
	return strings.ReplaceAll(border, ".", f.Notation.Decimal)
}

// numberBorders tries steps of 1, 2, 5, 10 and so on, in units of the last significant decimal place.
func numberBorders(least, greatest *big.Rat, most int) []string {
	places := 0
	for _, v := range []*big.Rat{least, greatest} {
		p := 0
		for scaled := new(big.Rat).Set(v); !scaled.IsInt(); scaled.Mul(scaled, big.NewRat(10, 1)) {
			p++
		}
		if digits := strings.Trim(v.FloatString(p), "-."); len(strings.ReplaceAll(digits, ".", "")) > query.MaxBorderDigits {
			return nil
		}
		places = max(places, p)
	}
	unit := big.NewRat(1, 1)
	for range places {
		unit.Mul(unit, big.NewRat(1, 10))
	}
	for ; ; unit.Mul(unit, big.NewRat(10, 1)) {
		for _, factor := range []int64{1, 2, 5} {
			step := new(big.Rat).Mul(unit, big.NewRat(factor, 1))
			first, last := floor(least, step), floor(greatest, step)
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

// timeBorders tries a day, a week, a month, a quarter, and years; for datetimes first minutes and hours.
func timeBorders(t herb.Type, least, greatest time.Time, most int) []string {
	type step struct {
		clock               time.Duration
		days, months, years int
	}
	var steps []step
	if t == herb.TypeDateTime {
		for _, minutes := range []time.Duration{1, 5, 15, 30, 60, 180, 360, 720} {
			steps = append(steps, step{clock: minutes * time.Minute})
		}
	}
	steps = append(steps, step{days: 1}, step{days: 7}, step{months: 1}, step{months: 3})
	for years := 1; years <= 10_000; years *= 10 {
		steps = append(steps, step{years: years}, step{years: 2 * years}, step{years: 5 * years})
	}
	for _, s := range steps {
		begin := time.Date(least.Year(), least.Month(), least.Day(), 0, 0, 0, 0, time.UTC)
		switch {
		case s.clock > 0:
			for begin.Add(s.clock).Compare(least) <= 0 {
				begin = begin.Add(s.clock)
			}
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
		borders := []string{border(t, begin)}
		for at := begin; !at.After(greatest) && len(borders) <= most+1; {
			at = at.AddDate(s.years, s.months, s.days).Add(s.clock)
			borders = append(borders, border(t, at))
		}
		if len(borders) <= most+1 {
			return borders
		}
	}
	panic("the oracle found no step for times")
}

// border formats a time, clamped to the valid range.
func border(t herb.Type, at time.Time) string {
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	at = slices.MinFunc([]time.Time{last, slices.MaxFunc([]time.Time{first, at}, time.Time.Compare)}, time.Time.Compare)
	if t == herb.TypeDate {
		return at.Format(time.DateOnly)
	}
	return at.Format(time.RFC3339Nano)
}
