// Package positions reads the positions of records: those in a box or within a distance, their
// distances, the cells of a grid, and the parts of the world that they are in.
//
// A file has the position of each record, and the records in the order of their cells on the
// Z-order curve. The positions of a square cell are adjacent there. So those of a box are a few
// ranges of the order: cells within it, whose records are not read, and cells on its border, whose
// records are tested.
package positions

import (
	"fmt"
	"sort"

	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// Index has the positions of the records of a segment for one pair of coordinates.
type Index struct {
	Coordinates herb.Coordinates
	points      file.U32s // POSN: longitude and latitude of each record
	order       file.U32s // CELL: the records with a position, by cell
}

// Open returns the positions of coordinates in a file.
func Open(f *file.File, c herb.Coordinates) (x Index, err error) {
	field := uint32(herb.FieldIndex(f.Meta.Fields, c.Name()))
	x = Index{c, f.Section(file.TagPositions, field), f.Section(file.TagCellOrder, field)}
	if x.points.Len() != 2*f.Meta.Records || len(x.order)%4 != 0 || x.order.Len() > f.Meta.Records {
		return x, fmt.Errorf("%w: positions of field %q", guard.ErrCorrupt, c.Name())
	}
	return x, nil
}

// Point returns the position of a record.
func (x *Index) Point(record uint32) geo.Point {
	return geo.Point{Longitude: int32(x.points.At(2 * int(record))), Latitude: int32(x.points.At(2*int(record) + 1))}
}

// area is the condition that the position of a record is in a part of the world.
type area struct {
	*Index
	name              string
	contains          func(geo.Point) bool
	contained, border []ranks // of the cell order
	records           int     // in all ranges
	test              int     // time to test a record, in nanoseconds
}

// ranks is a range of the cell order.
type ranks struct{ from, to int }

func (r ranks) len() int { return r.to - r.from }

// InBox returns the condition that a record is in a box.
func (x *Index) InBox(st *guard.Steps, b geo.Box) plan.Condition {
	a := &area{Index: x, name: "in the box " + b.String(), contains: b.Contains, test: cost.BoxContains}
	a.addBox(st, b)
	return a
}

// InCircle returns the condition that a record is within a distance.
func (x *Index) InCircle(st *guard.Steps, c geo.Circle) plan.Condition {
	origin := geo.NewOrigin(c.Center)
	a := &area{Index: x, name: "near " + c.String(), test: cost.Distance, contains: func(p geo.Point) bool {
		return origin.Millimeters(p) <= c.Millimeters
	}}
	a.addBox(st, c.Bounds())
	a.contained, a.border = nil, append(a.border, a.contained...) // within the bounds, not within the circle
	return a
}

// addBox adds the ranges of a box.
func (a *area) addBox(st *guard.Steps, b geo.Box) {
	for _, part := range b.Parts() {
		a.addPart(st, part)
	}
	for _, r := range append(a.contained[:len(a.contained):len(a.contained)], a.border...) {
		a.records += r.len()
	}
}

// Scores returns scores by which the records of a circle are in the order of their distances: the
// millimeters to its border, or from its center.
func (x *Index) Scores(st *guard.Steps, c geo.Circle, order query.Distance) fulltext.Scores {
	origin, most := geo.NewOrigin(c.Center), min(c.Millimeters, geo.MaxMillimeters)
	return fulltext.Scores{Max: float64(most + 1), Begin: func(int) func([]uint32) []float64 {
		scores := make([]float64, bitmap.EachAtOnce)
		return func(records []uint32) []float64 {
			st.Add(len(records) * stepsPerTest)
			for i, record := range records {
				scores[i] = float64(origin.Millimeters(x.Point(record)))
				if order == query.NearestFirst {
					scores[i] = float64(most+1) - scores[i]
				}
			}
			return scores[:len(records)]
		}
	}}
}

// cell is a square of the world, in offsets from its south-west end.
type cell struct {
	x, y, size uint64
	ranks
}

// Limits of the division of a box into cells.
const (
	maxDivisions = 256 // of cells into four
	fewRecords   = 128 // in a cell that is not divided
)

// addPart adds the ranges of a box that does not cross the antimeridian. It divides the cell on the
// border with the most records until such cells have few, or are many.
func (a *area) addPart(st *guard.Steps, b geo.Box) {
	west, east := uint64(b.West+geo.MaxLongitude), uint64(b.East+geo.MaxLongitude)
	south, north := uint64(b.South+geo.MaxLatitude), uint64(b.North+geo.MaxLatitude)
	border := []cell{{size: 1 << 32, ranks: ranks{0, a.order.Len()}}}
	for range maxDivisions {
		largest := 0
		for i, c := range border {
			if c.len() > border[largest].len() {
				largest = i
			}
		}
		if len(border) == 0 || border[largest].len() <= fewRecords {
			break
		}
		divided := border[largest]
		border = append(border[:largest], border[largest+1:]...)
		for _, c := range a.divide(st, divided) {
			switch {
			case c.len() == 0 || c.x > east || c.x+c.size-1 < west || c.y > north || c.y+c.size-1 < south:
			case c.x >= west && c.x+c.size-1 <= east && c.y >= south && c.y+c.size-1 <= north:
				a.contained = append(a.contained, c.ranks)
			default:
				border = append(border, c)
			}
		}
	}
	for _, c := range border {
		a.border = append(a.border, c.ranks)
	}
}

// divide returns the four parts of a cell, in the order of their records. A cell of one unit is
// within a box or outside, so it is never divided.
func (x *Index) divide(st *guard.Steps, c cell) (parts [4]cell) {
	size, from := c.size/2, c.from
	for i := range parts {
		p := cell{c.x + uint64(i&1)*size, c.y + uint64(i>>1)*size, size, ranks{from, c.to}}
		if i < len(parts)-1 {
			st.Add(lookupSteps)
			next := geo.CellOf(uint32(c.x+uint64((i+1)&1)*size), uint32(c.y+uint64((i+1)>>1)*size))
			p.to = from + sort.Search(c.to-from, func(j int) bool { return x.Point(x.order.At(from+j)).Cell() >= next })
		}
		parts[i], from = p, p.to
	}
	return parts
}

// lookupSteps is the number of steps of a binary search in the cell order.
const lookupSteps = 8

func (a *area) Cost() plan.Cost {
	tested := 0
	for _, r := range a.border {
		tested += r.len()
	}
	return plan.Cost{Records: a.records, Fill: cost.SortedRow*a.records + (cost.ReadPoint+a.test)*tested,
		Contains: cost.ReadPoint + a.test}
}

func (a *area) Fill(st *guard.Steps, b *bitmap.Builder) {
	for _, r := range a.contained {
		b.AddRecords(st, a.order.Slice(r.from, r.to))
	}
	found := make([]uint32, 0, bitmap.EachAtOnce)
	for _, r := range a.border {
		for from := r.from; from < r.to; from += bitmap.EachAtOnce {
			found = found[:0]
			to := min(from+bitmap.EachAtOnce, r.to)
			st.Add((to - from) * stepsPerTest)
			for i := from; i < to; i++ {
				if record := a.order.At(i); a.contains(a.Point(record)) {
					found = append(found, record)
				}
			}
			b.AddList(st, found)
		}
	}
}

// stepsPerTest is the number of steps to test a position.
const stepsPerTest = 4

func (a *area) Contains(record uint32) bool {
	p := a.Point(record)
	return p.IsPosition() && a.contains(p)
}

func (a *area) String() string { return a.name }
