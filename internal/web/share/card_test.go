package share_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/web/share"
	"herbarium/internal/web/view/plot"
)

// draw draws a card twice and returns the image, which is the same.
func draw(t *testing.T, card share.Card) image.Image {
	t.Helper()
	var first, second bytes.Buffer
	must.NoError(t, card.Draw(&first))
	must.NoError(t, card.Draw(&second))
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("a card has two images")
	}
	img, err := png.Decode(&first)
	must.NoError(t, err)
	if img.Bounds() != image.Rect(0, 0, share.Width, share.Height) {
		t.Fatalf("the image is %v", img.Bounds())
	}
	return img
}

// shade returns which color a pixel has: the ground, dim, bright, or another one.
func shade(img image.Image, x, y int) string {
	for name, want := range map[string]color.RGBA{
		"ground": {0x0f, 0x13, 0x11, 0xff}, "dim": {0x2b, 0x5b, 0x43, 0xff}, "bright": {0x5f, 0xd3, 0x9a, 0xff},
		"land": {0x1a, 0x21, 0x1d, 0xff},
	} {
		if r, g, b, _ := img.At(x, y).RGBA(); near(r, want.R) && near(g, want.G) && near(b, want.B) {
			return name
		}
	}
	return "other"
}

func near(got uint32, want uint8) bool { d := int(got>>8) - int(want); return d*d <= 16 }

// covered returns the share of the pixels of an area that are not the ground.
func covered(img image.Image, area image.Rectangle) float64 {
	n := 0
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			if shade(img, x, y) != "ground" {
				n++
			}
		}
	}
	return float64(n) / float64(area.Dx()*area.Dy())
}

func TestCard_map(t *testing.T) {
	t.Parallel()
	img := draw(t, share.Card{
		Heading: "1 of 2 rows", Detail: "magnitude ≥ 7.5", Site: "data.example.org",
		Map: &share.Map{
			Stretch: 1, Land: []share.Land{{Path: "M-900 0H0V300H-900z", Scale: 2}}, MinX: -1800, MinY: -900,
			MaxX: 1800, MaxY: 900,
			All:      []share.Dot{{X: 900, Y: 300, Count: 1}, {X: 1200, Y: 300, Count: 8}},
			Matching: []share.Dot{{X: 1200, Y: 300, Count: 1}}, HighestAll: 8, Highest: 1,
		},
	})
	pixel := func(x, y float64) (int, int) {
		const scale = (share.Width - 32) / 3600.0
		return int(share.Width/2 + x*scale), int(share.Height/2 + y*scale)
	}
	for _, tt := range []struct {
		x, y float64
		want string
	}{{900, 300, "dim"}, {1200, 300, "bright"}, {1000, 300, "ground"}, {-900, 300, "land"}} {
		if x, y := pixel(tt.x, tt.y); shade(img, x, y) != tt.want {
			t.Errorf("%v, %v is %s, want %s", tt.x, tt.y, shade(img, x, y), tt.want)
		}
	}
	for name, area := range map[string]image.Rectangle{
		"heading": image.Rect(64, 104, 400, 156), "detail": image.Rect(64, 180, 300, 206),
		"site": image.Rect(106, 562, 300, 584), "icon": image.Rect(64, 556, 96, 590),
	} {
		if share := covered(img, area); share < 0.08 || share > 0.8 {
			t.Errorf("the %s covers %.2f of its area", name, share)
		}
	}
}

