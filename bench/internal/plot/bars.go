package plot

// Bars compares series by category, each category a group of bars that lie one above the other.
type Bars struct {
	Title    string
	Subtitle string
	Labels   []string // one for each value of the series
	Series   []Series
}

// SVG draws it.
func (b Bars) SVG() []byte {
	const width, left, right, top, thick, gap = 900, 325.0, 80.0, 92.0, 11.0, 12.0
	group := thick*float64(len(b.Series)) + gap
	bottom := top + group*float64(len(b.Labels))
	c := newCanvas(width, int(bottom)+34, b.Title, b.Subtitle)
	c.legend(left, 72, b.Series)

	var all []float64
	for _, s := range b.Series {
		all = append(all, s.Values...)
	}
	x := logAxis(all, left, width-right)
	for _, t := range x.ticks() {
		c.line("g", x.at(t), top-6, x.at(t), bottom)
		c.text("m", "middle", x.at(t), bottom+16, tick(t))
	}
	for i, label := range b.Labels {
		y := top + group*float64(i)
		c.text("", "end", left-10, y+(group-gap)/2+4, label)
		for k, s := range b.Series {
			v := s.Values[i]
			if v <= 0 {
				continue
			}
			barY := y + thick*float64(k)
			c.add(`<rect class="f%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="1.5"/>`, s.Color, left, barY, max(1, x.at(v)-left), thick-1)
			c.text("v", "start", x.at(v)+5, barY+thick-2, Seconds(v))
		}
	}
	return c.end()
}
