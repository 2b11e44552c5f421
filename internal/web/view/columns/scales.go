package columns

import (
	"math"
	"strconv"
	"sync"

	"herbarium/internal/query"
)

// scales are the numbers of a version whose charts have logarithmic intervals. They depend on the
// values, so they are counted when a chart needs them first.
type scales struct {
	mu  sync.Mutex
	log map[int]string // nil: not known
}

// ReadScales decides which number fields are skewed, from facets that count returns. It does so
// once per version; other calls do nothing.
func (c *Columns) ReadScales(count func(fields []int) ([]query.Facet, error)) error {
	c.scales.mu.Lock()
	defer c.scales.mu.Unlock()
	if c.scales.log != nil {
		return nil
	}
	const few = 20 // values, which need no intervals
	var fields []int
	for i, m := range c.Meanings {
		if m.Kind == KindNumber && m.Report != nil && m.Report.Distinct > few && len(fields) < query.MaxFacetFields {
			fields = append(fields, i)
		}
	}
	var facets []query.Facet
	if len(fields) > 0 {
		var err error
		facets, err = count(fields)
		if err != nil {
			return err
		}
	}
	c.scales.log = map[int]string{}
	for k, facet := range facets {
		if first := firstLogWidth(facet); first != "" {
			c.scales.log[fields[k]] = first
		}
	}
	return nil
}

// LogWidth returns the width of the first logarithmic interval of a field beside zero; empty if the
// field is not skewed, or not known to be.
func (c *Columns) LogWidth(field int) string {
	c.scales.mu.Lock()
	defer c.scales.mu.Unlock()
	return c.scales.log[field]
}

// firstLogWidth returns a power of ten not above the least positive bound of a logarithmic
// histogram, and not too far below the greatest one; empty if the histogram is not logarithmic.
func firstLogWidth(facet query.Facet) string {
	const decades = 8
	if facet.Scale != query.ScaleLog {
		return ""
	}
	least, greatest := math.Inf(1), 0.0
	for _, b := range facet.Histogram {
		for _, bound := range []string{b.From, b.To} {
			if n, err := strconv.ParseFloat(bound, 64); err == nil && n != 0 {
				least, greatest = min(least, math.Abs(n)), max(greatest, math.Abs(n))
			}
		}
	}
	power := max(math.Floor(math.Log10(least)), math.Floor(math.Log10(greatest))-decades)
	if math.IsInf(power, 0) || math.IsNaN(power) {
		return ""
	}
	return strconv.FormatFloat(math.Pow(10, power), 'f', -1, 64)
}
