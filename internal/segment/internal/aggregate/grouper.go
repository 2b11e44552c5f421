package aggregate

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// grouper maps records to the groups of one By field.
type grouper interface {
	// len returns the number of groups, or 0 if it is not known before all records were read.
	len() int
	// positions returns the position of each group in ascending order, the group of missing values
	// last; nil if groups are numbered in this order. It is called after all records were grouped.
	positions() []uint32
	// isMissing reports whether a group is that of missing values.
	isMissing(group uint32) bool
	label(group uint32) string
}

// recordGrouper is a grouper in which a record has one group.
type recordGrouper interface {
	// appendGroups appends the groups of some records.
	appendGroups(dst, records []uint32) []uint32
}

// intervals is a grouper whose groups are intervals.
type intervals interface {
	interval(group uint32) interval
	// following returns the interval after one; ok is false if there is none.
	following(interval) (next interval, ok bool)
}

const bytesPerInterval = 200 // with its texts

// interval is a group of values between two bounds.
type interval struct {
	label string
	start string // least value, in canonical form
	key   string // by which intervals are ordered
}

func (a *aggregation) newGrouper(b query.By) (grouper, error) {
	f := &a.input.Fields[b.Field]
	cycle, isCyclic := b.Grain.Cycle()
	if a.request.Zone != nil && b.UsesZone(a.input.Fields) && a.hasZone(b.Field) {
		times := zonedTimes{a.steps, a.input, b.Field, a.request.Zone}
		if isCyclic {
			return &zonedCycleGrouper{cycleGroups{cycle}, times}, nil
		}
		return newZoneGrouper(times, b.Grain), nil
	}
	values := valueGrouper{a.dictionary(b.Field)}
	switch {
	case f.Type == herb.TypeList:
		return &listGrouper{values}, nil
	case isCyclic:
		return newCycleGrouper(a.steps, values, cycle), nil
	case b.HasIntervals():
		return a.newIntervalGrouper(values, b)
	default:
		return &values, nil
	}
}

// hasZone reports whether a value of a datetime field has a zone.
func (a *aggregation) hasZone(field int) bool {
	return a.input.Columns[field].HasZone(a.steps)
}

// checkZone rejects a request whose zone has no effect.
func (a *aggregation) checkZone() error {
	if a.request.Zone == nil || a.request.AnyZone {
		return nil
	}
	uses := false
	for _, b := range a.request.By {
		if b.UsesZone(a.input.Fields) {
			uses = true
			if a.hasZone(b.Field) {
				return nil
			}
		}
	}
	if uses {
		return a.request.ErrUnusedZone()
	}
	return nil
}

// valueGrouper has a group for each value.
type valueGrouper struct{ dictionary *column.Dictionary }

func (g *valueGrouper) len() int { return g.dictionary.Len + 1 }

func (g *valueGrouper) appendGroups(dst, records []uint32) []uint32 {
	return g.dictionary.AppendCodes(dst, records)
}

func (g *valueGrouper) codes() *column.Dictionary { return g.dictionary }

func (g *valueGrouper) groupOf(code uint32) uint32 { return code }

func (g *valueGrouper) positions() []uint32 { return nil }

func (g *valueGrouper) isMissing(group uint32) bool { return int(group) == g.dictionary.Len }

func (g *valueGrouper) label(group uint32) string {
	if g.isMissing(group) {
		return ""
	}
	return g.dictionary.Value(group)
}

// listGrouper has a group for each element of a list field. A record is in the groups of all of its
// elements.
type listGrouper struct{ values valueGrouper }

func (g *listGrouper) len() int { return g.values.len() }

func (g *listGrouper) positions() []uint32 { return nil }

func (g *listGrouper) isMissing(group uint32) bool { return g.values.isMissing(group) }

func (g *listGrouper) label(group uint32) string { return g.values.label(group) }

// appendElements appends the groups of one record.
func (g *listGrouper) appendElements(dst []uint32, record uint32) []uint32 {
	n := len(dst)
	d := g.values.dictionary
	dst = d.AppendElements(dst, record)
	if len(dst) == n {
		dst = append(dst, uint32(d.Len))
	}
	return dst
}

// intervalGrouper has a group for each interval that contains a value of the dataset.
type intervalGrouper struct {
	values valueGrouper
	by     query.By
	index  column.IntervalIndex // by code
	all    []interval
	zoned  bool // labels of hours have a zone
}

func (a *aggregation) newIntervalGrouper(values valueGrouper, b query.By) (*intervalGrouper, error) {
	g, d := &intervalGrouper{values: values, by: b}, values.dictionary
	g.zoned = b.Grain == query.GrainHour && b.UsesZone(a.input.Fields) && a.hasZone(b.Field)
	var starts file.U32s
	for code := uint32(0); int(code) < d.Len; {
		canonical, _ := text.Canonical(d.Field, d.Value(code))
		a.steps.Add(intervalSteps + len(canonical))
		current := b.Interval(d.Field.Type, canonical)
		if current.Label == "" {
			return nil, herb.Invalidf(
				"%s=%s does not apply: field %q has a number of more than %d digits; group by another field",
				query.ParamBy, b.Name, d.Field.Name, query.MaxEdgeDigits)
		}
		if len(g.all) == query.MaxGroups {
			return nil, tooManyGroups(query.MaxGroups)
		}
		a.steps.Reserve(bytesPerInterval)
		starts = binary.LittleEndian.AppendUint32(starts, code)
		g.all = append(g.all, g.newInterval(current))
		if current.Next == "" {
			break
		}
		key, _ := text.Key(d.Field.Type, current.Next)
		code = d.Find(code, key)
	}
	starts = binary.LittleEndian.AppendUint32(starts, uint32(d.Len)) // missing values
	g.index = column.NewIntervalIndex(a.steps, starts, d.Len+1)
	return g, nil
}

