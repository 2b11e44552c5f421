package format

import (
	"bytes"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"

	"herbarium/internal/herb"
)

// Lengths of the longest descriptions that are parsed, in bytes; the rest is cut off. Parsing takes
// quadratic time in the worst case. Many descriptions are shown on one page as text.
const (
	maxMarkdown     = 16 << 10
	maxMarkdownText = 2 << 10
)

// Markdown renders a description. Descriptions are untrusted: HTML tags and images are dropped,
// their text is kept, and links lead to web addresses only. Headings begin at the second level.
func Markdown(s string) (template.HTML, error) {
	markdown, source := newMarkdown(), []byte(herb.Clip(s, maxMarkdown))
	doc := markdown.Parser().Parse(text.NewReader(source))
	sanitize(doc, source)
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

// MarkdownText returns the text of a description on one line, without markup.
func MarkdownText(s string) string {
	if !strings.ContainsAny(s, "\\`*_[]<>#&~|-+=1234567890") { // it has no markup
		return PlainText(s)
	}
	rendered, err := Markdown(herb.Clip(s, maxMarkdownText))
	if err != nil {
		return PlainText(s)
	}
	var b strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(string(rendered)))
	for token := tokens.Next(); token != html.ErrorToken; token = tokens.Next() {
		if token == html.TextToken { // blocks end with a line feed
			b.Write(tokens.Text())
		}
	}
	return PlainText(b.String())
}

// newMarkdown returns a parser and renderer of CommonMark with tables and bare URLs. It does not
// recognize blocks of HTML, so that their text is kept.
func newMarkdown() goldmark.Markdown {
	var blocks []util.PrioritizedValue
	for _, b := range parser.DefaultBlockParsers() {
		if b.Value != parser.NewHTMLBlockParser() {
			blocks = append(blocks, b)
		}
	}
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(parser.WithBlockParsers(blocks...),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...))),
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)),
			extension.Linkify),
	)
}

// sanitize removes what pages do not show from a document.
func sanitize(doc ast.Node, source []byte) {
	var nodes []ast.Node
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if entering {
			nodes = append(nodes, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range nodes {
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+1, 6)
		case *ast.RawHTML:
			n.Parent().RemoveChild(n.Parent(), n)
		case *ast.Image:
			unwrap(n)
		case *ast.Link:
			if IsWebAddress(string(util.URLEscape(n.Destination, true))) { // as it is rendered
				n.SetAttributeString("rel", []byte("noopener noreferrer nofollow"))
			} else {
				unwrap(n)
			}
		case *ast.AutoLink:
			if IsWebAddress(string(util.URLEscape(n.URL(source), false))) {
				n.SetAttributeString("rel", []byte("noopener noreferrer nofollow"))
			} else {
				n.Parent().ReplaceChild(n.Parent(), n, ast.NewString(n.Label(source)))
			}
		}
	}
}

// unwrap replaces a node by its children.
func unwrap(n ast.Node) {
	parent := n.Parent()
	for n.FirstChild() != nil {
		parent.InsertBefore(parent, n, n.FirstChild()) // moves the child
	}
	parent.RemoveChild(parent, n)
}
