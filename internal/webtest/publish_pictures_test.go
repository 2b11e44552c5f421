package webtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"

	"herbarium/internal/must"
	"herbarium/internal/testseed"
)

// TestPublishingPictures takes screenshots of every state of publishing in both themes and three
// widths as test artifacts; with -update it replaces the one of the documentation.
func TestPublishingPictures(t *testing.T) {
	t.Parallel()
	if !*update && !testseed.Soak() {
		t.Skip("only soak runs take pictures; run `make soak` or `make pictures`")
	}
	s := newPress(t, nil)
	const ref = "nursery/stock"
	press.publishText(t, ref, "stock.csv", priceList(1200, false))
	b := open(t, s, tabOptions{Width: 1440, Fails: []int{401, 409}})
	folder := t.ArtifactDir()
	shoot := func() []byte {
		t.Helper()
		eval[bool](b, `(document.activeElement.blur(), document.fonts.ready.then(() => true))`)
		return call(b, page.CaptureScreenshot,
			page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng}).Data
	}
	take := func(name string) {
		t.Helper()
		for _, width := range []int64{1440, 768, 360} {
			b.Screen(tabOptions{Width: width, Height: 900, Phone: width < 500})
			for _, theme := range []string{"light", "dark"} {
				b.Dark(theme == "dark")
				must.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, width, theme)),
					shoot(), 0o644))
			}
		}
		b.Dark(false)
		b.Screen(tabOptions{Width: 1440})
	}
	b.Visit("/publish")
	take("key")
	b.enterKey()
	take("start")
	b.chooseFiles(ref, file(t, "autumn-2026.csv", priceList(4812, true)))
	b.send()
	take("review")
	eval[bool](b, `(document.getElementById("rows").scrollTop = 1e6, true)`)
	take("review-end")
	b.Screen(tabOptions{Phone: true})
	eval[bool](b, `(document.getElementById("rows").scrollTop = 0, document.getElementById("rows").scrollIntoView(), true)`)
	must.NoError(t, os.WriteFile(filepath.Join(folder, "review-rows-360.png"), shoot(), 0o644))
	b.Screen(tabOptions{Width: 1440})
	if *update {
		picture := compress(t, shoot())
		if len(picture) > maxPicture {
			t.Errorf("the picture has %d bytes; at most %d", len(picture), maxPicture)
		}
		must.NoError(t, os.WriteFile(filepath.Join(picturesFolder, "publish.png"), picture, 0o644))
	}
	b.Click(".publish-foot .primary")
	b.Until(`document.querySelector(".settings .notice")`)
	b.reviewed()
	take("no-consent")
	b.change(func() { b.setValue("#type-1", "number") })
	take("wrong-type")
	b.edit(func() { b.Click("th.wrong button[value^=undo]") })
	b.edit(func() { b.Click("button[value='hide 4']") })
	b.edit(func() { b.Click(b.Pick(".breaking-change button", "Treat as missing")) })
	b.edit(func() { b.Click("#r4 .label") })
	take("edited")
	b.Click("[name=consent]")
	b.Click(".publish-foot .primary")
	b.live(ref)
	take("live")
	b.Visit("/datasets/" + ref + "/versions")
	b.settled()
	b.Click(".rollback summary")
	take("versions")
	b.Visit("/publish")
	b.chooseFiles(ref, file(t, "broken.json", "[{\"a\": 1},\n{\"a\": oops}]\n"))
	b.send()
	take("broken")
	b.Visit("/publish")
	b.chooseFiles("nursery/book",
		file(t, "book.xlsx", workbook(t, "Prices", "code,price;a,1;b,2", "Staff", "name,room;Ana,7;Bo,8")))
	b.send()
	take("tables")
	b.Visit("/publish")
	take("drafts")
	b.Visit("/")
	b.settled()
	take("catalogue")
}

// priceList returns a price list of a nursery: the live one, or a newer one with a title, a
// footnote, a new column and some prices in words.
func priceList(rows int, newer bool) string {
	plants := []string{"Dog rose", "Lady fern", "Hazel", "Wood anemone", "Field maple", "Spindle",
		"Guelder rose", "Yew"}
	places := []string{`"sun,hedge"`, `"shade,pots"`, `"sun,hedge"`, "shade", `"sun,hedge"`, `"sun,shade"`,
		`"shade,wet"`}
	var b strings.Builder
	if newer {
		b.WriteString("\"Price list of the nursery on the hill, autumn 2026\",,,,,\n,,,,,\n")
	}
	b.WriteString("Code,name,sold_since,price,where")
	if newer {
		b.WriteString(",weight")
	}
	b.WriteString("\n")
	for i := range rows {
		price := fmt.Sprintf("\"%d,%d0 €\"", 6+i%17, i%10)
		if word := map[int]string{3: "from 8 €", 900: "2 for 5 €", 1800: "from 12 €"}[i%2500]; newer && word != "" {
			price = word
		}
		fmt.Fprintf(&b, "%05d,%s,%02d.%02d.20%02d,%s,%s", 41+i, plants[i%len(plants)], i%28+1, i%12+1, 18+i%8, price,
			places[i%len(places)])
		if newer {
			fmt.Fprintf(&b, ",%d.%d", i%6, i%10)
		}
		b.WriteString("\n")
	}
	if newer {
		b.WriteString(",,,,,\n\"Prices include tax. Printed 14 Nov 2026.\",,,,,\n")
	}
	return b.String()
}
