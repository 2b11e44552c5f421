package share

import (
	"embed"
	"image/color"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/norm"
)

//go:embed fonts/*.otf
var fontFiles embed.FS

// typeface is a font. Its glyphs are read without shaping, so it draws scripts only that need none.
type typeface struct{ font *sfnt.Font }

// typefaces are the fonts of previews.
type typefaces struct{ regular, bold typeface }

// loadTypefaces parses the embedded fonts. It panics if they are invalid.
var loadTypefaces = sync.OnceValue(func() typefaces {
	load := func(name string) typeface {
		data, err := fontFiles.ReadFile("fonts/" + name)
		if err != nil {
			panic(err)
		}
		f, err := sfnt.Parse(data)
		if err != nil {
			panic(err)
		}
		return typeface{f}
	}
	return typefaces{load("inter-regular.otf"), load("inter-semibold.otf")}
})

// maxDrawn is the number of bytes of a text that are drawn and measured, which are wider than a
// preview.
const maxDrawn = 2_000

// drawn returns the characters of a text that are drawn, composed.
func drawn(text string) string {
	end := min(len(text), maxDrawn)
	for end < len(text) && end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return norm.NFC.String(text[:end])
}

// CanDraw reports whether the fonts of previews have all characters of a text. They are those of
// languages in Latin, Greek and Cyrillic letters.
func CanDraw(text string) bool {
	var buf sfnt.Buffer
	face := loadTypefaces().regular
	for _, r := range drawn(text) {
		if unicode.IsSpace(r) {
			continue
		}
		if i, err := face.font.GlyphIndex(&buf, r); err != nil || i == 0 {
			return false
		}
	}
	return true
}

// glyphs returns the outlines of the drawn characters of a text of a size that begins at the
// origin, and its width.
func (f typeface) glyphs(text string, size float64) (s shape, width float64) {
	var buf sfnt.Buffer
	em := fixed.Int26_6(size * 64)
	last := sfnt.GlyphIndex(0)
	x := 0.0
	for _, r := range drawn(text) {
		i, err := f.font.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		if kern, err := f.font.Kern(&buf, last, i, em, font.HintingNone); err == nil && last != 0 {
			x += float64(kern) / 64
		}
		// Outlines are read at 16 times the size: coordinates are multiples of 1/64.
		const finer = 16
		segments, err := f.font.LoadGlyph(&buf, i, finer*em, nil)
		if err != nil {
			continue
		}
		s = append(s, outline(segments, transform{x, 0, 1.0 / (64 * finer), 1})...)
		if advance, err := f.font.GlyphAdvance(&buf, i, em, font.HintingNone); err == nil {
			x += float64(advance) / 64
		}
		last = i
	}
	return s, x
}

// outline returns the contours of a glyph.
func outline(segments sfnt.Segments, t transform) (s shape) {
	at := point{}
	to := func(p fixed.Point26_6) point { return point{float64(p.X), float64(p.Y)} }
	add := func(p point) {
		if last := len(s) - 1; last >= 0 {
			s[last] = append(s[last], t.apply(p))
		}
	}
	for _, g := range segments {
		switch g.Op {
		case sfnt.SegmentOpMoveTo:
			s = append(s, nil)
			at = to(g.Args[0])
			add(at)
		case sfnt.SegmentOpLineTo:
			at = to(g.Args[0])
			add(at)
		case sfnt.SegmentOpQuadTo: // as a cubic curve
			c, end := to(g.Args[0]), to(g.Args[1])
			a := point{at.x + 2*(c.x-at.x)/3, at.y + 2*(c.y-at.y)/3}
			b := point{end.x + 2*(c.x-end.x)/3, end.y + 2*(c.y-end.y)/3}
			for _, p := range curve(at, a, b, end) {
				add(p)
			}
			at = end
		case sfnt.SegmentOpCubeTo:
			end := to(g.Args[2])
			for _, p := range curve(at, to(g.Args[0]), to(g.Args[1]), end) {
				add(p)
			}
			at = end
		}
	}
	return s
}

// label is a text at a position: its start, its middle or its end is at x, its baseline at y.
type label struct {
	x, y, size float64
	anchor     string // "start", "middle" or "end"
	face       typeface
	color      color.NRGBA
	text       string
}

// write draws a text.
func (c *canvas) write(l label) {
	s, width := l.face.glyphs(l.text, l.size)
	x := l.x
	switch l.anchor {
	case "middle":
		x -= width / 2
	case "end":
		x -= width
	}
	for _, contour := range s {
		for i, p := range contour {
			contour[i] = point{x + p.x, l.y + p.y}
		}
	}
	c.fill(s, l.color)
}

// advances returns the width of each prefix of a text, without its outlines.
func (f typeface) advances(runes []rune, size float64) []float64 {
	var buf sfnt.Buffer
	em := fixed.Int26_6(size * 64)
	widths, last, x := make([]float64, len(runes)), sfnt.GlyphIndex(0), 0.0
	for k, r := range runes {
		if i, err := f.font.GlyphIndex(&buf, r); err == nil {
			if kern, err := f.font.Kern(&buf, last, i, em, font.HintingNone); err == nil && last != 0 {
				x += float64(kern) / 64
			}
			if advance, err := f.font.GlyphAdvance(&buf, i, em, font.HintingNone); err == nil {
				x += float64(advance) / 64
			}
			last = i
		}
		widths[k] = x
	}
	return widths
}

// width returns the width of the drawn characters of a text.
func (f typeface) width(text string, size float64) float64 {
	widths := f.advances([]rune(drawn(text)), size)
	if len(widths) == 0 {
		return 0
	}
	return widths[len(widths)-1]
}

// fit returns a text cut to a width, with an ellipsis where it was.
func (f typeface) fit(text string, size, width float64) string {
	if f.width(text, size) <= width && len(text) <= maxDrawn {
		return text
	}
	runes, n := []rune(drawn(text)), 0
	left := width - f.width("…", size)
	for k, w := range f.advances(runes, size) {
		if w > left {
			break
		}
		n = k + 1
	}
	return cut(runes, n)
}

func cut(runes []rune, n int) string {
	return strings.TrimRightFunc(string(runes[:n]), unicode.IsSpace) + "…"
}
