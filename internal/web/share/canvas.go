package share

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"

	"golang.org/x/image/vector"
)

// The size of a preview in pixels, which all services that show previews accept.
const (
	Width  = 1200
	Height = 630
)

type point struct{ x, y float64 }

// shape is contours: polygons to fill, or lines to stroke.
type shape [][]point

// canvas is an image with anti-aliased shapes.
type canvas struct {
	image  *image.RGBA
	raster vector.Rasterizer
}

func newCanvas(background color.NRGBA) *canvas {
	c := &canvas{image: image.NewRGBA(image.Rect(0, 0, Width, Height))}
	draw.Draw(c.image, c.image.Bounds(), image.NewUniform(background), image.Point{}, draw.Src)
	return c
}

// bounds returns the pixels of the canvas that a shape may cover.
func (c *canvas) bounds(s shape) image.Rectangle {
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, contour := range s {
		for _, p := range contour {
			low.x, low.y = math.Min(low.x, p.x), math.Min(low.y, p.y)
			high.x, high.y = math.Max(high.x, p.x), math.Max(high.y, p.y)
		}
	}
	if low.x > high.x {
		return image.Rectangle{}
	}
	pixel := func(v float64, most int) int { return int(math.Max(0, math.Min(v, float64(most)))) }
	return image.Rect(pixel(math.Floor(low.x), Width), pixel(math.Floor(low.y), Height),
		pixel(math.Ceil(high.x), Width), pixel(math.Ceil(high.y), Height))
}

// fill fills a shape. Contours that overlap are one area, as long as they turn the same way.
func (c *canvas) fill(s shape, col color.NRGBA) {
	r := c.bounds(s)
	if r.Empty() {
		return
	}
	c.raster.Reset(r.Dx(), r.Dy())
	c.raster.DrawOp = draw.Over
	at := func(p point) (float32, float32) {
		return float32(p.x - float64(r.Min.X)), float32(p.y - float64(r.Min.Y))
	}
	for _, contour := range s {
		contour = clip(contour)
		if len(contour) < 3 {
			continue
		}
		c.raster.MoveTo(at(contour[0]))
		for _, p := range contour[1:] {
			c.raster.LineTo(at(p))
		}
		c.raster.ClosePath()
	}
	c.raster.Draw(c.image, r, image.NewUniform(col), image.Point{})
}

// clip cuts a polygon to the canvas and a margin around it: the rasterizer takes no coordinates of
// millions of pixels, which the coast of an enlarged map has.
func clip(contour []point) []point {
	const margin = 100
	for _, edge := range []struct {
		inside func(p point) bool
		cross  func(a, b point) point
	}{
		{func(p point) bool { return p.x >= -margin }, crossX(-margin)},
		{func(p point) bool { return p.x <= Width+margin }, crossX(Width + margin)},
		{func(p point) bool { return p.y >= -margin }, crossY(-margin)},
		{func(p point) bool { return p.y <= Height+margin }, crossY(Height + margin)},
	} {
		if !slices.ContainsFunc(contour, func(p point) bool { return !edge.inside(p) }) {
			continue
		}
		var kept []point
		for i, p := range contour {
			last := contour[(i+len(contour)-1)%len(contour)]
			if edge.inside(p) != edge.inside(last) {
				kept = append(kept, edge.cross(last, p))
			}
			if edge.inside(p) {
				kept = append(kept, p)
			}
		}
		contour = kept
	}
	return contour
}

// crossX returns the function for the point at which a line crosses a vertical line.
func crossX(x float64) func(a, b point) point {
	return func(a, b point) point { return point{x, a.y + (b.y-a.y)*(x-a.x)/(b.x-a.x)} }
}

// crossY returns the function for the point at which a line crosses a horizontal line.
func crossY(y float64) func(a, b point) point {
	return func(a, b point) point { return point{a.x + (b.x-a.x)*(y-a.y)/(b.y-a.y), y} }
}

// stroke draws lines with round ends and corners.
func (c *canvas) stroke(s shape, width float64, col color.NRGBA) {
	var outline shape
	for _, line := range s {
		for i, p := range line {
			outline = append(outline, circle(p, width/2))
			if i == 0 {
				continue
			}
			from := line[i-1]
			dx, dy := p.x-from.x, p.y-from.y
			length := math.Hypot(dx, dy)
			if length == 0 {
				continue
			}
			nx, ny := -dy/length*width/2, dx/length*width/2
			outline = append(outline, []point{{from.x - nx, from.y - ny}, {p.x - nx, p.y - ny}, {p.x + nx, p.y + ny},
				{from.x + nx, from.y + ny}})
		}
	}
	c.fill(outline, col)
}

// rectangle returns the contour of a rectangle.
func rectangle(x, y, width, height float64) []point {
	return []point{{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}}
}

// circle returns the contour of a circle, which turns as rectangles do.
func circle(center point, radius float64) []point {
	n := min(max(8, int(4*radius)), 1_000)
	contour := make([]point, n)
	for i := range contour {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		contour[i] = point{center.x + radius*cos, center.y + radius*sin}
	}
	return contour
}

// fade draws a color that is opaque above one line and transparent below another.
func (c *canvas) fade(opaque, transparent int, col color.NRGBA) {
	for y := range transparent {
		row := image.Rect(0, y, Width, y+1)
		alpha := col
		if y > opaque {
			alpha.A = uint8(float64(col.A) * float64(transparent-y) / float64(transparent-opaque))
		}
		draw.Draw(c.image, row, image.NewUniform(alpha), image.Point{}, draw.Over)
	}
}
