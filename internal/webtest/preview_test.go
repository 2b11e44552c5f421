package webtest_test

import (
	"strings"
	"testing"
)

// TestPreview opens the menu that shares a filtered view: it shows the picture that other sites
// show. Without a script, it does as well.
func TestPreview(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.Visit(catalog + "?category=tree")
		b.settled()
		if got := eval[string](b, "document.title"); !strings.Contains(got, " of 513 rows, category is tree") {
			b.Errorf("the title is %q", got)
		}
		b.Click("#share > summary")
		b.Until(`document.querySelector("#share img").naturalWidth === 1200`)
		if got := eval[string](b, `document.querySelector("#share img").src`); got != eval[string](b,
			`document.querySelector("meta[property='og:image']").content`) {
			b.Errorf("the menu shows %s", got)
		}
		if script { // the menu follows the view
			b.Press("\x1b")
			b.follow(".chip .x")
			b.Click("#share > summary")
			b.Until(`!document.querySelector("#share img").src.includes("category")`)
		}
	})
}
