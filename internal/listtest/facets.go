package listtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// agreeInFacets compares the facets of an engine with those of the oracle. It does nothing if raw is empty.
func agreeInFacets(ctx context.Context, l Lister, o *Oracle, raw string) error {
	if raw == "" {
		return nil
	}
	r, err := query.ParseFacets(raw, o.fields)
	if err != nil {
		return err
	}
	return sameResult(ctx, r, l.Facets, o.Facets)
}

// sameResult compares the results of an engine and of the oracle for one request.
func sameResult[Request, Result any](ctx context.Context, r Request, got, want func(context.Context, Request) (Result, error)) error {
	ours, err := got(ctx, r)
	if err != nil {
		return fmt.Errorf("counting: %w", err)
	}
	theirs, err := want(ctx, r)
	if err != nil {
		return err
	}
	if diff := gocmp.Diff(theirs, ours, cmpopts.EquateEmpty()); diff != "" {
		return fmt.Errorf("the counts differ (-want +got):\n%.4000s", diff)
	}
	return nil
}

// facets returns a raw facet query with the filters and the search of a listing, or "" if no field is filterable.
func (g *generator) facets(fields []herb.Field, records []herb.Record, listing string) string {
	params := countingParams(listing)
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
	if g.chance(30) {
		params.Set(query.ParamOffset, strconv.Itoa(pick(g, []int{0, 1, 2, 5, 50, query.MaxValueOffset})))
	}
	if g.chance(50) {
		params.Set(query.ParamScale, pick(g, []string{"auto", "auto", "log", "linear"}))
	}
	if g.chance(30) {
		params.Set(query.ParamEdges, pick(g, []string{"all", "all", "matching"}))
	}
	if g.chance(40) {
		params.Set(query.ParamOwnFilter, pick(g, []string{"ignore", "ignore", "apply"}))
	}
	if g.chance(30) {
		params.Set(query.ParamValues, g.substring(fields, records))
	}
	if raw := params.Encode(); len(raw) <= query.MaxQueryBytes {
		return raw
	}
	return ""
}

// substring returns a part of a value, mostly of one that occurs.
func (g *generator) substring(fields []herb.Field, records []herb.Record) string {
	i := g.IntN(len(fields))
	r := []rune(g.sample(fields[i], i, records))
	if len(r) == 0 {
		return pick(g, g.words)
	}
	from := g.IntN(len(r))
	part := string(r[from : from+1+g.IntN(min(len(r)-from, 4))])
	return pick(g, []string{part, strings.ToUpper(part), strings.ToLower(part)})
}

// Facets implements Lister.
func (o *Oracle) Facets(_ context.Context, r *query.FacetRequest) (query.Facets, error) {
	all := o.findAll(r.Request)
	f := query.Facets{Total: len(all)}
	for _, i := range r.Fields {
		found, others := all, *r.Request
		others.Conditions = slices.DeleteFunc(slices.Clone(others.Conditions), func(c query.Condition) bool { return c.Field == i })
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

func (o *Oracle) facet(found []int, field int, r *query.FacetRequest) query.Facet {
	def := o.fields[field]
	all, empty := o.countValues(found, field)
	f := query.Facet{Field: def.Name, Type: def.Type, Total: len(found), Empty: empty, Distinct: len(all)}
	if query.HasRange(def.Type) {
		if len(all) > 0 {
			f.Min, f.Max = all[0].Value, all[len(all)-1].Value
		}
		edges := all
		if r.AllEdges {
			edges, _ = o.countValues(o.everything(), field)
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
			f.Values = append(f.Values, v.ValueCount)
		}
	}
	return f
}

// countValues returns the values of records in ascending order, and the number of records whose value is missing.
func (o *Oracle) countValues(records []int, field int) (all []*counted, empty int) {
	def := o.fields[field]
	values := map[string]*counted{}
	for _, n := range records {
		value := o.records[n][field]
		if _, missing := missingRank(def, value); missing {
			empty++
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
	return slices.SortedFunc(maps.Values(values), func(a, b *counted) int {
		return cmp.Or(a.place.compare(b.place), strings.Compare(a.Value, b.Value))
	}), empty
}

// everything returns the numbers of all records.
func (o *Oracle) everything() []int {
	all := make([]int, len(o.records))
	for i := range all {
		all[i] = i
	}
	return all
}

// containsText reports whether the primary weights of a text include those of another in sequence.
func containsText(s, part string) bool {
	all, wanted := weights(s), weights(part)
	for i := 0; i+len(wanted) <= len(all); i++ {
		if slices.Equal(all[i:i+len(wanted)], wanted) {
			return true
		}
	}
	return false
}

// weights returns the primary weights of a text. Those whose first byte has its high bit set are three bytes long, others two.
func weights(s string) (all []string) {
	for key := text.PrimaryKey(s); key != ""; {
		n := 2 + int(key[0]>>7)
		all, key = append(all, key[:n]), key[n:]
	}
	return all
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
