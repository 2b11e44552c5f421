package segmenttest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// facets returns a raw facet query with the filters and the search of a listing, or "" if no field
// is filterable.
func (g *generator) facets(fields []herb.Field, records []herb.Record, listing string) string {
	params := countingParams(listing)
	choices := indexes(fields, func(f herb.Field) bool { return f.Filterable })
	if len(choices) == 0 {
		return ""
	}
	g.Shuffle(len(choices), func(i, j int) { choices[i], choices[j] = choices[j], choices[i] })
	for _, i := range choices[:1+g.IntN(len(choices))] {
		params.Add(query.ParamField, fields[i].Name)
	}
	for _, p := range []struct {
		chance int
		name   string
		values []string
	}{
		{70, query.ParamTop, []string{"0", "1", "2", "3", "5", "100"}},
		{70, query.ParamBuckets, []string{"0", "2", "3", "4", "7", "30", "100"}},
		{30, query.ParamOffset, []string{"0", "1", "2", "5", "50", strconv.Itoa(query.MaxValueOffset)}},
		{50, query.ParamScale, []string{"auto", "auto", "log", "linear"}},
		{30, query.ParamEdges, []string{"all", "all", "matching"}},
		{40, query.ParamOwnFilter, []string{"ignore", "ignore", "apply"}},
		{30, query.ParamValues, []string{g.substring(fields, records)}},
	} {
		if g.chance(p.chance) {
			params.Set(p.name, pick(g, p.values))
		}
	}
	if raw := params.Encode(); len(raw) <= query.MaxQueryBytes {
		return raw
	}
	return ""
}

// substring returns a part of a value, mostly of one that occurs.
func (g *generator) substring(fields []herb.Field, records []herb.Record) string {
	i := g.IntN(len(fields))
	return g.part(g.sample(fields[i], i, records))
}

// part returns a part of a text, or a word if it is empty.
func (g *generator) part(s string) string {
	r := []rune(s)
	if len(r) == 0 {
		return g.word()
	}
	from := g.IntN(len(r))
	part := string(r[from : from+1+g.IntN(min(len(r)-from, 4))])
	return pick(g, []string{part, strings.ToUpper(part), strings.ToLower(part)})
}

// Facets implements query.Engine.
//
// Rule: docs/api.md, "Count values".
func (o *Oracle) Facets(_ context.Context, r *query.FacetRequest) (query.Facets, error) {
	if err := o.check(r.Request); err != nil {
		return query.Facets{}, err
	}
	all := o.findAll(r.Request)
	f := query.Facets{Total: len(all)}
	for _, i := range r.Fields {
		found, others := all, *r.Request
		others.Conditions = slices.DeleteFunc(slices.Clone(others.Conditions),
			func(c query.Condition) bool { return c.Field == i })
		if r.IgnoreOwnFilter && len(others.Conditions) < len(r.Request.Conditions) {
			found = o.findAll(&others)
		}
		f.Fields = append(f.Fields, o.facet(found, i, r))
	}
	return f, nil
}

// counted is a value of a facet and its count.
type counted struct {
	query.ValueCount
	place parsedValue
}

// Rule: docs/api.md, "Count values".
func (o *Oracle) facet(found []int, field int, r *query.FacetRequest) query.Facet {
	def := o.fields[field]
	all, empty := o.countValues(found, field)
	f := query.Facet{Field: def.Name, Type: def.Type, Total: len(found), Empty: empty, Distinct: len(all)}
	hasRange := []herb.Type{herb.TypeNumber, herb.TypeDate, herb.TypeDateTime, herb.TypeTime, herb.TypeDuration}
	if slices.Contains(hasRange, def.Type) {
		if len(all) > 0 {
			f.Min, f.Max = all[0].Value, all[len(all)-1].Value
		}
		edges := all
		if r.AllEdges {
			edges, _ = o.countValues(o.findAll(&query.Request{}), field)
		}
		f.Scale, f.Histogram = histogram(def, all, edges, r)
	}
	slices.SortStableFunc(all, func(a, b *counted) int { return cmp.Compare(b.Count, a.Count) })
	for _, v := range all {
		if !containsText(v.Value, r.Containing) {
			continue
		}
		f.Matching++
		if f.Matching > r.Offset && f.Matching <= r.Offset+r.Top {
			f.Values = append(f.Values, clipValue(v.ValueCount))
		}
	}
	return f
}

// clipValue returns a long value as its start of up to 1,024 bytes, in whole characters.
//
// Rule: docs/api.md, "Count values".
func clipValue(v query.ValueCount) query.ValueCount {
	const most = 1024
	start := v.Value
	for len(start) > most {
		_, size := utf8.DecodeLastRuneInString(start)
		start = start[:len(start)-size]
	}
	v.Clipped = len(start) < len(v.Value)
	v.Value = start
	return v
}

