package query

import (
	"math"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Limits of a grid request. Exceeding one is an error that names it.
const (
	DefaultGridColumns = 256
	DefaultGridRows    = 128
	MaxGridSide        = 1024
	MaxGridCells       = 1 << 16
)

// Parameters of grid requests in addition to those of a listing.
const (
	ParamX       = "_x"
	ParamY       = "_y"
	ParamBounds  = "_bounds"
	ParamColumns = "_columns"
	ParamRows    = "_rows"
)

// GridRequest asks for the number of records in each cell of a grid over two number fields, or over
// the positions of records in degrees, among those that match the filters and the search of a
// request.
type GridRequest struct {
	Request       *Request // page and order are ignored
	X, Y          int      // field positions; -1: the positions of records
	Columns, Rows int
	Bounds        Bounds
}

// OfPositions reports whether the grid is over the positions of records.
func (g *GridRequest) OfPositions() bool { return g.X < 0 }

// Bounds are the minimum and the maximum of both axes of a grid.
type Bounds struct{ MinX, MinY, MaxX, MaxY float64 }

// Grid is the result of a grid request.
type Grid struct {
	Total  int    // records that match the filters and the search
	Inside int    // those within the bounds
	Cells  []Cell // that are not empty, by row, then by column
}

// Cell is a cell of a grid. Column 0 and row 0 are those at the minimum.
type Cell struct{ Column, Row, Count int }

// MaxBytes returns how much memory the result and its computation need at most, in bytes.
func (q *GridRequest) MaxBytes() int {
	const perCell = 8 + 24 // the count of a cell, and the Cell if it is not empty
	return q.Columns * q.Rows * perCell
}

// SetCells sets the cells from the counts of all cells, by row, then by column.
func (g *Grid) SetCells(q *GridRequest, counts []int) {
	for i, n := range counts {
		if n > 0 {
			g.Inside += n
			g.Cells = append(g.Cells, Cell{i % q.Columns, i / q.Columns, n})
		}
	}
}

// GridLevels is the number of levels of cells, at most.
const GridLevels = 5

// Levels returns the least counts of levels of cells with similar counts, on a logarithmic scale up
// to the highest count. A cell has the last level whose least count it reaches.
func (g *Grid) Levels() []int {
	highest := 1
	for _, c := range g.Cells {
		highest = max(highest, c.Count)
	}
	if highest == 1 {
		return []int{1}
	}
	least := make([]int, GridLevels)
	for i := range least {
		const tolerance = 1e-9 // of powers that are whole numbers
		least[i] = int(math.Ceil(math.Pow(float64(highest), float64(i)/GridLevels) - tolerance))
	}
	return least
}

// LevelOf returns the level of a cell with a count, from 0.
func LevelOf(least []int, count int) int {
	level := len(least) - 1
	for ; count < least[level]; level-- {
	}
	return level
}

// ParseGrid parses a grid request from the raw query of a URL. Errors have herb.CodeInvalid and say
// what is valid.
func ParseGrid(raw string, fields []herb.Field) (*GridRequest, error) {
	return Split(raw).Grid(fields)
}

// Grid parses a grid request.
func (s String) Grid(fields []herb.Field) (*GridRequest, error) {
	g := &GridRequest{Request: newRequest(fields), X: -1, Y: -1, Columns: DefaultGridColumns, Rows: DefaultGridRows}
	bounds := ""
	err := g.Request.parse(s, "grids"+countScope, KindGrid, func(p Param) (err error) {
		switch p.Name {
		case ParamX:
			g.X, err = parseAxis(p, fields)
		case ParamY:
			g.Y, err = parseAxis(p, fields)
		case ParamColumns:
			g.Columns, err = parseWhole(p, 1, MaxGridSide, "a whole number from 1 to %d")
		case ParamRows:
			g.Rows, err = parseWhole(p, 1, MaxGridSide, "a whole number from 1 to %d")
		case ParamBounds:
			bounds = p.Value
			g.Bounds, err = ParseBounds(p.Value)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case g.X < 0 != (g.Y < 0):
		return nil, herb.Invalidf(
			"%q and %q name the fields of the axes, as in _x=longitude&_y=latitude; give both, or none for the "+
				"positions of records; number fields: %s",
			ParamX, ParamY, joinNames(fieldNames(fields, isAxis)))
	case bounds == "":
		return nil, herb.Invalidf(
			"no %q is given; give the bounds of the grid as min x,min y,max x,max y, as in _bounds=-180,-90,180,90",
			ParamBounds)
	case g.Columns*g.Rows > MaxGridCells:
		return nil, herb.Invalidf("the grid has %d × %d cells; at most %d are allowed", g.Columns, g.Rows, MaxGridCells)
	}
	return g, nil
}

func isAxis(f herb.Field) bool { return f.Filterable && f.Type == herb.TypeNumber }

func parseAxis(p Param, fields []herb.Field) (int, error) {
	in := "in " + strconv.Quote(p.Name)
	return resolveField(fields, p.Value, fieldUse{isAxis, "field %q " + in, in + " is not a filterable number field",
		"number fields"})
}

// ParseBounds parses the bounds of a grid: min x,min y,max x,max y.
func ParseBounds(value string) (b Bounds, err error) {
	parts := strings.Split(value, ",")
	dst := []*float64{&b.MinX, &b.MinY, &b.MaxX, &b.MaxY}
	ok := len(parts) == len(dst)
	for i := 0; ok && i < len(dst); i++ {
		plain, status := text.Canonical(&herb.Field{Type: herb.TypeNumber}, parts[i]) // also of 1e-7
		*dst[i], err = strconv.ParseFloat(plain, 64)
		ok = err == nil && status == text.Valid
		*dst[i] += 0 // no negative zero
	}
	if !ok || b.MinX >= b.MaxX || b.MinY >= b.MaxY || math.IsInf(b.MaxX-b.MinX, 0) || math.IsInf(b.MaxY-b.MinY, 0) {
		return b, herb.Invalidf(
			"%s is %q; it must be four numbers min x,min y,max x,max y with each minimum less than the maximum, "+
				"as in -180,-90,180,90", ParamBounds, clip(value))
	}
	return b, nil
}

// CellOf returns the column and the row of the cell of a point; ok is false if it is outside
// the bounds. Points at the upper bounds are in the last column and row.
func (g *GridRequest) CellOf(x, y float64) (column, row int, ok bool) {
	b := g.Bounds
	if x < b.MinX || x > b.MaxX || y < b.MinY || y > b.MaxY {
		return 0, 0, false
	}
	return gridPart(b.MinX, b.MaxX, g.Columns, x), gridPart(b.MinY, b.MaxY, g.Rows, y), true
}

// gridPart returns which of n equal parts of a range a value is in, by the edges of the parts.
func gridPart(low, high float64, n int, value float64) int {
	i := min(int(float64(n)*((value-low)/(high-low))), n-1)
	for i > 0 && value < gridEdge(low, high, n, i) { // the division may round to the next part
		i--
	}
	for i < n-1 && value >= gridEdge(low, high, n, i+1) {
		i++
	}
	return i
}

// EdgesX returns the boundaries of the columns in plain decimal notation, one more than there are
// columns.
func (g *GridRequest) EdgesX() []string { return gridEdges(g.Bounds.MinX, g.Bounds.MaxX, g.Columns) }

// EdgesY returns the boundaries of the rows.
func (g *GridRequest) EdgesY() []string { return gridEdges(g.Bounds.MinY, g.Bounds.MaxY, g.Rows) }

// gridEdges divides a range into n equal parts.
func gridEdges(low, high float64, n int) []string {
	edges := make([]string, n+1)
	for i := range edges {
		edges[i] = strconv.FormatFloat(gridEdge(low, high, n, i), 'f', -1, 64)
	}
	return edges
}

// gridEdge returns the edge before part i of n equal parts of a range. Clients that compute with
// doubles get the same edges.
func gridEdge(low, high float64, n, i int) float64 {
	if i == n {
		return high
	}
	// the conversion prevents a fused operation, which rounds differently
	return min(low+float64((high-low)*float64(i)/float64(n)), high)
}
