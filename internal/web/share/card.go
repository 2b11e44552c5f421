// Package share draws previews: images of a view that other sites show beside a link to it.
//
// A Card is text, and the map, the chart or the distributions of the view. Its image depends on
// nothing else, so that it can be cached by what the card was built from.
package share

import (
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"

	"herbarium/internal/web/view/plot"
)

// Card is the content of a preview.
type Card struct {
	Path    string // where the dataset is, such as "geo / Earthquakes"
	Heading string // such as "223 of 23,412 rows"
	Detail  string // what they have in common
	Site    string // host of the site

	// One of these is drawn.
	Map     *Map
	Figure  *plot.Figure
	Number  string // the value of a chart without groups
	Columns []Column
}

// Map is rows at places. Its unit is a tenth of a degree; y increases to the south.
type Map struct {
	Land                []Land
	Stretch             float64 // width of a unit from west to east, relative to its height
	MinX, MinY          float64 // of what is shown
	MaxX, MaxY          float64
	All, Matching       []Dot
	HighestAll, Highest int // counts
}

// Land is SVG path data of the coast, which is scaled and moved by X.
type Land struct {
	Path     string
	Scale, X float64
}

// Dot is a number of rows at a place.
type Dot struct {
	X, Y  float64
	Count int
}

// Column is the distribution of a column: of the matching rows before that of all rows.
type Column struct {
	Name        string
	Bars        []Bar
	Values      []Bar // of a column with few values, instead
	Left, Right string
}

// Bar has shares of the highest one, from 0 to 1.
type Bar struct {
	Label         string
	Share, Behind float64
}

// The colors of previews: those of the dark theme.
var (
	ground = color.NRGBA{0x0f, 0x13, 0x11, 0xff}
	land   = color.NRGBA{0x1a, 0x21, 0x1d, 0xff}
	ink    = color.NRGBA{0xe9, 0xed, 0xe7, 0xff}
	muted  = color.NRGBA{0x98, 0xa3, 0x9b, 0xff}
	green  = color.NRGBA{0x5f, 0xd3, 0x9a, 0xff}
	dim    = color.NRGBA{0x2b, 0x5b, 0x43, 0xff}
	line   = color.NRGBA{0x2c, 0x35, 0x30, 0xff}
)

const (
	margin  = 64
	inside  = Width - 2*margin
	top     = 256.0 // of what is drawn below the text
	bottom  = 528.0
	heading = 60.0 // size of the text
	detail  = 32.0
)

// The area of a chart.
const (
	FigureWidth  = inside
	FigureHeight = bottom + 20 - top
)

// MemorySize is about how many bytes it takes to draw a preview.
const MemorySize = 4*Width*Height + 2<<20

// Draw writes the preview as a PNG file.
func (card *Card) Draw(w io.Writer) error {
	c := newCanvas(ground)
	faces := loadTypefaces()
	switch {
	case card.Map != nil:
		c.drawMap(card.Map)
		c.fade(int(top)-100, int(top)+40, color.NRGBA{ground.R, ground.G, ground.B, 0xd8})
	case card.Figure != nil:
		c.drawFigure(card.Figure, faces)
	case card.Number != "":
		c.write(label{margin, 420, 150, "start", faces.bold, green, faces.bold.fit(card.Number, 150, inside)})
	default:
		c.drawColumns(card.Columns, faces)
	}
	write := func(y, size float64, face typeface, col color.NRGBA, text string) {
		c.write(label{margin, y, size, "start", face, col, face.fit(text, size, inside)})
	}
	write(84, 28, faces.regular, muted, card.Path)
	size := heading // long headings are smaller
	if width := faces.bold.width(card.Heading, heading); width > inside {
		size = math.Max(40, heading*inside/width)
	}
	write(152, size, faces.bold, ink, card.Heading)
	write(204, detail, faces.regular, green, card.Detail)
	c.stroke(parsePath(leaf, transform{margin - 2, 556, 1.3, 1}), 2.2, green)
	c.write(label{margin + 42, 582, 26, "start", faces.regular, ink, faces.regular.fit(card.Site, 26, inside-42)})
	return png.Encode(w, c.image)
}

// leaf is the icon of the site.
const leaf = "M12 22V9M12 16c-4.5 0-7-2.5-7-7 4.5 0 7 2.5 7 7Zm0-4c0-4.5 2.5-7.5 7-9 .5 5.5-2 9-7 9Z"

