package comparisons

import (
	"math"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Version is a kept version in a list.
type Version struct {
	Name   string
	Date   string // when it was published, for readers
	Time   string // the time of that day
	ISO    string // both for programs
	Live   bool
	Labels []string
	// Message is what the publisher says about the version; empty: nothing.
	Message string
	Rows    int
	Href    string // link to what changed in it since the previous version; empty: that is unknown
	IsFrom  bool   // it is one of the compared versions
	IsTo    bool   // like IsFrom
	Counts  *Counts
}

// NewVersion returns the description of a version.
func NewVersion(d *herb.Dataset, isLive bool) Version {
	t := d.Published.UTC()
	return Version{
		Name: d.Version, Live: isLive, Rows: d.Records, Labels: d.Labels, Message: d.Message,
		Date: t.Format("2 Jan 2006"), Time: t.Format("15:04"), ISO: t.Format("2006-01-02T15:04:05Z"),
	}
}

// Counts are the numbers of changes of a version, with bars.
type Counts struct {
	Added, Removed, Changed int
	Bars                    []Bar
}

// Total returns the number of all changes.
func (c *Counts) Total() int { return c.Added + c.Removed + c.Changed }

// Width returns the width of the picture of the bars.
func (*Counts) Width() int { return barsWidth }

// Bar is the bar of a kind of changes.
type Bar struct {
	Op       query.ChangeOp
	X, Width float64
}

// barsWidth is the width of the longest bars of a list of versions.
const barsWidth = 240

// NewCounts returns the counts of versions; nil for those whose changes are unknown. The length of
// a bar is the square root of the number, so that a few changes are visible beside thousands.
func NewCounts(versions []*herb.RecordChanges) []*Counts {
	const gap, least = 2, 2
	length := func(n int) float64 { return math.Sqrt(float64(n)) }
	longest := 0.0
	for _, c := range versions {
		if c != nil {
			longest = max(longest, length(c.Added)+length(c.Changed)+length(c.Removed))
		}
	}
	counts := make([]*Counts, len(versions))
	for i, c := range versions {
		if c == nil {
			continue
		}
		counts[i] = &Counts{Added: c.Added, Removed: c.Removed, Changed: c.Changed}
		x := 0.0
		for _, part := range []struct {
			op query.ChangeOp
			n  int
		}{{query.OpAdded, c.Added}, {query.OpChanged, c.Changed}, {query.OpRemoved, c.Removed}} {
			if part.n == 0 {
				continue
			}
			width := math.Round(max(least, (barsWidth-2*gap-2*least)*length(part.n)/longest))
			counts[i].Bars = append(counts[i].Bars, Bar{part.op, x, width})
			x += width + gap
		}
	}
	return counts
}
