package column

import (
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// HasZone reports whether a value of a datetime field has a zone, as the first record with this
// value writes it. The values are read once.
func (c *Column) HasZone(st *guard.Steps) bool {
	if known := c.zone.Load(); known != nil {
		return *known
	}
	found, values := false, c.newRunValues(st, c.Distinct())
	for run := 0; run < c.Distinct() && !found; run++ {
		st.Add(1)
		_, found, _ = text.ParseDateTime(&c.Field, string(values.at(run)))
	}
	c.zone.Store(&found)
	return found
}
