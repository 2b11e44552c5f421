// Package plot draws durations as SVG, on logarithmic axes, readable on light and on dark pages.
package plot

import (
	"bytes"
	"fmt"
	"html"
	"math"
)

// Color is one of the colours that can be told apart on both kinds of pages.
type Color int

// The colours.
const (
	Green Color = iota
	Orange
	Gray
)

// Series is a row of values of one thing.
type Series struct {
	Name   string
	Color  Color
	Dashed bool
	Values []float64 // seconds; 0 where there is none
}

// style gives each colour twice. A plot has its own background, because a page may be dark where the reader's system is
// light.
const style = `<style>
.bg{fill:#fff}text{fill:#1f2328;font:12px system-ui,-apple-system,"Segoe UI",sans-serif}.h{font-size:15px;font-weight:600}
.p{font-weight:600}.m,.v{fill:#59636e;font-size:11px}.v{font-size:10px}.g{stroke:#d1d9e0;stroke-width:1}
.f0{fill:#1a7f4b}.f1{fill:#c4611a}.f2{fill:#8c959f}.s0{stroke:#1a7f4b}.s1{stroke:#c4611a}.s2{stroke:#8c959f}
.l{fill:none;stroke-width:2}.d{stroke-dasharray:5 4}
@media (prefers-color-scheme:dark){
.bg{fill:#0d1117}text{fill:#e6edf3}.m,.v{fill:#9198a1}.g{stroke:#30363d}
.f0{fill:#3fb950}.f1{fill:#f0883e}.f2{fill:#6e7681}.s0{stroke:#3fb950}.s1{stroke:#f0883e}.s2{stroke:#6e7681}}
</style>
`

// canvas is a drawing under way.
type canvas struct{ bytes.Buffer }

func newCanvas(width, height int, title, subtitle string) *canvas {
	c := &canvas{}
	c.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`,
		width, height, width, height, html.EscapeString(title))
	c.WriteString(style)
	c.add(`<rect class="bg" width="%d" height="%d" rx="6"/>`, width, height)
	c.text("h", "start", 20, 28, title)
	c.text("m", "start", 20, 46, subtitle)
	return c
}

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(c, format+"\n", args...) }

func (c *canvas) text(class, anchor string, x, y float64, s string) {
	c.add(`<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor, html.EscapeString(s))
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.add(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

// legend names the series in a row.
func (c *canvas) legend(x, y float64, series []Series) {
	for _, s := range series {
		if s.Dashed {
			c.line(fmt.Sprintf("l s%d d", s.Color), x, y-4, x+22, y-4)
		} else {
			c.add(`<rect class="f%d" x="%.1f" y="%.1f" width="22" height="8" rx="2"/>`, s.Color, x, y-8)
		}
		c.text("", "start", x+28, y, s.Name)
		x += 28 + 7*float64(len(s.Name)) + 24
	}
}

func (c *canvas) end() []byte {
	c.WriteString("</svg>\n")
	return c.Bytes()
}

// axis maps values to a stretch of whole powers of ten.
type axis struct {
	low, high float64 // powers of ten
	from, to  float64 // coordinates
}

// logAxis holds all values above 0.
func logAxis(values []float64, from, to float64) axis {
	least, most := math.Inf(1), 0.0
	for _, v := range values {
		if v > 0 {
			least, most = min(least, v), max(most, v)
		}
	}
	if most == 0 {
		least, most = 1e-3, 1e-3
	}
	a := axis{low: math.Floor(math.Log10(least)), high: math.Ceil(math.Log10(most)), from: from, to: to}
	if a.high == a.low {
		a.high++
	}
	return a
}

func (a axis) at(v float64) float64 {
	return a.from + (math.Log10(v)-a.low)/(a.high-a.low)*(a.to-a.from)
}

// ticks are the powers of ten on the axis.
func (a axis) ticks() []float64 {
	var out []float64
	for e := a.low; e <= a.high; e++ {
		out = append(out, math.Pow(10, e))
	}
	return out
}

// Seconds writes a duration with three digits.
func Seconds(s float64) string {
	switch {
	case s >= 0.9995:
		return digits(s) + " s"
	case s >= 0.9995e-3:
		return digits(s*1e3) + " ms"
	default:
		return digits(s*1e6) + " µs"
	}
}

func digits(v float64) string {
	switch {
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// tick writes a power of ten without digits that say nothing.
func tick(s float64) string {
	switch {
	case s > 0.9:
		return fmt.Sprintf("%.0f s", s)
	case s > 0.9e-3:
		return fmt.Sprintf("%.0f ms", s*1e3)
	default:
		return fmt.Sprintf("%.4g µs", s*1e6)
	}
}