// countValues returns the values of records in ascending order, and the number of records whose
// value is missing.
//
// Rule: docs/api.md, "Count values".
func (o *Oracle) countValues(records []int, field int) (all []*counted, empty int) {
	def := o.fields[field]
	values := map[string]*counted{}
	for _, n := range records {
		value := o.records[n][field]
		if _, missing := missingPosition(def, value); missing {
			empty++
			continue
		}
		seen := map[string]bool{}
		for _, part := range parts(def, value) {
			id := part
			if def.Type.IsScalar() {
				id = o.parsed[field]()[n].identity()
			}
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
	return slices.SortedFunc(maps.Values(values), func(a, b *counted) int {
		return cmp.Or(a.place.compare(b.place), strings.Compare(a.Value, b.Value))
	}), empty
}

// containsText reports whether the primary weights of a text include those of another in sequence.
//
// Rule: docs/api.md, "Filters".
func containsText(s, part string) bool {
	all, wanted := weights(s), weights(part)
	for i := 0; i+len(wanted) <= len(all); i++ {
		if slices.Equal(all[i:i+len(wanted)], wanted) {
			return true
		}
	}
	return false
}

// weights returns the primary weights of a text. Those whose first byte has its high bit set are
// three bytes long, others two.
func weights(s string) (all []string) {
	for key := text.CollationKey(s); key[:2] != "\x00\x00"; {
		n := 2 + int(key[0]>>7)
		all, key = append(all, key[:n]), key[n:]
	}
	return all
}

// parts returns the values that are counted: the elements of a list, or the value itself.
//
// Rule: docs/api.md, "Count values".
func parts(f herb.Field, value string) []string {
	if f.Type == herb.TypeList {
		return text.Elements(&f, value)
	}
	return []string{value}
}

// identity returns a string that is equal for two values exactly if facets count them as one.
//
// Rule: docs/api.md, "Count values".
func identity(f herb.Field, value string) string {
	if !f.Type.IsScalar() {
		return value
	}
	return parseValue(f, value).identity()
}

// firstWritings returns the values of a scalar field by identity, each as written in the first
// record that has it.
//
// Rule: docs/api.md, "Count values".
func firstWritings(f herb.Field, field int, records []herb.Record) map[string]string {
	first := map[string]string{}
	for _, rec := range records {
		if id := identity(f, rec[field]); first[id] == "" {
			first[id] = rec[field]
		}
	}
	return first
}

// histogram returns the histogram of some values and its scale. Boundaries and scale are those for
// edges. Both are in ascending order. Tests of package query compare the boundaries with a
// reference implementation.
//
// Rule: docs/api.md, "Count values".
func histogram(f herb.Field, all, edges []*counted, r *query.FacetRequest) (query.Scale, []query.Bucket) {
	if r.Buckets == 0 || len(edges) == 0 {
		return query.ScaleLinear, nil
	}
	span := query.Range{Min: edges[0].Value, Max: edges[len(edges)-1].Value}
	linear := query.Buckets(f, span.Min, span.Max, r.Buckets)
	if f.Type == herb.TypeNumber {
		for _, v := range edges {
			if sign := v.place.number.Sign(); sign < 0 {
				span.GreatestNegative = v.Value
			} else if sign > 0 && span.LeastPositive == "" {
				span.LeastPositive = v.Value
			}
		}
		log := query.LogBuckets(f, span, r.Buckets)
		if len(log) > 0 && (r.Scale == query.ScaleLog ||
			r.Scale == query.ScaleAuto && isSkewed(fill(f, linear, edges)) && !isSkewed(fill(f, log, edges))) {
			return query.ScaleLog, fill(f, log, all)
		}
	}
	return query.ScaleLinear, fill(f, linear, all)
}

// isSkewed reports whether one bucket has more than three quarters of the records.
//
// Rule: docs/api.md, "Count values".
func isSkewed(buckets []query.Bucket) bool {
	sum := 0
	for _, b := range buckets {
		sum += b.Count
	}
	return slices.ContainsFunc(buckets, func(b query.Bucket) bool { return float64(b.Count) > 0.75*float64(sum) })
}

// fill returns buckets with the counts of values.
//
// Rule: docs/api.md, "Count values".
func fill(f herb.Field, buckets []query.Bucket, all []*counted) []query.Bucket {
	buckets = slices.Clone(buckets)
	f.Notation.Missing = nil // an edge is a value even if it is also a marker
	for i := range buckets {
		b, last := &buckets[i], i == len(buckets)-1
		from, to := parseValue(f, b.From), parseValue(f, b.To)
		for _, v := range all {
			if v.place.compare(from) >= 0 && (v.place.compare(to) < 0 || last && v.place.compare(to) == 0) {
				b.Count += v.Count
			}
		}
	}
	return buckets
}
