package browse

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// node is a node of a JSON-LD document.
type node map[string]any

// dcat serves the catalogue as DCAT 3, for portals that harvest it. More than 100 datasets are
// split into pages, which are linked as harvesters expect it
// (https://www.hydra-cg.com/spec/latest/core/#hydra:PartialCollectionView).
func (p *portals) dcat(w *httpapi.Page, r *http.Request) error {
	params, err := w.QueryString().OnlyOfPage(query.ParamPage)
	if err != nil {
		return err
	}
	live, err := p.Opts.Library.Live(r.Context())
	if err != nil {
		return err
	}
	datasets, m, err := p.datasetsOnPage(r, params, live, query.MaxPerPage)
	if err != nil {
		return err
	}
	origin := p.Origin(r)
	service := origin + "/#api"
	entries, served := make([]node, len(datasets)), make([]node, len(datasets))
	for i := range datasets {
		d := &datasets[i]
		entries[i] = dcatDataset(origin, service, d)
		served[i] = node{"@id": origin + site.PathDatasets + d.Ref.String() + "#dataset"}
	}
	catalog := node{
		"@context": node{
			"dcat": "http://www.w3.org/ns/dcat#", "dct": "http://purl.org/dc/terms/",
			"foaf":  "http://xmlns.com/foaf/0.1/",
			"vcard": "http://www.w3.org/2006/vcard/ns#", "xsd": "http://www.w3.org/2001/XMLSchema#",
		},
		"@id": origin + site.PathDCAT, "@type": "dcat:Catalog", "dct:title": site.Name,
		"dct:description": "Datasets to browse, search and filter, each with a listing API.",
		"foaf:homepage":   node{"@id": origin + site.PathCatalogue},
		"dcat:dataset":    entries,
		"dcat:service": node{
			"@id": service, "@type": "dcat:DataService", "dct:title": site.Name + " listing API",
			"dcat:endpointURL":         node{"@id": origin + "/api/v1"},
			"dcat:endpointDescription": node{"@id": origin + site.PathOpenAPI},
			"dcat:servesDataset":       served,
		},
	}
	if m.TotalPages > 1 {
		catalog["@context"].(node)["hydra"] = "http://www.w3.org/ns/hydra/core#"
		catalog["hydra:view"] = dcatPages(origin+site.PathDCAT, m)
	}
	body, err := json.Marshal(catalog)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/ld+json")
	h.Set("Cache-Control", "no-cache")
	if p.Opts.PrivateCatalog {
		w.SetPrivate()
	}
	_, err = w.Write(body)
	return err
}

// dcatPages links a page with the others.
func dcatPages(address string, m query.Meta) node {
	page := func(n int) node { return node{"@id": address + "?page=" + strconv.Itoa(n)} }
	n := page(m.Page)
	n["@type"], n["hydra:first"], n["hydra:last"] = "hydra:PartialCollectionView", page(1), page(m.TotalPages)
	if m.HasNext {
		n["hydra:next"] = page(m.Page + 1)
	}
	if m.HasPrev {
		n["hydra:previous"] = page(min(m.Page-1, m.TotalPages))
	}
	return n
}

func dcatDataset(origin, service string, d *herb.Dataset) node {
	page, api := origin+site.PathDatasets+d.Ref.String(), origin+site.PathAPI+d.Ref.String()+"/"
	about := datasets.ReadDescriptor(d)
	rights := "PUBLIC"
	if d.Access.NeedsKey() {
		rights = "RESTRICTED"
	}
	distribution := func(id, title, address, media string) node {
		n := node{
			"@id": page + "#" + id, "@type": "dcat:Distribution", "dct:title": title,
			"dcat:accessURL":     node{"@id": address},
			"dcat:mediaType":     node{"@id": "https://www.iana.org/assignments/media-types/" + media},
			"dcat:accessService": node{"@id": service},
		}
		if l := about.License(); l != nil {
			n["dct:license"] = dcatLicense(l)
		}
		return n
	}
	files := []node{distribution("json", "JSON, in pages", api+"data", "application/json")}
	for _, f := range export.Files(d) {
		files = append(files, distribution(strings.ToLower(f.Label), f.Label+", all rows", api+f.Name, f.MediaType))
	}
	n := node{
		"@id": page + "#dataset", "@type": "dcat:Dataset", "dct:identifier": d.Ref.String(),
		"dct:title":       format.PlainText(datasets.Title(d)),
		"dct:description": format.PlainText(datasets.Describe(d)), "dcat:landingPage": node{"@id": page},
		"dct:accessRights":  node{"@id": "http://publications.europa.eu/resource/authority/access-right/" + rights},
		"dcat:distribution": files,
	}
	if d.Version != "" {
		n["dcat:version"] = d.Version
	}
	if !d.Published.IsZero() {
		n["dct:modified"] = node{"@type": "xsd:dateTime", "@value": d.Published.UTC().Format(time.RFC3339)}
	}
	if len(about.Keywords) > 0 {
		n["dcat:keyword"] = about.Keywords
	}
	if l := about.License(); l != nil {
		n["dct:license"] = dcatLicense(l)
	}
	if a := about.Publisher; a != nil {
		agent := node{"@type": "foaf:Agent", "foaf:name": a.Name}
		if a.Href != "" {
			agent["foaf:homepage"] = node{"@id": a.Href}
		}
		if a.Email != "" {
			agent["foaf:mbox"] = node{"@id": "mailto:" + a.Email}
		}
		n["dct:publisher"] = agent
	}
	if a := about.Contact; a != nil {
		contact := node{"@type": "vcard:Kind", "vcard:fn": a.Name}
		if a.Href != "" {
			contact["vcard:hasURL"] = node{"@id": a.Href}
		}
		if a.Email != "" {
			contact["vcard:hasEmail"] = node{"@id": "mailto:" + a.Email}
		}
		n["dcat:contactPoint"] = contact
	}
	return n
}

// dcatLicense returns the address of a license, or a license document with its name if the address
// is not known.
func dcatLicense(l *state.Link) node {
	if address := datasets.LicenseAddress(l); address != "" {
		return node{"@id": address}
	}
	return node{"@type": "dct:LicenseDocument", "dct:title": l.Label}
}
