package web

import (
	"herbarium/internal/herb"
	"herbarium/internal/web/view"
)

// node is a node of JSON-LD.
type node map[string]any

// put sets a member unless the value is empty.
func (n node) put(name, value string) {
	if value != "" {
		n[name] = value
	}
}

// datasetJSONLD returns the schema.org description of a dataset, for search engines.
func datasetJSONLD(origin string, d *herb.Dataset) node {
	const maxFields = 100
	page, data := origin+pathDatasets+d.Ref.String(), origin+pathAPI+d.Ref.String()+"/data"
	about := view.ReadDescriptor(d)
	n := node{
		"@context": "https://schema.org", "@type": "Dataset", "@id": page, "url": page, "identifier": d.Ref.String(), "name": view.PlainText(view.Title(d)),
		"description": herb.Clip(view.PlainText(view.Describe(d)), 4000), "isAccessibleForFree": d.Access != herb.AccessKey,
		"includedInDataCatalog": node{"@type": "DataCatalog", "name": siteName, "url": origin + pathCatalogue},
		"distribution": []node{
			{"@type": "DataDownload", "encodingFormat": "application/json", "contentUrl": data},
			{"@type": "DataDownload", "encodingFormat": "text/csv", "contentUrl": page + "/data.csv"},
		},
	}
	n.put("version", d.Version)
	n.put("dateModified", view.Timestamp(d.Published))
	if len(about.Keywords) > 0 {
		n["keywords"] = about.Keywords
	}
	if l := about.License(); l != nil {
		n["license"] = l.Name
		n.put("license", l.Href)
	}
	n.put("sameAs", about.Homepage)
	fields := make([]node, 0, min(len(d.Fields), maxFields))
	for _, f := range d.Fields[:min(len(d.Fields), maxFields)] {
		v := node{"@type": "PropertyValue", "name": f.Name}
		v.put("description", view.MarkdownText(f.Description))
		fields = append(fields, v)
	}
	n["variableMeasured"] = fields
	return n
}

// catalogueJSONLD returns the schema.org description of a page of the catalogue.
func catalogueJSONLD(origin string, datasets []herb.Dataset) node {
	refs := make([]node, 0, len(datasets))
	for i := range datasets {
		d := &datasets[i]
		refs = append(refs, node{
			"@type": "Dataset", "@id": origin + pathDatasets + d.Ref.String(), "url": origin + pathDatasets + d.Ref.String(),
			"name": view.PlainText(view.Title(d)), "description": herb.Clip(view.PlainText(view.Describe(d)), 300),
		})
	}
	return node{
		"@context": "https://schema.org", "@type": "DataCatalog", "@id": origin + pathCatalogue, "name": siteName,
		"url": origin + pathCatalogue, "dataset": refs,
	}
}
