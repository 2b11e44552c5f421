package parquet

import (
	"encoding/json"
	"fmt"
	"strings"

	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/geometry"
	"herbarium/internal/ingest/rows"
)

// geometryColumn lists WKB as well-known text, and other bytes as base64.
type geometryColumn struct {
	name   string
	others int // values that are not WKB
}

func (g *geometryColumn) append(b, data []byte) ([]byte, error) {
	wkt, ok := geometry.AppendWKT(b, data)
	if !ok {
		g.others++
		return appendBase64(b, data)
	}
	return wkt, nil
}

// declareGeometries lets the leaves be geometries that the schema, the metadata of GeoParquet, or
// the names of columns of bytes declare.
func (r *reader) declareGeometries(m *fileMetadata) {
	declared := m.geometries()
	for _, n := range r.leaves {
		isBytes := n.leaf.stored == meta.ByteArray && n.leaf.declared == ""
		switch {
		case n.leaf.isGeometry || isBytes && declared[n.name]:
			r.setGeometry(n)
		case isBytes && geometry.IsUsual(n.name):
			n.leaf.render = appendWKTOrText
		}
	}
	for i, n := range r.columns {
		if n.kind == kindLeaf {
			r.listed[i].Type = n.leaf.declared
		}
	}
}

func (r *reader) setGeometry(n *node) {
	g := &geometryColumn{name: n.name}
	r.geometries = append(r.geometries, g)
	n.leaf.declared, n.leaf.render = herb.TypeText, g.append
}

// appendWKTOrText appends bytes without an annotation: WKB as well-known text, or else text.
func appendWKTOrText(b, data []byte) ([]byte, error) {
	wkt, ok := geometry.AppendWKT(b, data)
	if ok {
		return wkt, nil
	}
	return appendBytes(b, data)
}

// geometries returns the names of the columns that the metadata of GeoParquet declares as WKB.
func (m *fileMetadata) geometries() map[string]bool {
	names := map[string]bool{}
	for _, pair := range m.KeyValues {
		var geo struct {
			Columns map[string]struct{ Encoding string }
		}
		if pair.Key != "geo" || json.Unmarshal([]byte(pair.Value), &geo) != nil {
			continue
		}
		for name, column := range geo.Columns {
			names[name] = strings.EqualFold(column.Encoding, "WKB")
		}
	}
	return names
}

// Notes implements rows.Rows.
func (r *reader) Notes() (notes []string) {
	for _, g := range r.geometries {
		if g.others > 0 {
			notes = append(notes, fmt.Sprintf("column %q: %s not a geometry as WKB and listed as base64",
				rows.Clip(g.name), herb.Plural(g.others, "value is", "values are")))
		}
	}
	return notes
}
