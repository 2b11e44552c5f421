package site

import (
	"io"
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// Shell contains what every page has in common.
type Shell struct {
	Title       string
	Description string
	Origin      string       // prefix of absolute links
	Canonical   string       // URL; empty: not indexed by search engines
	Address     string       // URL of the view, which may be one of a filtered canonical page; empty: the canonical one
	Preview     string       // URL of the image that other sites show; empty: none
	PreviewAlt  string       // what it shows, in words
	Feeds       []state.Link // that follow what the page shows
	Theme       string       // "light", "dark" or empty: that of the system
	Current     string       // navigation entry: "catalogue", "docs" or empty
	Images      bool         // the page shows images of other hosts
	// the page fills the window and has bars of its own, without the header and footer of the site
	Framed   bool
	Embeds   bool // the page shows one of this site in a frame: what it looks like on other sites
	Embedded bool // other sites may show the page in a frame
	Page     any  // what its own template shows
}

const Name = "Herbarium"

func (p *Site) Shell(r *http.Request, title, description string) Shell {
	return Shell{Title: format.PlainText(title), Description: herb.Clip(format.PlainText(description), 300),
		Origin: p.Origin(r), Theme: ThemeOf(r)}
}

// ThemeOf returns the theme that the user has selected, which the script stores in a cookie; empty:
// none, or the page is in a frame of another site.
func ThemeOf(r *http.Request) string {
	if IsEmbed(r) {
		return ""
	}
	if c, err := r.Cookie("herbarium_theme"); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// Render writes a page with all headers except those for caching, which httpapi sets.
func (p *Site) Render(w http.ResponseWriter, name string, s Shell, data any) error {
	s.Page = data
	p.setHeaders(w.Header(), s)
	return p.Execute(w, name, "shell", s)
}

// Execute writes a template of the set of a page.
func (p *Site) Execute(w io.Writer, page, name string, data any) error {
	return p.templates()[page].ExecuteTemplate(w, name, data)
}

// setHeaders sets the headers that restrict what a browser may do with a page.
func (p *Site) setHeaders(h http.Header, s Shell) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", s.contentPolicy())
	if !s.Embedded {
		h.Set("X-Frame-Options", "DENY")
	}
	h.Set("Referrer-Policy", "same-origin") // without a referrer, browsers submit forms with the origin "null"
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Link", "<"+p.Base+PathOpenAPI+`>; rel="service-desc"; type="application/vnd.oai.openapi+json", <`+
		p.Base+PathDocs+`>; rel="service-doc", <`+p.Base+PathDCAT+`>; rel="describedby"; type="application/ld+json"`)
}

// contentPolicy returns the content security policy of a page. Only embedded pages can be framed by
// other sites; they have no forms and request no data.
func (s Shell) contentPolicy() string {
	policy := "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; base-uri 'none'; "
	if s.Embedded {
		policy += "form-action 'none'; frame-ancestors *; "
	} else {
		policy += "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
	}
	if s.Embeds {
		policy += "frame-src 'self'; "
	}
	policy += "img-src 'self'"
	if s.Images {
		policy += " https:" // of other hosts; browsers block http images as mixed content
	}
	return policy
}
