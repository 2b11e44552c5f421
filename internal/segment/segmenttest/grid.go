package segmenttest

import (
	"context"
	"fmt"
	"math/big"
	"net/url"
	"sort"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// grid returns a raw grid query with the filters and the search of a listing, or "" if no number
// field is filterable.
func (g *generator) grid(fields []herb.Field, records []herb.Record, listing string) string {
	choices := indexes(fields, func(f herb.Field) bool { return f.Filterable && f.Type == herb.TypeNumber })
	if len(choices) == 0 {
		return ""
	}
	params := countingParams(listing)
	x, y := pick(g, choices), pick(g, choices)
	minX, maxX := g.bounds(fields[x], x, records)
	minY, maxY := g.bounds(fields[y], y, records)
	params.Set(query.ParamX, fields[x].Name)
	params.Set(query.ParamY, fields[y].Name)
	params.Set(query.ParamBounds, minX+","+minY+","+maxX+","+maxY)
	if g.chance(80) {
		params.Set(query.ParamColumns, strconv.Itoa(pick(g, []int{1, 2, 3, 7, 64})))
		params.Set(query.ParamRows, strconv.Itoa(pick(g, []int{1, 2, 5, 10, 100})))
	}
	if raw := params.Encode(); len(raw) <= query.MaxQueryBytes {
		return raw
	}
	return ""
}

// bounds returns two different numbers, mostly of records, the smaller first.
func (g *generator) bounds(f herb.Field, field int, records []herb.Record) (low, high string) {
	bound := func() float64 {
		value := g.sample(f, field, records)
		if _, missing := missingPosition(f, value); missing || g.chance(20) {
			return float64(g.IntN(200) - 100)
		}
		n, _ := parseValue(f, value).number.Float64()
		if n < -1e100 || n > 1e100 {
			return 0
		}
		return n
	}
	a, b := bound(), bound()
	if a == b {
		b = a + max(1, a, -a)
	}
	format := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return format(min(a, b)), format(max(a, b))
}

// countingParams returns the filters and the search of a listing.
func countingParams(listing string) url.Values {
	params, err := url.ParseQuery(listing)
	if err != nil {
		panic(fmt.Sprintf("the generator made an invalid query %q: %v", listing, err))
	}
	for _, name := range []string{query.ParamPage, query.ParamPerPage, query.ParamSort, query.ParamOrder} {
		params.Del(name)
	}
	return params
}

// Grid implements query.Engine.
//
// Rule: docs/api.md, "Count records in a grid".
func (o *Oracle) Grid(_ context.Context, r *query.GridRequest) (query.Grid, error) {
	if err := o.check(r.Request); err != nil {
		return query.Grid{}, err
	}
	if r.OfPositions() {
		found := o.findAll(r.Request)
		counts, err := o.positionGrid(r, found)
		return newGrid(r, len(found), counts), err
	}
	columns := gridEdges(r.Bounds.MinX, r.Bounds.MaxX, r.Columns)
	rows := gridEdges(r.Bounds.MinY, r.Bounds.MaxY, r.Rows)
	found := o.findAll(r.Request)
	counts := make([]int, r.Columns*r.Rows)
	for _, n := range found {
		x, y := o.parsed[r.X]()[n], o.parsed[r.Y]()[n]
		column, row := cellOf(columns, x), cellOf(rows, y)
		if column >= 0 && row >= 0 {
			counts[row*r.Columns+column]++
		}
	}
	return newGrid(r, len(found), counts), nil
}

// newGrid returns the cells that are not empty, by row, then by column.
//
// Rule: docs/api.md, "Count records in a grid".
func newGrid(r *query.GridRequest, total int, counts []int) query.Grid {
	g := query.Grid{Total: total}
	for row := range r.Rows {
		for column := range r.Columns {
			if n := counts[row*r.Columns+column]; n > 0 {
				g.Inside += n
				g.Cells = append(g.Cells, query.Cell{Column: column, Row: row, Count: n})
			}
		}
	}
	return g
}

// gridEdges returns the edges of n cells: doubles, read as the shortest decimal numbers that
// identify them.
//
// Rule: docs/api.md, "Count records in a grid".
func gridEdges(low, high float64, n int) []*big.Rat {
	edges := make([]*big.Rat, n+1)
	for i := range edges {
		at := low + float64((high-low)*float64(i)/float64(n))
		if i == n || at > high {
			at = high
		}
		edges[i], _ = new(big.Rat).SetString(strconv.FormatFloat(at, 'g', -1, 64))
	}
	return edges
}

// cellOf returns the cell of a value, or -1. The last cell includes both of its edges.
//
// Rule: docs/api.md, "Count records in a grid".
func cellOf(edges []*big.Rat, v parsedValue) int {
	last := len(edges) - 1
	if v.missing > 0 || v.number.Cmp(edges[0]) < 0 || v.number.Cmp(edges[last]) > 0 {
		return -1
	}
	above := sort.Search(len(edges), func(i int) bool { return edges[i].Cmp(v.number) > 0 })
	return min(above, last) - 1
}
