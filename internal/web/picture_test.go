package web_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/web"
)

// svgTexts returns the texts of an SVG file outside of its style sheet. It fails unless the file is
// well-formed XML, which browsers require of images, and loads nothing.
func svgTexts(t *testing.T, file string) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(file))
	for in := ""; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("%v in %.300s", err, file)
		}
		switch e := token.(type) {
		case xml.StartElement:
			in = e.Name.Local
			if in == "script" || in == "image" || in == "foreignObject" {
				t.Errorf("the file has <%s>", in)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" &&
					!strings.HasPrefix(a.Value, "http://") {
					t.Errorf("the file has %s=%q", a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			if in == "text" {
				texts = append(texts, string(e))
			}
			if in == "style" && strings.Contains(strings.Replace(string(e), "url(data:font/woff2;base64,", "",
				1), "url(") {
				t.Error("the style sheet loads a file")
			}
		case xml.EndElement:
			in = ""
		}
	}
}

// TestPicture checks what the picture of a chart says besides the chart.
func TestPicture(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	const question = "/chart.svg?_by=category&category=fern&category=moss"
	a := s.get(t, catalog+question)
	texts := strings.Join(svgTexts(t, a.body), "|")
	const host = "herbarium.test"
	for _, want := range []string{"Rows by category", "|The garden, 38 of ", " rows, category is any of fern, moss",
		"|20 Mar 2026, http://" + host + catalog} {
		if !strings.Contains(texts, want) {
			t.Errorf("the picture has the texts %q, not %q", texts, want)
		}
	}
	if !strings.Contains(a.body, `<a href="http://`+host+catalog+
		`/chart?category=fern&amp;category=moss&amp;_by=category">`) {
		t.Error("the source leads elsewhere")
	}
	if a.header.Get("Cache-Control") != "no-cache" || a.header.Get("Access-Control-Allow-Origin") != "*" ||
		a.header.Get("Cross-Origin-Resource-Policy") != "" {
		t.Errorf("other pages cannot show it: %v", a.header)
	}
	if again := s.get(t, catalog+question, "If-None-Match", a.header.Get("Etag")); again.status != 304 {
		t.Errorf("the same picture is sent again: %d", again.status)
	}
	if dark := s.get(t, catalog+question+"&_theme=dark"); dark.header.Get("Etag") == a.header.Get("Etag") ||
		!strings.Contains(dark.body, ".page{fill:#0f1311}") || strings.Contains(dark.body, "@media") {
		t.Error("the dark picture is not dark")
	}
	if auto := s.get(t, catalog+question+"&_theme=auto"); !strings.Contains(auto.body,
		"@media(prefers-color-scheme:dark)") {
		t.Error("the picture ignores the theme of the reader")
	}
	for _, width := range []int{320, 2560} {
		if narrow := s.get(t, catalog+question+"&_image_width="+strconv.Itoa(width)); !strings.Contains(narrow.body,
			`width="`+strconv.Itoa(width)+`"`) {
			t.Errorf("the picture is not %d wide", width)
		}
	}
	for query, want := range map[string]string{"_theme=blue": "light, dark or auto",
		"_image_width=9": "from 320 to 2560", "_image_width=1e3": "from 320 to 2560", "_titel=x": "_titel"} {
		if a := s.get(t, catalog+question+"&"+query); a.status != 400 || !strings.Contains(a.body, want) {
			t.Errorf("%s: %d %s", query, a.status, a.body)
		}
	}
}

// TestPicture_title checks titles: hostile, long and of any script. They are those of the page and
// of its files, too, as long as the question is the same.
func TestPicture_title(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for title, want := range map[string]string{
		`</style><script>alert(1)</script>"'&{{.}}]]>`: `</style><script>alert(1)</script>"'&{{.}}]]>`,
		"植物園 – Ωmega 🌱":                                "植物園 – Ωmega 🌱", "a\u202Eb\x01\uFFFEc\n\nd": "abc d",
		strings.Repeat("x", 300): strings.Repeat("x", 60), " \t ": "Rows by category",
	} {
		a := s.get(t, catalog+"/chart.svg?_by=category&_title="+url.QueryEscape(title))
		texts := svgTexts(t, a.body)
		if a.status != 200 || !strings.Contains(strings.Join(texts, ""), want) {
			t.Errorf("%.50q: %d %.500q", title, a.status, texts)
		}
	}
	if long := s.get(t, catalog+"/chart.svg?_by=category&_title="+strings.Repeat("x", 3000)); len(long.body) > 60_000 ||
		strings.Contains(strings.Join(svgTexts(t, long.body), ""), strings.Repeat("x", 201)) {
		t.Errorf("a long title is not cut: %d bytes", len(long.body))
	}
	doc := s.page(t, catalog+"/chart?_by=category&_title=My+own+%3Ctitle%3E", 200)
	if got := words(one(t, one(t, doc, has("id", "answer")), tag("h2", ""))); got != "My own <title>" {
		t.Errorf("the heading is %q", got)
	}
	if got := textOf(one(t, one(t, doc, tag("head", "")), tag("title", ""))); !strings.HasPrefix(got,
		"My own <title>: The garden") {
		t.Errorf("the title is %q", got)
	}
	titled := catalog + "/chart?_by=category&_title=My"
	if to := s.choose(t, titled, "top", "smallest first"); !strings.Contains(to, "_title=My") {
		t.Errorf("another order drops the title: %s", to)
	}
	if to := s.choose(t, titled, "by", "tags"); strings.Contains(to, "_title=My") || !strings.Contains(to, "_by=tags") {
		t.Errorf("another question keeps the title: %s", to)
	}
	picture := one(t, doc, has("id", "picture"))
	embed := words(one(t, picture, tag("code", "")))
	if !strings.HasPrefix(embed, `<img src="http://`) ||
		!strings.Contains(embed, `alt="My own &lt;title&gt;" width="1040">`) {
		t.Errorf("the element is %s", embed)
	}
	if doc := parse(t, s.get(t, "/datasets/locked/staff/chart", "Cookie", "herbarium_key="+staffKey).body); len(
		all(one(t, doc, has("id", "picture")), tag("code", ""))) > 0 {
		t.Error("the picture of a protected dataset is offered for other pages")
	}
}

// TestPicture_extremes checks pictures of hostile, extreme and missing values.
func TestPicture_extremes(t *testing.T) {
	t.Parallel()
	digits := strings.Repeat("9", 900)
	extreme := herb.Dataset{Ref: herb.Ref{Namespace: "evil", Name: "numbers"},
		Title: strings.Repeat("long title ", 200_000), Version: "v1", Records: 4, Fields: []herb.Field{
			field("name\uFFFF", herb.TypeText), field("a", herb.TypeNumber), field("b", herb.TypeNumber),
		}}
	records := []herb.Record{{strings.Repeat("n", 2<<20), "1e18", digits}, {"\x01\x02<b>", "-1e18", "-" + digits},
		{"", "5", "5"}, {"\u202E\uFFFE", "5", ""}}
	s := newSite(t, func(_ *web.Options, lib *apitest.Library) { lib.Put(extreme, records) })
	for _, path := range []string{
		"/datasets/evil/numbers/chart.svg?_by=name%EF%BF%BF&_measure=sum%3Aa",
		"/datasets/evil/numbers/chart.svg?_by=a&_measure=max%3Ab", "/datasets/evil/numbers/chart.svg?_measure=sum%3Ab",
		"/datasets/evil/numbers/chart.svg?_by=a%3A1000000000000000000", "/datasets/evil/nasty/chart.svg?_by=tags",
		"/datasets/evil/nasty/chart.svg?_by=tags&_by=page&_kind=heat",
		"/datasets/empty/none/chart.svg", "/datasets/empty/none/chart.svg?_measure=count",
		catalog + "/chart.svg?_by=category&_kind=table", catalog + "/chart.svg?search=nosuchword&_by=category",
	} {
		for _, width := range []string{"1040", "320"} {
			separator := "?"
			if strings.Contains(path, "?") {
				separator = "&"
			}
			a := s.get(t, path+separator+"_image_width="+width)
			if a.status != 200 || len(a.body) > 150_000 {
				t.Errorf("%s: %d, %d bytes: %.300s", path, a.status, len(a.body), a.body)
				continue
			}
			svgTexts(t, a.body)
		}
	}
}
