package webtest_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"slices"
	"testing"

	"herbarium/internal/must"
)

// frame is one picture of an animation.
type frame struct {
	picture []byte // PNG
	delay   int    // in hundredths of a second
}

// animate returns a GIF of frames of the same size. They share the 256 most frequent colors, and
// each contains only the rectangle that differs from the previous one.
func animate(t *testing.T, frames []frame) []byte {
	t.Helper()
	var pictures []image.Image
	times := map[color.NRGBA]int{}
	for _, f := range frames {
		picture, err := png.Decode(bytes.NewReader(f.picture))
		must.NoError(t, err)
		pictures = append(pictures, picture)
		countColors(picture, times)
	}
	palette, index := reduceColors(times)
	animation := gif.GIF{}
	var previous *image.Paletted
	for i, picture := range pictures {
		whole := paletted(picture, palette, index)
		part := whole
		if previous != nil {
			part = whole.SubImage(difference(previous, whole)).(*image.Paletted)
		}
		previous = whole
		if part.Bounds().Empty() { // nothing has changed: show the last frame longer
			animation.Delay[len(animation.Delay)-1] += frames[i].delay
			continue
		}
		animation.Image, animation.Delay = append(animation.Image, part), append(animation.Delay, frames[i].delay)
	}
	var out bytes.Buffer
	must.NoError(t, gif.EncodeAll(&out, &animation))
	return out.Bytes()
}

// difference returns the smallest rectangle that contains all pixels in which two pictures of the
// same size differ.
func difference(a, b *image.Paletted) (r image.Rectangle) {
	for y := range b.Rect.Dy() {
		rowA, rowB := a.Pix[y*a.Stride:][:b.Rect.Dx()], b.Pix[y*b.Stride:][:b.Rect.Dx()]
		if bytes.Equal(rowA, rowB) {
			continue
		}
		first, last := 0, len(rowB)
		for rowA[first] == rowB[first] {
			first++
		}
		for rowA[last-1] == rowB[last-1] {
			last--
		}
		r = r.Union(image.Rect(first, y, last, y+1))
	}
	return r
}

func colorAt(picture image.Image, x, y int) color.NRGBA {
	return color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)
}

// countColors adds the number of pixels of each color.
func countColors(picture image.Image, times map[color.NRGBA]int) {
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			times[colorAt(picture, x, y)]++
		}
	}
}

// reduceColors returns the 256 most frequent colors, and the nearest of them for each color.
func reduceColors(times map[color.NRGBA]int) (palette color.Palette, index map[color.NRGBA]uint8) {
	var all []color.NRGBA
	for c := range times {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.NRGBA) int { return times[b] - times[a] })
	for _, c := range all[:min(256, len(all))] {
		palette = append(palette, c)
	}
	index = map[color.NRGBA]uint8{}
	for c := range times {
		index[c] = uint8(palette.Index(c))
	}
	return palette, index
}

// paletted returns a picture with the colors of a palette.
func paletted(picture image.Image, palette color.Palette, index map[color.NRGBA]uint8) *image.Paletted {
	bounds := picture.Bounds()
	out := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			out.SetColorIndex(x, y, index[colorAt(picture, x, y)])
		}
	}
	return out
}
