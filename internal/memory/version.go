// Package memory lists one version of a dataset that is held in memory, and keeps it in a file between runs.
package memory

import (
	"cmp"
	"context"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Version is one version of a dataset. It never changes, so that any number of goroutines may list it at once.
type Version struct {
	fields   []herb.Field
	rendered [][]byte // each record's JSON
	columns  []column
	words    *words
}

// New prepares records for listing. It keeps the records.
func New(fields []herb.Field, records []herb.Record) *Version {
	v := &Version{
		fields:   fields,
		rendered: make([][]byte, len(records)),
		columns:  make([]column, len(fields)),
	}
	for i, r := range records {
		v.rendered[i] = r.AppendJSON(nil, fields)
	}
	for i, f := range fields {
		v.columns[i] = newColumn(f, i, records)
	}
	v.words = newWords(fields, records)
	return v
}

// Len is the number of records.
func (v *Version) Len() int { return len(v.rendered) }

// List finds the page that r asks for.
func (v *Version) List(ctx context.Context, r *query.Request) (query.Page, error) {
	found := v.find(r)
	if err := ctx.Err(); err != nil {
		return query.Page{}, err
	}
	page := query.Page{Total: len(found)}
	from := min(r.Offset(), len(found))
	for _, n := range found[from:min(from+r.PerPage, len(found))] {
		page.Records = append(page.Records, v.rendered[n])
	}
	return page, nil
}

// find returns the numbers of the records that meet the request, in the order it asks for.
func (v *Version) find(r *query.Request) []int32 {
	var hits []hit
	if r.Search != nil {
		hits = v.words.search(r.Search)
	} else {
		hits = v.words.all()
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool {
		return slices.ContainsFunc(r.Conditions, func(c query.Condition) bool {
			return !v.columns[c.Field].meets(int(h.record), c)
		})
	})
	switch {
	case r.Sort != query.NoSort:
		v.columns[r.Sort].sort(hits, r.Desc)
	case r.ByRelevance():
		slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	}
	found := make([]int32, len(hits))
	for i, h := range hits {
		found[i] = h.record
	}
	return found
}

// hit is a record that meets a search.
type hit struct {
	record int32
	score  float64
}

// column holds what is needed to filter and sort by one field.
type column struct {
	field    herb.Field
	values   []string
	keys     []string   // sort keys; that of an empty value is not looked at
	ranks    []int32    // place of a record's key among all keys
	elements [][]string // of list fields
}

func newColumn(f herb.Field, position int, records []herb.Record) column {
	c := column{field: f, values: make([]string, len(records)), keys: make([]string, len(records))}
	order := make([]int32, len(records))
	for i, r := range records {
		c.values[i] = r[position]
		c.keys[i], _ = text.Key(f.Type, r[position])
		order[i] = int32(i)
		if f.Type == herb.TypeList {
			c.elements = append(c.elements, text.Elements(r[position]))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(c.keys[a], c.keys[b]) })
	c.ranks = make([]int32, len(records))
	rank := int32(0)
	for i, n := range order {
		if i > 0 && c.keys[n] != c.keys[order[i-1]] {
			rank++
		}
		c.ranks[n] = rank
	}
	return c
}

// sort orders hits, which are in record order, by the field. Empty values come last whichever way it runs.
func (c *column) sort(hits []hit, desc bool) {
	slices.SortStableFunc(hits, func(a, b hit) int {
		if ea, eb := c.values[a.record] == "", c.values[b.record] == ""; ea || eb {
			return compareBool(ea, eb)
		}
		order := cmp.Compare(c.ranks[a.record], c.ranks[b.record])
		if desc {
			return -order
		}
		return order
	})
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
