package web

import (
	"encoding/json"
	"html/template"
	"net/http"
	"time"

	"herbarium/internal/herb"
)

// node is a node of JSON-LD.
type node map[string]any

// put sets a member, unless there is nothing to say.
func (n node) put(name, value string) {
	if value != "" {
		n[name] = value
	}
}

// jsonLD describes a dataset in the words of schema.org, for search engines.
func (p *Pages) jsonLD(r *http.Request, d herb.Dataset) (template.JS, error) {
	n := p.schemaDataset(p.origin(r), d)
	n["@context"] = "https://schema.org"
	return encodeLD(n)
}

func (p *Pages) schemaDataset(origin string, d herb.Dataset) node {
	const mostFields = 100
	page, data := origin+pathDatasets+d.Ref.String(), origin+pathAPI+d.Ref.String()+"/data"
	about := readDescriptor(d)
	n := node{
		"@type": "Dataset", "@id": page, "url": page, "identifier": d.Ref.String(), "name": plainText(nameOf(d)),
		"description": clip(plainText(describe(d)), 4000), "isAccessibleForFree": d.Access != herb.AccessKey,
		"includedInDataCatalog": node{"@type": "DataCatalog", "name": siteName, "url": origin + pathCatalogue},
		"distribution": []node{
			{"@type": "DataDownload", "encodingFormat": "application/json", "contentUrl": data},
			{"@type": "DataDownload", "encodingFormat": "text/csv", "contentUrl": page + "/data.csv"},
		},
	}
	n.put("version", d.Version)
	n.put("dateModified", stamp(d.Published))
	if len(about.Keywords) > 0 {
		n["keywords"] = about.Keywords
	}
	if l := licenseOf(about); l != nil {
		n["license"] = l.Name
		n.put("license", l.Href)
	}
	if webAddress(about.Homepage) {
		n["sameAs"] = about.Homepage
	}
	fields := make([]node, 0, min(len(d.Fields), mostFields))
	for _, f := range d.Fields[:min(len(d.Fields), mostFields)] {
		v := node{"@type": "PropertyValue", "name": f.Name}
		v.put("description", f.Description)
		fields = append(fields, v)
	}
	n["variableMeasured"] = fields
	return n
}

// catalogueJSONLD describes the catalogue in the words of schema.org.
func (p *Pages) catalogueJSONLD(r *http.Request, datasets []herb.Dataset) (template.JS, error) {
	const most = 100
	origin := p.origin(r)
	refs := make([]node, 0, min(len(datasets), most))
	for _, d := range datasets[:min(len(datasets), most)] {
		refs = append(refs, node{
			"@type": "Dataset", "@id": origin + pathDatasets + d.Ref.String(), "url": origin + pathDatasets + d.Ref.String(),
			"name": plainText(nameOf(d)), "description": clip(plainText(describe(d)), 300),
		})
	}
	return encodeLD(node{
		"@context": "https://schema.org", "@type": "DataCatalog", "@id": origin + pathCatalogue, "name": siteName,
		"url": origin + pathCatalogue, "dataset": refs,
	})
}

// encodeLD writes a node so that it may stand in a page: < and > are escaped by encoding/json.
func encodeLD(n node) (template.JS, error) {
	b, err := json.Marshal(n)
	return template.JS(b), err
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
