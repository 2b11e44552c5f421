package charts

import (
	"cmp"
	"fmt"
	"math"

	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// Picture is a chart as a file of its own, which is shown without its page: it has a title, says
// which rows it shows, and names its source and the date.
type Picture struct {
	state.Picture
	Figure      plot.Figure
	Name        string // title, and the chart as a sentence if the title is another
	Description string
	Lines       []PictureLine
	Big         string // instead of a figure
	BigSize     float64
	BigY        float64
	Small       bool // a preview has no texts
	Left, Top   float64
	Width       float64
	Height      float64
}

// ViewBox returns the area of the picture.
func (p *Picture) ViewBox() string { return fmt.Sprint(p.Left, p.Top, p.Width, p.Height) }

// PictureLine is a line of text above or below the chart.
type PictureLine struct {
	Class, Text string
	Y           float64
	Href        string // empty: none
}

// Caption is what a picture says of its rows.
type Caption struct {
	Rows   string
	Source string // date, and address of the dataset
	Link   string // address of the chart
}

// The sizes of a picture in pixels.
const (
	pictureMargin = 20
	titleSize     = 17
	titlePitch    = 23
	notePitch     = 18
	longestNote   = 4 // lines
)

// NewPicture returns the picture of an answer.
func NewPicture(a *Answer, look state.Picture, c Caption) *Picture {
	p := &Picture{Picture: look, Name: a.Title, Big: a.Big, Left: -pictureMargin, Width: float64(look.WidthOr())}
	inner := p.Width - 2*pictureMargin
	p.Figure = a.File(inner)
	if len(a.Figures) > 0 {
		p.Description = a.Figures[0].Description
	}
	height := p.Figure.Height
	if a.Big != "" {
		const largest, bold = 72, 1.1
		p.BigSize = math.Floor(min(largest, inner/plot.TextWidth(a.Big, bold)))
		p.BigY, height = p.BigSize, math.Ceil(1.3*p.BigSize)
	} else if height == 0 {
		height = notePitch
		p.Lines = append(p.Lines, PictureLine{Class: "note", Text: cmp.Or(a.Unknown, "There is nothing to draw."),
			Y: notePitch / 2})
	}
	var above []PictureLine
	y := 0.0
	write := func(to *[]PictureLine, text, class, href string, size, pitch float64, most int) {
		for _, line := range plot.Wrap(text, size, inner, most) {
			y += pitch
			*to = append(*to, PictureLine{Class: class, Text: line, Y: y, Href: href})
		}
	}
	const bold = 1.08
	if p.Title != "" {
		p.Name = p.Title + ": " + a.Title
		write(&above, p.Title, "title", "", titleSize*bold, titlePitch, state.MaxPictureTitle)
		write(&above, a.Title, "note", "", 13, notePitch, longestNote)
	} else {
		write(&above, a.Title, "title", "", titleSize*bold, titlePitch, longestNote)
	}
	p.Top = -(y + pictureMargin + 8)
	for i := range above {
		above[i].Y += p.Top + pictureMargin - 5
	}
	y = height + pictureMargin/2
	p.Lines = append(above, p.Lines...)
	write(&p.Lines, c.Rows, "tick", "", 12, notePitch, longestNote)
	write(&p.Lines, c.Source, "tick", c.Link, 12, notePitch, longestNote)
	p.Height = y - p.Top + pictureMargin
	return p
}

// NewPreview returns the small picture of an answer.
func NewPreview(a *Answer) *Picture {
	p := &Picture{Name: a.Title, Big: a.Big, Small: true, Figure: a.Small(), Width: 124, Height: 46}
	if a.Big != "" {
		const bold = 1.1
		p.BigSize, p.BigY = math.Floor(min(32, p.Width/plot.TextWidth(a.Big, bold))), 35
	}
	return p
}
