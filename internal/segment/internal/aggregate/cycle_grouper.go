package aggregate

import (
	"time"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// cycleGroups are the groups of a cycle in their natural order, then that of missing values.
type cycleGroups struct{ query.Cycle }

func (g cycleGroups) len() int { return g.Len + 1 }

func (g cycleGroups) positions() []uint32 { return nil }

func (g cycleGroups) isMissing(group uint32) bool { return int(group) == g.Len }

func (g cycleGroups) label(group uint32) string {
	if g.isMissing(group) {
		return ""
	}
	return g.Label(int(group))
}

func (g cycleGroups) cycle() query.Cycle { return g.Cycle }

// cycleGrouper groups the values of a field by a cycle.
type cycleGrouper struct {
	cycleGroups
	values valueGrouper
	groups []uint8 // by code
}

// newCycleGrouper finds the groups of all values, one interval at a time.
func newCycleGrouper(st *guard.Steps, values valueGrouper, c query.Cycle) *cycleGrouper {
	d := values.dictionary
	st.Reserve(d.Len + 1)
	g := &cycleGrouper{cycleGroups{c}, values, make([]uint8, d.Len+1)}
	g.groups[d.Len] = uint8(c.Len)
	for code := uint32(0); int(code) < d.Len; {
		canonical, _ := text.Canonical(d.Field, d.Value(code))
		st.Add(intervalSteps)
		position, next := c.Find(d.Field.Type, canonical)
		end := uint32(d.Len)
		if next != "" {
			key, _ := text.Key(d.Field.Type, next)
			end = d.Find(code, key)
		}
		for ; code < end; code++ {
			g.groups[code] = uint8(position)
		}
	}
	return g
}

func (g *cycleGrouper) appendGroups(dst, records []uint32) []uint32 {
	start := len(dst)
	dst = g.values.appendGroups(dst, records)
	for i, code := range dst[start:] {
		dst[start+i] = g.groupOf(code)
	}
	return dst
}

func (g *cycleGrouper) codes() *column.Dictionary { return g.values.dictionary }

func (g *cycleGrouper) groupOf(code uint32) uint32 { return uint32(g.groups[code]) }

// zonedCycleGrouper groups datetimes by a cycle in a time zone.
type zonedCycleGrouper struct {
	cycleGroups
	zonedTimes
}

func (g *zonedCycleGrouper) appendGroups(dst, records []uint32) []uint32 {
	g.each(records, func(at time.Time, ok bool) {
		if ok {
			dst = append(dst, uint32(g.Position(at)))
		} else {
			dst = append(dst, uint32(g.Len))
		}
	})
	return dst
}