func TestCard_columns(t *testing.T) {
	t.Parallel()
	img := draw(t, share.Card{Columns: []share.Column{
		{Name: "price", Bars: []share.Bar{{Share: 1, Behind: 1}, {Share: 0.5, Behind: 1}, {Behind: 0.5}, {}}, Left: "0",
			Right: "100"},
		{Name: "category", Values: []share.Bar{{Label: "tree", Share: 0.5, Behind: 1}, {Label: "herb", Behind: 0.25}}},
	}})
	// The bars are 125 pixels apart, and end at y 494.
	for _, tt := range []struct {
		x, y int
		want string
	}{
		{100, 350, "bright"}, {225, 350, "dim"}, {225, 450, "bright"}, {350, 350, "ground"}, {350, 450, "dim"},
		{475, 450, "ground"},
		{650, 326, "bright"}, {1000, 326, "dim"}, {620, 384, "dim"}, {1000, 384, "ground"},
	} {
		if got := shade(img, tt.x, tt.y); got != tt.want {
			t.Errorf("%d, %d is %s, want %s", tt.x, tt.y, got, tt.want)
		}
	}
}

func TestCard_chart(t *testing.T) {
	t.Parallel()
	figure := plot.Figure{Width: share.FigureWidth, Height: share.FigureHeight, Shapes: []plot.Shape{
		{Class: "box s1", Path: "M0 0h100v100h-100z"}, {Class: "rule base", Path: "M200 0V200"},
		{Class: "curve s2", Path: "M300 0L400 100"},
	}, Texts: []plot.Text{{X: 500, Y: 100, Anchor: "end", Class: "name s1", Text: "植物"}}}
	img := draw(t, share.Card{Figure: &figure})
	if got := shade(img, 114, 296); got != "bright" {
		t.Errorf("the box is %s", got)
	}
	for name, area := range map[string]image.Rectangle{"rule": image.Rect(263, 250, 266, 440),
		"curve": image.Rect(412, 294, 416, 298), "label": image.Rect(550, 335, 566, 348)} {
		if covered(img, area) == 0 {
			t.Errorf("there is no %s", name)
		}
	}
	if got := covered(draw(t, share.Card{Number: "42.5"}), image.Rect(64, 300, 400, 430)); got < 0.1 {
		t.Errorf("the number covers %.2f of its area", got)
	}
}

func TestCanDraw(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"223 of 23,412 rows": true, "magnitude ≥ 7.5 · 1965 – 2016": true, "Ångström, Çelik, e\u0301": true,
		"Ωμέγα": true, "Растения": true, "“a” \t b": true,
		"植物園": false, "نباتات": false, "ไม้": false, "🌱": false, "": true,
	} {
		if got := share.CanDraw(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func BenchmarkCard(b *testing.B) {
	m := &share.Map{MinX: -1800, MinY: -900, MaxX: 1800, MaxY: 900, HighestAll: 9, Highest: 9}
	for i := range 5000 {
		m.All = append(m.All, share.Dot{X: float64(i*37%3600) - 1800, Y: float64(i*91%1800) - 900, Count: i%9 + 1})
	}
	m.Matching = m.All[:500]
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		must.NoError(b, (&share.Card{Heading: "500 of 5,000 rows", Detail: "magnitude ≥ 7.5", Map: m}).Draw(&out))
	}
	b.ReportMetric(float64(out.Len()), "bytes")
}

// TestCard_longTexts checks that all texts of a card are cut before they are measured: those of
// earlier versions may have megabytes.
func TestCard_longTexts(t *testing.T) {
	t.Parallel()
	card := func(text string) share.Card {
		return share.Card{Path: text, Heading: text, Detail: text, Site: text, Columns: []share.Column{
			{Name: text, Left: text, Right: text, Bars: []share.Bar{{Share: 1}, {Share: .5}}},
			{Name: text, Values: []share.Bar{{Label: text, Share: 1}}},
		}}
	}
	long, longer := draw(t, card(strings.Repeat("ä", 10_000))), draw(t, card(strings.Repeat("ä", 2<<20)))
	if !reflect.DeepEqual(long, longer) {
		t.Error("the length of a text that does not fit changes the image")
	}
	draw(t, share.Card{Heading: "x", Number: strings.Repeat("9", 2<<20)})
	if !share.CanDraw(strings.Repeat("a", 2<<20)) || share.CanDraw("植物") {
		t.Error("what can be drawn depends on the length")
	}
}
