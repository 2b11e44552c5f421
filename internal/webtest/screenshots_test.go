package webtest_test

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/page"

	"herbarium/internal/testseed"
)

// picturesFolder contains the pictures of the documentation.
var picturesFolder = filepath.Join("..", "..", "docs", "pictures")

// maxPicture is the maximum size of a picture of the documentation in bytes.
const maxPicture = 150_000

// TestPictures takes screenshots of the main views as test artifacts; with -update it replaces those of the documentation.
func TestPictures(t *testing.T) {
	t.Parallel()
	if !*update && !testseed.Soak() {
		t.Skip("only soak runs take pictures; run `make soak` or `make pictures`")
	}
	s := newSite(t, nil)
	const columns = "&_column=id&_column=title&_column=category&_column=date&_column=image&_column=price&_column=tags"
	views := []struct {
		name, path string
		opts       tabOptions
		documented bool   // used in the documentation
		from       string // selector of the element at the top; empty: the page
	}{
		{"browser", catalog + "?category=perennial&category=succulent&sort=price&order=desc" + columns,
			tabOptions{height: 1000, scale: 1.5}, true, ""},
		{"browser-dark", catalog + "?search=garden&sort=date&order=desc" + columns,
			tabOptions{dark: true, height: 1000, scale: 1.5}, true, ".tabs"},
		{"record", catalog + "?category=succulent&_record=4" + columns, tabOptions{scale: 1.5}, true, ""},
		{"phone", catalog + "?tags=fragrant&sort=title&_column=title&_column=image", tabOptions{phone: true, scale: 2}, true, ".tabs"},
		{"phone-dark", catalog + "?category=succulent&_record=4", tabOptions{phone: true, dark: true, scale: 2}, true, ""},
		{"catalogue", "/", tabOptions{}, false, ""},
		{"reference", catalog + "/api", tabOptions{}, false, ""},
		{"versions", catalog + "/versions", tabOptions{dark: true}, false, ""},
		{"key", staff, tabOptions{}, false, ""},
		{"hostile", nasty, tabOptions{phone: true}, false, ""},
		{"nothing", catalog + "?search=nosuchword&category=herb", tabOptions{phone: true}, false, ""},
		{"docs", "/docs", tabOptions{dark: true}, false, ""},
	}
	for half := range 2 { // one tab each, so that they run in parallel
		t.Run(fmt.Sprint("half ", half), func(t *testing.T) {
			t.Parallel()
			b := open(t, s, tabOptions{fails: []int{401}})
			for i, view := range views {
				if i%2 != half {
					continue
				}
				folder := t.ArtifactDir()
				if *update && view.documented {
					folder = picturesFolder
				}
				b.dark(view.opts.dark)
				b.screen(view.opts)
				b.visit(view.path)
				b.settled()
				b.until(`[...document.images].map((i) => [i, i.getBoundingClientRect()])
				.filter(([, r]) => r.top < innerHeight && r.left < innerWidth - 48).map(([i]) => i)
				.every((i) => i.complete || i.closest(".scroll") && document.getElementById("record"))`)
				eval[bool](b, fmt.Sprintf(`(document.activeElement.blur(), document.querySelector(%q).scrollIntoView(),
				document.fonts.ready.then(() => true))`, cmp.Or(view.from, "body")))
				shot := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
				picture := shot.Data
				if *update && view.documented {
					if picture = compress(t, picture); len(picture) > maxPicture {
						t.Errorf("the picture has %d bytes; at most %d", len(picture), maxPicture)
					}
				}
				if err := os.WriteFile(filepath.Join(folder, view.name+".png"), picture, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// compress reduces a picture to its 256 most frequent colours.
func compress(t *testing.T, picture []byte) []byte {
	t.Helper()
	from, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	bounds := from.Bounds()
	times := map[color.NRGBA]int{}
	at := func(x, y int) color.NRGBA { return color.NRGBAModel.Convert(from.At(x, y)).(color.NRGBA) }
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			times[at(x, y)]++
		}
	}
	var all []color.NRGBA
	for c := range times {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.NRGBA) int { return times[b] - times[a] })
	var palette color.Palette
	for _, c := range all[:min(256, len(all))] {
		palette = append(palette, c)
	}
	index := map[color.NRGBA]uint8{}
	for c := range times {
		index[c] = uint8(palette.Index(c))
	}
	to := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			to.SetColorIndex(x, y, index[at(x, y)])
		}
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
