package webtest_test

import (
	"net/url"
	"strings"
	"testing"
)

// TestPicture edits the title of a picture, and checks that the files are drawn with the font that
// they contain.
func TestPicture(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(catalog + "/chart?_by=category&status=published")
	b.settled()
	b.Click("#picture > summary")
	const title = `Plants <b>"2024"</b> & more`
	query := "&_title=" + url.QueryEscape(title) + "&status=published"
	b.Fill("#picture input[name=_title]", title)
	b.next(func() { b.Click("#picture form button") })
	b.wantQuery("_by=category" + query)
	if b.Text(".answer h2") != title || eval[bool](b, `!document.querySelector("#picture").open`) {
		t.Errorf("the heading is %q", b.Text(".answer h2"))
	}
	b.next(func() {
		eval[bool](b, `(() => { const s = document.querySelector("#picture select"); s.value = "dark"; return s.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	})
	b.wantQuery("_by=category&_theme=dark" + query)
	if got := b.Text("#picture code"); !strings.Contains(got,
		`alt="Plants &lt;b&gt;&#34;2024&#34;&lt;/b&gt; &amp; more"`) || !strings.Contains(got,
		"/chart.svg?status=published&_by=category&_title=") && !strings.Contains(got,
		"/chart.svg?status=published&amp;_by=category&amp;_title=") {
		t.Errorf("the element for other pages is %s", got)
	}
	b.Visit(eval[string](b, `document.querySelector("[data-png]").dataset.png`))
	fonts := eval[string](b,
		`document.fonts.ready.then((fonts) => [...fonts].map((f) => f.family + " " + f.status).join())`)
	if title := eval[string](b, `document.querySelector(".title").textContent`); fonts != "Inter loaded" ||
		title != `Plants <b>"2024"</b> & more` {
		t.Errorf("the file has the fonts %q and the title %q", fonts, title)
	}
}
