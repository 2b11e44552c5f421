// Package web makes the pages for people: plain HTML, rendered here, that needs no script.
package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

//go:embed home.html
var homeHTML string

//go:embed style.css
var styleCSS string

// Home returns the handler of the front page, which shows the datasets and the troubles that two functions find. What
// fails is returned and nothing of the page is written then.
func Home(
	datasets func(ctx context.Context) ([]herb.Dataset, error), troubles func(ctx context.Context) ([]herb.Trouble, error),
) func(http.ResponseWriter, *http.Request) error {
	page := template.Must(template.New("home").Parse(homeHTML))
	style := strings.TrimSpace(styleCSS)
	policy := contentPolicy(style)
	return func(w http.ResponseWriter, r *http.Request) error {
		found, err := datasets(r.Context())
		if err != nil {
			return fmt.Errorf("finding the datasets: %w", err)
		}
		wrong, err := troubles(r.Context())
		if err != nil {
			return fmt.Errorf("finding what is wrong with sources: %w", err)
		}
		var b bytes.Buffer
		if err := page.Execute(&b, newHome(style, found, wrong)); err != nil {
			return fmt.Errorf("rendering the front page: %w", err)
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		_, err = w.Write(b.Bytes())
		return err
	}
}

// contentPolicy allows a browser our one style sheet and nothing else: no script, no image, no frame, no form.
func contentPolicy(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// home is what the template shows.
type home struct {
	Style    template.CSS // ours, so it needs no escaping
	Datasets []dataset
	Troubles []trouble // of sources that were never published
}

// trouble is why a source is not published as it is now.
type trouble struct {
	Ref     herb.Ref
	Since   string
	Message string
}

type dataset struct {
	herb.Dataset
	ID      string // of the section
	Heading string
	Open    bool
	Self    string
	Data    string
	Try     []link
	Trouble *trouble // nil: none
}

type link struct{ Text, Href string }

func newHome(style string, datasets []herb.Dataset, troubles []herb.Trouble) home {
	p := home{Style: template.CSS(style)}
	wrong := map[herb.Ref]trouble{}
	for _, t := range troubles {
		if t.Ref == (herb.Ref{}) {
			continue // it is about files, which are nobody's business here
		}
		file := filepath.Base(t.Place) // nor is the folder
		wrong[t.Ref] = trouble{t.Ref, t.Since.UTC().Format("2006-01-02 15:04 UTC"), strings.ReplaceAll(t.Message, t.Place, file)}
	}
	for _, d := range datasets {
		self := "/api/v1/" + d.Ref.String()
		entry := dataset{
			Dataset: d, ID: d.Namespace + "-" + d.Name, Heading: d.Title, Open: d.Access != herb.AccessKey,
			Self: self, Data: self + "/data",
		}
		if entry.Heading == "" {
			entry.Heading = d.Ref.String()
		}
		if entry.Open {
			entry.Try = examples(d)
		}
		if t, ok := wrong[d.Ref]; ok {
			entry.Trouble = &t
			delete(wrong, d.Ref)
		}
		p.Datasets = append(p.Datasets, entry)
	}
	p.Troubles = slices.SortedFunc(maps.Values(wrong), func(a, b trouble) int { return a.Ref.Compare(b.Ref) })
	return p
}

// examples returns links that show what can be asked of a dataset.
func examples(d herb.Dataset) []link {
	data := "/api/v1/" + d.Ref.String() + "/data"
	try := []link{{"ten records", data + "?per_page=10"}}
	for _, f := range d.Fields {
		if f.Sortable && f.Type != herb.TypeText {
			try = append(try, link{"highest " + f.Name + " first", data + "?sort=" + template.URLQueryEscaper(f.Name) + "&order=desc"})
			break
		}
	}
	return try
}
