package format_test

import (
	"strings"
	"testing"

	"herbarium/internal/web/view/format"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	const rel = ` rel="noopener noreferrer nofollow"`
	for _, tt := range []struct{ name, source, html, text string }{
		{"empty", "", "", ""},
		{"plain", "What grows in it.", "<p>What grows in it.</p>", "What grows in it."},
		{"emphasis", "*Very* **old** `a_b`", "<p><em>Very</em> <strong>old</strong> <code>a_b</code></p>",
			"Very old a_b"},
		{"headings begin at level 2", "# Title\n\ntext", "<h2>Title</h2>\n<p>text</p>", "Title text"},
		{"list", "- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>", "a b"},
		{"table", "|a|b|\n|:-|-|\n|1|2|",
			"<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>", "a b 1 2"},
		{"escapes", `5 \* 3 &lt; 20 &#38; more`, "<p>5 * 3 &lt; 20 &amp; more</p>", "5 * 3 < 20 & more"},
		{"line breaks", "a\nb  \nc", "<p>a\nb<br>\nc</p>", "a b c"},
		{"code", "```\n<b>\n```", "<pre><code>&lt;b&gt;\n</code></pre>", "<b>"},
		{"link", `[site](https://a.example/?a=1&b=2 "t")`, `<p><a href="https://a.example/?a=1&amp;b=2" title="t"` +
			rel + `>site</a></p>`, "site"},
		{"bare URL", "see https://a.example/x.", `<p>see <a href="https://a.example/x"` + rel +
			`>https://a.example/x</a>.</p>`, "see https://a.example/x."},
		{"autolink", "<https://a.example>", `<p><a href="https://a.example"` + rel + `>https://a.example</a></p>`,
			"https://a.example"},
		{"relative link", "[readme](README.md) [top](#top)", "<p>readme top</p>", "readme top"},
		{"script link", "[a](javascript:alert(1)) <javascript:alert(1)>", "<p>a javascript:alert(1)</p>",
			"a javascript:alert(1)"},
		{"encoded script link", "[a](javascript&#58;alert(1))", "<p>a</p>", "a"},
		{"data link", "[a](data:text/html,x)", "<p>a</p>", "a"},
		{"link with credentials", "[a](https://u@a.example) [b](https://u&#64;a.example)", "<p>a b</p>", "a b"},
		{"address of a person", "<ana@a.example>", "<p>ana@a.example</p>", "ana@a.example"},
		{"image", "![a *leaf*](https://a.example/x.png)", "<p>a <em>leaf</em></p>", "a leaf"},
		{"image in a link", "[![leaf](x.png)](https://a.example)", `<p><a href="https://a.example"` + rel +
			`>leaf</a></p>`, "leaf"},
		{"tags", "<p>one <b onclick=x()>two</b></p>", "<p>one two</p>", "one two"},
		{"script", "<script>alert(1)</script>", "<p>alert(1)</p>", "alert(1)"},
		{"comment", "a <!-- b --> c", "<p>a  c</p>", "a c"},
		{"unclosed tag", `"><img src=x onerror=alert(1)`, `<p>&quot;&gt;&lt;img src=x onerror=alert(1)</p>`,
			`"><img src=x onerror=alert(1)`},
		{"direction", "a\u202Eb", "<p>a\u202Eb</p>", "ab"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := format.Markdown(tt.source)
			if err != nil || strings.TrimSpace(string(got)) != tt.html {
				t.Errorf("the HTML is %q, %v; want %q", got, err, tt.html)
			}
			if got := format.MarkdownText(tt.source); got != tt.text {
				t.Errorf("the text is %q, want %q", got, tt.text)
			}
		})
	}
}

// TestMarkdown_long checks that long descriptions are cut off, because nested markup takes long to
// parse.
func TestMarkdown_long(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("*word* ", 100_000)
	html, err := format.Markdown(long)
	if n := strings.Count(string(html), "<em>"); err != nil || n < 2000 || n > 2500 {
		t.Errorf("%d words are rendered, %v", n, err)
	}
	if n := strings.Count(format.MarkdownText(long), "word"); n < 250 || n > 300 {
		t.Errorf("the text has %d words", n)
	}
}