func (g *intervalGrouper) len() int { return len(g.all) + 1 }

func (g *intervalGrouper) appendGroups(dst, records []uint32) []uint32 {
	start := len(dst)
	dst = g.values.appendGroups(dst, records)
	for i, code := range dst[start:] {
		dst[start+i] = g.groupOf(code)
	}
	return dst
}

func (g *intervalGrouper) codes() *column.Dictionary { return g.values.dictionary }

func (g *intervalGrouper) groupOf(code uint32) uint32 { return g.index.At(code) }

func (g *intervalGrouper) positions() []uint32 { return nil }

func (g *intervalGrouper) isMissing(group uint32) bool { return int(group) == len(g.all) }

func (g *intervalGrouper) label(group uint32) string {
	if g.isMissing(group) {
		return ""
	}
	return g.all[group].label
}

func (g *intervalGrouper) interval(group uint32) interval { return g.all[group] }

func (g *intervalGrouper) following(i interval) (next interval, ok bool) {
	t := g.values.dictionary.Field.Type
	if after := g.by.Interval(t, i.start).Next; after != "" {
		following := g.by.Interval(t, after)
		return g.newInterval(following), following.Label != "" // else it has too many digits
	}
	return interval{}, false
}

func (g *intervalGrouper) newInterval(i query.Interval) interval {
	f := g.values.dictionary.Field
	key, _ := text.Key(f.Type, i.From)
	label := i.Label
	if g.by.Width != "" {
		label = text.Localize(f, label)
	}
	if !g.zoned {
		label = g.by.Grain.WithoutZone(label)
	}
	return interval{label: label, start: i.From, key: key}
}

// zonedTimes reads the datetimes of a field in a time zone. Whether a value has a zone is only
// known from how it is written: values that are equal in UTC can be in different groups. So it
// reads each record.
type zonedTimes struct {
	steps *guard.Steps
	input Input
	field int
	zone  *time.Location
}

// zoneSteps is the number of steps to read a record in a time zone.
const zoneSteps = 8

// each calls f for some records, with the time of the record; ok is false if it has none.
func (z *zonedTimes) each(records []uint32, f func(at time.Time, ok bool)) {
	field := &z.input.Fields[z.field]
	for _, rec := range records {
		z.steps.Add(zoneSteps)
		at, zoned, ok := text.ParseDateTime(field, z.input.Value(rec, z.field))
		if zoned {
			at = at.In(z.zone)
		}
		f(at, ok)
	}
}

// zoneGrouper groups datetimes by intervals in a time zone.
type zoneGrouper struct {
	zonedTimes
	grain  query.Grain
	groups []zoneGroup
	ids    map[string]uint32 // by label
}

type zoneGroup struct {
	label string
	start time.Time // in UTC; of the local date if the grain is longer than an hour
}

// missingZoneGroup is the group of missing values.
const missingZoneGroup = 0

func newZoneGrouper(times zonedTimes, g query.Grain) *zoneGrouper {
	return &zoneGrouper{zonedTimes: times, grain: g, groups: make([]zoneGroup, 1), ids: map[string]uint32{}}
}

func (g *zoneGrouper) len() int { return 0 }

func (g *zoneGrouper) appendGroups(dst, records []uint32) []uint32 {
	g.each(records, func(at time.Time, ok bool) {
		if ok {
			dst = append(dst, g.group(at))
		} else {
			dst = append(dst, missingZoneGroup)
		}
	})
	return dst
}

// group returns the group of a time in its zone.
func (g *zoneGrouper) group(at time.Time) uint32 {
	start := g.grain.Start(at)
	label := g.grain.Label(start)
	id, ok := g.ids[label]
	if !ok {
		if g.grain != query.GrainHour {
			year, month, day := start.Date()
			start = time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		}
		if len(g.groups) > query.MaxGroups {
			guard.Fail(tooManyGroups(query.MaxGroups))
		}
		g.steps.Reserve(bytesPerInterval)
		id = uint32(len(g.groups))
		g.groups, g.ids[label] = append(g.groups, zoneGroup{label, start.UTC()}), id
	}
	return id
}

func (g *zoneGrouper) positions() []uint32 {
	g.steps.Add(len(g.groups))
	order := make([]uint32, len(g.groups)-1)
	for i := range order {
		order[i] = uint32(i + 1)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		g.steps.Add(1)
		return cmp.Or(g.groups[a].start.Compare(g.groups[b].start),
			strings.Compare(g.groups[a].label, g.groups[b].label))
	})
	positions := make([]uint32, len(g.groups))
	for position, group := range order {
		positions[group] = uint32(position)
	}
	positions[missingZoneGroup] = uint32(len(order))
	return positions
}

func (g *zoneGrouper) isMissing(group uint32) bool { return group == missingZoneGroup }

func (g *zoneGrouper) label(group uint32) string { return g.groups[group].label }

func (g *zoneGrouper) interval(group uint32) interval {
	key := g.groups[group].start.Format(text.CanonicalDateTime)
	return interval{label: g.groups[group].label, start: key, key: key}
}

func (g *zoneGrouper) following(i interval) (next interval, ok bool) {
	start, err := time.Parse(text.CanonicalDateTime, i.start)
	after := g.grain.Next(start)
	if err != nil || after.Year() > 9999 {
		return interval{}, false
	}
	key := after.Format(text.CanonicalDateTime)
	if g.grain == query.GrainHour {
		after = after.In(g.zone)
	}
	return interval{label: g.grain.Label(after), start: key, key: key}, true
}
