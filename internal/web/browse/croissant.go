package browse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/typed"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/citation"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

const (
	croissantFile    = "/croissant.json"
	croissantVersion = "http://mlcommons.org/croissant/1.1"

	// maxHashedCells is how many cells a dataset may have whose CSV file is hashed for its
	// description: up to about a second of work, once per version.
	maxHashedCells = 2_000_000
	maxHashing     = 2 * time.Second
	// maxCroissantFields is how many fields a description has.
	maxCroissantFields = 2_000
)

// croissant serves the description of an open dataset for programs that train models
// (https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html).
func (p *portals) croissant(w *httpapi.Page, r *http.Request, v datasetView) error {
	if v.Access.NeedsKey() || v.Denied != nil {
		return herb.Errorf(herb.CodeNotFound, "only open datasets have this description")
	}
	_, err := v.Query.OnlyOfPage(query.ParamVersion)
	if err != nil {
		return err
	}
	tag := site.FileTag("croissant", v.Version, p.Origin(r), r.URL.Path)
	if site.MatchTag(w, r, tag) {
		return nil
	}
	types, err := v.Types()
	if err != nil {
		return err
	}
	body, err := w.CachedBody(tag, func() ([]byte, error) {
		hash := ""
		if v.Ref != herb.PlantsRef && v.Records*len(v.Fields) <= maxHashedCells {
			ctx, cancel := context.WithTimeout(r.Context(), maxHashing)
			defer cancel()
			hash, err = hashCSV(ctx, v)
			if err != nil {
				return nil, err
			}
		}
		return json.Marshal(p.croissantDataset(r, v, types, hash))
	})
	if errors.Is(err, context.DeadlineExceeded) && r.Context().Err() == nil { // its values are long
		w.Header().Del("Etag")
		body, err = json.Marshal(p.croissantDataset(r, v, types, ""))
	}
	if err != nil {
		w.Header().Del("Etag")
		return err
	}
	w.Header().Set("Content-Type", "application/ld+json")
	w.WriteShared(body)
	return nil
}

// hashCSV returns the SHA-256 hash of the CSV file of a version.
func hashCSV(ctx context.Context, v datasetView) (string, error) {
	req, err := query.Split("").Export(v.Fields, v.Order)
	if err != nil {
		return "", err
	}
	records, err := v.Stream(ctx, req)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = export.Write(sum, export.CSV, req.Fields(), req.SelectStream(records, nil))
	return hex.EncodeToString(sum.Sum(nil)), err
}

// croissantDataset describes a version. hash is that of its CSV file; empty: it is not known, or
// the dataset changes all the time.
func (p *portals) croissantDataset(r *http.Request, v datasetView, types []typed.Column, hash string) node {
	csv := export.Files(&v.Dataset)[0] // its values are those that fields describe
	file := csv.Name
	origin := p.Origin(r)
	d, about := &v.Dataset, datasets.ReadDescriptor(&v.Dataset)
	page := origin + site.PathDatasets + d.Ref.String()
	address := origin + site.PathAPI + d.Ref.String() + "/" + file
	object := node{"@type": "cr:FileObject", "@id": file, "name": file, "encodingFormat": csv.MediaType,
		"contentUrl": address}
	if hash != "" {
		object["contentUrl"] = state.Join(address, query.Params{{Name: query.ParamVersion, Value: d.Version}}.Encode())
		object["sha256"] = hash
	}
	fields := make([]node, 0, min(len(d.Fields), maxCroissantFields))
	for i, f := range d.Fields[:min(len(d.Fields), maxCroissantFields)] {
		n := node{
			"@type": "cr:Field", "@id": "records/" + f.Name, "name": f.Name, "dataType": croissantType(f, types[i]),
			"source": node{"fileObject": node{"@id": file}, "extract": node{"column": f.Name}},
		}
		if text := format.MarkdownText(f.Description); text != "" {
			n["description"] = text
		} else if f.Title != "" {
			n["description"] = format.PlainText(columns.Heading(f))
		}
		fields = append(fields, n)
	}
	records := node{"@type": "cr:RecordSet", "@id": "records", "name": "records", "field": fields}
	var key []node
	for _, name := range d.PrimaryKey {
		key = append(key, node{"@id": "records/" + name})
	}
	if key != nil {
		records["key"] = key
	}
	n := node{
		"@context": croissantContext(), "@type": "sc:Dataset", "@id": page + "#dataset", "conformsTo": croissantVersion,
		"name": format.PlainText(datasets.Title(d)), "description": format.PlainText(datasets.Describe(d)), "url": page,
		"identifier":   d.Ref.String(),
		"distribution": []node{object}, "recordSet": []node{records},
	}
	if hash == "" {
		n["isLiveDataset"] = true
	}
	if !d.Published.IsZero() {
		at := d.Published.UTC()
		n["datePublished"], n["version"] = at.Format(time.RFC3339),
			fmt.Sprintf("%d.%d.0", at.Year()*10000+int(at.Month())*100+at.Day(),
				at.Hour()*10000+at.Minute()*100+at.Second())
	}
	if l := about.License(); l != nil {
		n["license"] = l.Label
		if address := datasets.LicenseAddress(l); address != "" {
			n["license"] = address
		}
	}
	if a := about.Publisher; a != nil {
		n["publisher"] = node{"@type": "sc:Organization", "name": a.Name}
		n["creator"] = n["publisher"]
	}
	if len(about.Authors) > 0 {
		authors := make([]node, len(about.Authors))
		for i, name := range about.Authors {
			authors[i] = node{"@type": "sc:Person", "name": name}
		}
		n["creator"] = authors
	}
	for _, c := range p.cite(r, v) {
		if c.Name == citation.PlainText {
			n["citeAs"] = c.Text
		}
	}
	if len(about.Keywords) > 0 {
		n["keywords"] = about.Keywords
	}
	return n
}

// croissantType returns the type of the values of a field as they are in the CSV file: values in a
// notation of their own are texts.
func croissantType(f herb.Field, t typed.Column) string {
	n := f.Notation
	if n.Decimal+n.Group+n.Affix+n.DateFormat == "" && !n.Padded && len(n.Missing) == 0 && f.Type != herb.TypeDuration {
		switch t.Kind {
		case typed.Int64:
			return "sc:Integer"
		case typed.Decimal, typed.Double:
			return "sc:Float"
		case typed.Date:
			return "sc:Date"
		case typed.Timestamp:
			return "sc:DateTime"
		}
	}
	return "sc:Text"
}

// croissantContext returns the context that the specification prescribes.
func croissantContext() node {
	c := node{
		"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/",
		"cr":  "http://mlcommons.org/croissant/",
		"rai": "http://mlcommons.org/croissant/RAI/", "dct": "http://purl.org/dc/terms/",
		"conformsTo": "dct:conformsTo",
		"data":       node{"@id": "cr:data", "@type": "@json"},
		"dataType":   node{"@id": "cr:dataType", "@type": "@vocab"},
		"examples":   node{"@id": "cr:examples", "@type": "@json"},
	}
	for _, name := range []string{
		"arrayShape", "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject",
		"fileSet", "format", "includes",
		"isArray", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
		"repeated", "replace",
		"samplingRate", "separator", "source", "subField", "transform", "unArchive", "value",
	} {
		c[name] = "cr:" + name
	}
	return c
}
