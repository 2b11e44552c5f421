package plot

import (
	"fmt"
	"strings"
)

// Color is a color of a chart in the light and in the dark theme.
type Color struct{ Light, Dark string }

// Palette returns the colors of the series of a chart. The first one is that of the sum of all
// others.
func Palette() []Color {
	return []Color{
		{"#6d766f", "#8a958d"}, {"#1f7a4d", "#5fd39a"}, {"#a34a14", "#f0a56b"}, {"#2a65a8", "#7db4ee"},
		{"#84479a", "#cf9be0"},
		{"#7d6110", "#e2c15f"}, {"#0f7280", "#63cbd8"}, {"#b0325e", "#f395b4"}, {"#55606b", "#aab6c2"},
	}
}

// HeatOpacities returns how opaque the cells of a heat map are, from the lowest values to the
// highest.
func HeatOpacities() []float64 { return []float64{.16, .3, .45, .6, .78, 1} }

// PageStyle returns the style sheet with the colors of charts on pages, in both themes.
func PageStyle() string {
	var b strings.Builder
	for i, c := range Palette() {
		fmt.Fprintf(&b, ".s%d { --series: light-dark(%s, %s); }\n", i, c.Light, c.Dark)
	}
	writeHeat(&b)
	return b.String()
}

// FileStyle returns the style sheet with the colors of a chart in a file of its own.
func FileStyle() string {
	var b strings.Builder
	palette := Palette()
	for i, c := range palette {
		fmt.Fprintf(&b, ".s%d{fill:%s}.curve.s%d{fill:none;stroke:%s}", i, c.Light, i, c.Light)
	}
	for i := range HeatOpacities() {
		fmt.Fprintf(&b, ".h%d{fill:%s}", i+1, palette[1].Light)
	}
	writeHeat(&b)
	return b.String()
}

// DarkFileStyle returns the style sheet that gives the series in a file their colors in the dark
// theme.
func DarkFileStyle() string {
	var b strings.Builder
	palette := Palette()
	for i, c := range palette {
		fmt.Fprintf(&b, ".s%d{fill:%s}.curve.s%d{stroke:%s}", i, c.Dark, i, c.Dark)
	}
	fmt.Fprintf(&b, ".h1,.h2,.h3,.h4,.h5,.h6{fill:%s}", palette[1].Dark)
	return b.String()
}

func writeHeat(b *strings.Builder) {
	for i, opacity := range HeatOpacities() {
		fmt.Fprintf(b, ".h%d{opacity:%v}", i+1, opacity)
	}
}
