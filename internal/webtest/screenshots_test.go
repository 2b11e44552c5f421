package webtest_test

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"

	"herbarium/internal/must"
	"herbarium/internal/testseed"
)

// picturesFolder contains the pictures of the documentation.
var picturesFolder = filepath.Join("..", "..", "docs", "pictures")

// maxPicture is the maximum size of a picture of the documentation in bytes.
const maxPicture = 150_000

// TestPictures takes screenshots of the main views as test artifacts; with -update it replaces
// those of the documentation.
func TestPictures(t *testing.T) {
	t.Parallel()
	if !*update && !testseed.Soak() {
		t.Skip("only soak runs take pictures; run `make soak` or `make pictures`")
	}
	s := newSite(t, nil)
	const columns = "&_fields=title,image,category,date,price,tags,status"
	views := []struct {
		name, path string
		opts       tabOptions
		documented bool   // used in the documentation
		from       string // selector of the element at the top; empty: the page
	}{
		{"browser", catalog + "?category=perennial&category=succulent&sort=price&order=desc" + columns,
			tabOptions{Width: 1440, Height: 900}, true, ""},
		{"browser-dark", catalog + "?search=garden&sort=date&order=desc" + columns,
			tabOptions{Dark: true, Width: 1440, Height: 900}, true, ""},
		{"record", catalog + "?category=succulent&_record=4" + columns, tabOptions{Width: 1440, Height: 900}, true, ""},
		{"phone", catalog + "?tags=fragrant&sort=title&_fields=title,image,price,category",
			tabOptions{Phone: true, Width: 390, Height: 844, Scale: 2}, true, ""},
		{"phone-dark", catalog + "?category=succulent&_record=4",
			tabOptions{Phone: true, Dark: true, Scale: 2}, true, ""},
		{"catalogue", "/", tabOptions{}, false, ""},
		{"chart", catalog + "/chart?_by=date:quarter&_by=category&_measure=sum:price",
			tabOptions{Width: 1440, Height: 900}, false, ""},
		{"chart-dark", catalog + "/chart?_by=category&_by=status",
			tabOptions{Dark: true, Width: 1440, Height: 900}, false, ""},
		{"chart-phone", catalog + "/chart?_by=category", tabOptions{Phone: true}, false, ""},
		{"reference", catalog + "/api", tabOptions{}, false, ""},
		{"versions", catalog + "/versions", tabOptions{Dark: true}, false, ""},
		{"key", staff, tabOptions{}, false, ""},
		{"hostile", nasty, tabOptions{Phone: true}, false, ""},
		{"nothing", catalog + "?search=nosuchword&category=herb", tabOptions{Phone: true}, false, ""},
		{"docs", "/docs", tabOptions{Dark: true}, false, ""},
	}
	for half := range 2 { // one tab each, so that they run in parallel
		t.Run(fmt.Sprint("half ", half), func(t *testing.T) {
			t.Parallel()
			b := open(t, s, tabOptions{Fails: []int{401}})
			for i, view := range views {
				if i%2 != half {
					continue
				}
				folder := t.ArtifactDir()
				if *update && view.documented {
					folder = picturesFolder
				}
				b.Dark(view.opts.Dark)
				b.Screen(view.opts)
				b.Visit(view.path)
				b.settled()
				b.Until(`[...document.images].filter((i) => i.checkVisibility()).map((i) => [i, i.getBoundingClientRect()])
				.filter(([, r]) => r.top < innerHeight && r.left < innerWidth - 48).map(([i]) => i)
				.every((i) => i.complete || i.closest("#grid") && document.getElementById("record"))`)
				eval[bool](b, fmt.Sprintf(`(document.activeElement.blur(), document.querySelector(%q).scrollIntoView(),
				document.fonts.ready.then(() => true))`, cmp.Or(view.from, "body")))
				shot := call(b, page.CaptureScreenshot,
					page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
				picture := shot.Data
				if *update && view.documented {
					picture = compress(t, picture)
					if len(picture) > maxPicture {
						t.Errorf("the picture has %d bytes; at most %d", len(picture), maxPicture)
					}
				}
				must.NoError(t, os.WriteFile(filepath.Join(folder, view.name+".png"), picture, 0o644))
			}
		})
	}
}

// maxAnimation is the maximum size of an animation of the documentation in bytes.
const maxAnimation = 600_000

// TestAnimation records how the grid changes while a search is typed, a test artifact; with -update
// it replaces the animation of the documentation.
func TestAnimation(t *testing.T) {
	t.Parallel()
	if !*update && !testseed.Soak() {
		t.Skip("only soak runs take pictures; run `make soak` or `make pictures`")
	}
	b := open(t, newSite(t, nil), tabOptions{Width: 1200, Height: 640})
	b.Visit(catalog)
	b.settled()
	var frames []frame
	shoot := func(delay int) {
		b.Helper()
		b.settled()
		shot := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
		frames = append(frames, frame{shot.Data, delay})
	}
	b.Fill("#search", "")
	shoot(120)
	for i, letter := range "garden" {
		b.next(func() { b.Press(string(letter)) })
		b.Until(`new URLSearchParams(location.search).get("search") === ` + quote("garden"[:i+1]+"*"))
		shoot(25)
	}
	b.next(func() { b.Press(" r") })
	b.Until(`new URLSearchParams(location.search).get("search") === "garden r*"`)
	shoot(250)
	animation := animate(t, frames)
	if len(animation) > maxAnimation {
		t.Errorf("the animation has %d bytes; at most %d", len(animation), maxAnimation)
	}
	folder := t.ArtifactDir()
	if *update {
		folder = picturesFolder
	}
	must.NoError(t, os.WriteFile(filepath.Join(folder, "typing.gif"), animation, 0o644))
}

// compress reduces a picture to its 256 most frequent colors.
func compress(t *testing.T, picture []byte) []byte {
	t.Helper()
	from, err := png.Decode(bytes.NewReader(picture))
	must.NoError(t, err)
	times := map[color.NRGBA]int{}
	countColors(from, times)
	palette, index := reduceColors(times)
	var out bytes.Buffer
	must.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, paletted(from, palette, index)))
	return out.Bytes()
}
