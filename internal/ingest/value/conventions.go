package value

import (
	"slices"
)

// conventions are the notations of a table that some column shows beyond doubt. They decide between
// the possible notations of ambiguous columns.
type conventions struct {
	decimal string       // decimal separator, a point or a comma; empty: unknown or contradictory
	dates   []dateFormat // of the columns of dates with only one possible format
}

// conventions returns the conventions of the table, after the last row.
func (p *Profiler) conventions() *conventions {
	if p.found != nil {
		return p.found
	}
	p.found = &conventions{}
	var decimals []string
	for _, c := range p.columns {
		// numbers say nothing about text beside them
		isEvidence := c.number.holds() && !c.numbers.bare && !c.numbers.isTyped
		if decimal := c.numbers.decimal(); isEvidence && decimal != "" && !slices.Contains(decimals, decimal) {
			decimals = append(decimals, decimal)
		}
		if f := c.dates.dateFormats(); c.date.holds() && len(f) == 1 && !slices.Contains(p.found.dates, f[0]) {
			p.found.dates = append(p.found.dates, f[0])
		}
	}
	if len(decimals) == 1 {
		p.found.decimal = decimals[0]
	}
	return p.found
}

// dateFormat returns the only one of several formats that some column shows. ok is false if no
// column or several decide.
func (c *conventions) dateFormat(formats []dateFormat) (format dateFormat, ok bool) {
	shown := without(formats, func(f dateFormat) bool { return !slices.Contains(c.dates, f) })
	if len(shown) != 1 {
		return format, false
	}
	return shown[0], true
}