// drawMap draws the land and the rows, which fill the image.
func (c *canvas) drawMap(m *Map) {
	const edge = 16
	scale := math.Min((Width-2*edge)/(m.Stretch*(m.MaxX-m.MinX)), (Height-2*edge)/(m.MaxY-m.MinY))
	t := transform{Width/2 - (m.MinX+m.MaxX)/2*m.Stretch*scale, Height/2 - (m.MinY+m.MaxY)/2*scale, scale, m.Stretch}
	for _, l := range m.Land {
		c.fill(parsePath(l.Path, transform{t.x + l.X*m.Stretch*scale, t.y, l.Scale * scale, m.Stretch}), land)
	}
	dots := func(all []Dot, highest int) (s shape) {
		for _, d := range all {
			size := 2.4
			if highest > 1 {
				size += 3.6 * math.Log(float64(d.Count)) / math.Log(float64(highest))
			}
			s = append(s, circle(t.apply(point{d.X, d.Y}), size))
		}
		return s
	}
	c.fill(dots(m.All, m.HighestAll), dim)
	c.fill(dots(m.Matching, m.Highest), green)
}

// drawColumns draws distributions side by side.
func (c *canvas) drawColumns(columns []Column, faces typefaces) {
	const gap = 40.0
	width := (inside - gap*float64(len(columns)-1)) / math.Max(1, float64(len(columns)))
	width = math.Min(width, 500)
	for i, column := range columns {
		x := margin + float64(i)*(width+gap)
		c.write(label{x, top + 22, 25, "start", faces.regular, muted, faces.regular.fit(column.Name, 25, width)})
		if column.Values != nil {
			c.drawValues(column.Values, x, width, faces)
			continue
		}
		const base, high = bottom - 34, 170.0
		step := width / float64(len(column.Bars))
		var behind, before shape
		for k, b := range column.Bars {
			left := x + float64(k)*step
			behind = append(behind, rectangle(left, base-high*b.Behind, step*.88, high*b.Behind))
			before = append(before, rectangle(left, base-high*b.Share, step*.88, high*b.Share))
		}
		c.fill(behind, dim)
		c.fill(before, green)
		c.write(label{x, bottom, 23, "start", faces.regular, muted, faces.regular.fit(column.Left, 23, width/2-8)})
		c.write(label{x + width, bottom, 23, "end", faces.regular, muted,
			faces.regular.fit(column.Right, 23, width/2-8)})
	}
}

// drawValues draws a bar for each value, with its label above.
func (c *canvas) drawValues(values []Bar, x, width float64, faces typefaces) {
	const high, thick = 58.0, 12.0
	for i, v := range values {
		y := top + 56 + float64(i)*high
		c.write(label{x, y, 22, "start", faces.regular, ink, faces.regular.fit(v.Label, 22, width)})
		c.fill(shape{rectangle(x, y+9, width*v.Behind, thick)}, dim)
		c.fill(shape{rectangle(x, y+9, width*v.Share, thick)}, green)
	}
}

// drawFigure draws a chart of the pages, as large as possible.
func (c *canvas) drawFigure(f *plot.Figure, faces typefaces) {
	scale := math.Min(FigureWidth/f.Width, FigureHeight/f.Height)
	t := transform{margin, top - 10, scale, 1}
	for _, s := range f.Shapes {
		p := parsePath(s.Path, t)
		col, opacity := colorOf(s.Class)
		col.A = uint8(255 * opacity)
		switch classes := strings.Fields(s.Class); classes[0] {
		case "rule":
			c.stroke(p, 1.2, col)
		case "curve":
			c.stroke(p, map[bool]float64{true: 5, false: 2.6}[len(classes) > 1 && classes[1] == "dot"]*scale, col)
		default:
			c.fill(p, col)
		}
	}
	for _, l := range f.Texts {
		face, size, col := faces.regular, 13.0, ink
		for class := range strings.FieldsSeq(l.Class) {
			switch class {
			case "tick":
				size, col = 12, muted
			case "name":
				face = faces.bold
				col, _ = colorOf(l.Class)
			}
		}
		at := t.apply(point{l.X, l.Y})
		if !CanDraw(l.Text) {
			l.Text = "…"
		}
		c.write(label{at.x, at.y, size * scale, l.Anchor, face, col, l.Text})
	}
}

// colorOf returns the color and the opacity of a class of the style sheet of charts.
func colorOf(classes string) (col color.NRGBA, opacity float64) {
	col, opacity = green, 1
	for class := range strings.FieldsSeq(classes) {
		switch {
		case class == "rule":
			col = line
		case class == "faint":
			opacity = .6
		case class == "base":
			col = muted
		case class == "none":
			col = land
		case class == "soft":
			col = dim
		case len(class) == 2 && class[0] == 's' && class[1] >= '0' && class[1] <= '8':
			col = parseColor(plot.Palette()[class[1]-'0'].Dark)
		case len(class) == 2 && class[0] == 'h' && class[1] >= '1' && class[1] <= '6':
			opacity = plot.HeatOpacities()[class[1]-'1']
		}
	}
	return col, opacity
}

// parseColor returns an opaque color that is written as in style sheets, such as #5fd39a.
func parseColor(s string) color.NRGBA {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32)
	if err != nil {
		panic(err) // it is a constant
	}
	return color.NRGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 0xff}
}
