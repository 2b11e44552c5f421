package browse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/datasets"
)

const (
	pathSitemap = "/sitemap.xml"
	pathRobots  = "/robots.txt"
	pathPOD     = "/data.json"

	// maxSitemap is how many addresses the protocol permits in a sitemap.
	maxSitemap = 50_000
	// sitemapMemory is the memory for each address while a sitemap is made, in bytes.
	sitemapMemory = 600
)

// robots serves the rules for crawlers: the pages of datasets, the files that their metadata names
// and the pictures of links are for them, views of rows with filters are not. There is no end of
// these. A pattern has a segment for the namespace and one for the dataset, so that it matches no
// name of a dataset.
func (p *portals) robots(w *httpapi.Page, r *http.Request) error {
	_, err := w.QueryString().OnlyOfPage()
	if err != nil {
		return err
	}
	base := p.Base
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err = fmt.Fprintf(w, "User-agent: *\nDisallow: %[1]s/datasets/*?\nAllow: %[1]s/datasets/*/preview.png?\n"+
		"Disallow: %[1]s/datasets/*/*/data$\nDisallow: %[1]s/datasets/*/*/facets\nDisallow: %[1]s/datasets/*/*/files/\n"+
		"Disallow: %[1]s/embed/\nDisallow: %[1]s/publish\nAllow: %[1]s/\n\nSitemap: %[2]s%[3]s\n", base, p.Origin(r),
		pathSitemap)
	return err
}

// openDatasets returns the live versions that need no key, and a text that changes with them.
// Documents for portals and search engines name no others, whatever key a visitor has.
func (p *portals) openDatasets(ctx context.Context) (open []herb.LiveVersion, state string, err error) {
	live, err := p.Opts.Library.Live(ctx)
	if err != nil {
		return nil, "", err
	}
	open = slices.DeleteFunc(live, func(v herb.LiveVersion) bool { return v.Access.NeedsKey() })
	sum := sha256.New()
	for _, v := range open {
		_, _ = fmt.Fprintln(sum, v.Ref, v.Version)
	}
	return open, hex.EncodeToString(sum.Sum(nil)), nil
}

// serveDocument writes a document about all open datasets, or a page of it. It is made once per
// state of the catalogue, if there is room for the memory that this takes.
func (p *portals) serveDocument(w *httpapi.Page, r *http.Request, contentType, state string, page, memory int,
	write func() ([]byte, error)) error {
	tag := site.FileTag(state, p.Origin(r), r.URL.Path, strconv.Itoa(page))
	if site.MatchTag(w, r, tag) {
		return nil
	}
	w.Header().Set("Content-Type", contentType)
	err := w.WriteDocument(r.Context(), tag, func() ([]byte, error) {
		release, err := query.Reserve(r.Context(), memory)
		if err != nil {
			return nil, err
		}
		defer release()
		return write()
	})
	if err != nil {
		w.Header().Del("Etag")
		w.Header().Del("Content-Type")
	}
	return err
}

// sitemapURL is an address in a sitemap, or a sitemap in an index.
type sitemapURL struct {
	Address  string `xml:"loc"`
	Modified string `xml:"lastmod,omitempty"`
}

// sitemap serves the addresses of the pages of open datasets. If there are more than a sitemap may
// have, it is an index of sitemaps, which have a page number.
func (p *portals) sitemap(w *httpapi.Page, r *http.Request) error {
	params, err := w.QueryString().OnlyOfPage(query.ParamPage)
	if err != nil {
		return err
	}
	open, state, err := p.openDatasets(r.Context())
	if err != nil {
		return err
	}
	page, total := 0, len(open)+1 // the catalogue is one of the addresses
	pages := (total + maxSitemap - 1) / maxSitemap
	if s := params.Get(query.ParamPage); s != "" {
		page, err = strconv.Atoi(s)
		if err != nil || page < 1 || page > pages {
			return herb.Errorf(herb.CodeNotFound, "there are %s", herb.Plural(pages, "sitemap", "sitemaps"))
		}
	}
	return p.serveDocument(w, r, "application/xml", state, page, sitemapMemory*min(total, maxSitemap),
		func() ([]byte, error) {
			return marshalSitemap(p.Origin(r), open, page, pages)
		})
}

func marshalSitemap(origin string, open []herb.LiveVersion, page, pages int) ([]byte, error) {
	const namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
	document := struct {
		XMLName   xml.Name
		Namespace string       `xml:"xmlns,attr"`
		URLs      []sitemapURL `xml:"url"`
		Sitemaps  []sitemapURL `xml:"sitemap"`
	}{XMLName: xml.Name{Local: "urlset"}, Namespace: namespace}
	if page == 0 && pages > 1 {
		document.XMLName.Local = "sitemapindex"
		for i := range pages {
			document.Sitemaps = append(document.Sitemaps,
				sitemapURL{Address: origin + pathSitemap + "?page=" + strconv.Itoa(i+1)})
		}
	} else {
		from := max(page-1, 0) * maxSitemap
		for i := from; i < min(from+maxSitemap, len(open)+1); i++ {
			u := sitemapURL{Address: origin + site.PathCatalogue}
			if i > 0 {
				v := open[i-1]
				u.Address = origin + site.PathDatasets + v.Ref.String()
				if !v.Published.IsZero() {
					u.Modified = v.Published.UTC().Format(time.RFC3339)
				}
			}
			document.URLs = append(document.URLs, u)
		}
	}
	body, err := xml.Marshal(document)
	return append([]byte(xml.Header), body...), err
}

// pod redirects harvesters of Project Open Data to the catalogue as DCAT, which has every dataset.
func (p *portals) pod(w *httpapi.Page, _ *http.Request) error {
	return site.Redirect(w, p.Base+site.PathDCAT)
}

// describedBy adds the descriptions of an open dataset for machines to the Link header of a page,
// and its files, as FAIR Signposting (https://signposting.org/FAIR/) names them.
func (p *datasetPages) describedBy(w *httpapi.Page, v datasetView) {
	if v.Access.NeedsKey() || v.Pinned != "" {
		return
	}
	links := []string{w.Header().Get("Link"), "<" + p.DatasetPath(v.Ref) + croissantFile +
		`>; rel="describedby"; type="application/ld+json"; profile="` + croissantVersion + `"`}
	for _, f := range export.Files(&v.Dataset) {
		links = append(links, "<"+p.Base+site.PathAPI+v.Ref.String()+"/"+f.Name+`>; rel="item"; type="`+f.MediaType+`"`)
	}
	if l := datasets.ReadDescriptor(&v.Dataset).License(); l != nil {
		if address := datasets.LicenseAddress(l); address != "" && !strings.ContainsAny(address, "<>\" ,;") {
			links = append(links, "<"+address+`>; rel="license"`)
		}
	}
	w.Header().Set("Link", strings.Join(links, ", "))
}
