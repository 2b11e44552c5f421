package web

import (
	"bytes"
	"encoding/json"
	"html/template"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// record is one record in full.
type record struct {
	Position          int
	Fields            []recordField
	JSON              string
	Prev, Next, Close string
}

// recordField is a value, byte for byte.
type recordField struct {
	herb.Field
	Heading string
	Raw     template.HTML
	Human   string // the same for people; empty: it is the same
	Link    string // empty: it is no address
	Image   template.HTML
	Same    string // address of the records with the same value; empty: it cannot be filtered
	Unclear bool   // it has characters that a page cannot show
}

func newRecord(s *state, d herb.Dataset, req *query.Request, records [][]string, raw []byte) *record {
	i := s.record - 1
	out := &record{Position: req.Offset() + i + 1, JSON: indentJSON(raw), Close: s.href(s.listing)}
	at := func(page, place int) string {
		listing := s.own(s.listing.without(query.ParamPage))
		if page > 1 {
			listing = listing.with(pair{query.ParamPage, strconv.Itoa(page)})
		}
		return s.relative(listing.with(pair{paramRecord, strconv.Itoa(place)}))
	}
	switch {
	case i > 0:
		out.Prev = at(req.Page, i)
	case req.Page > 1:
		out.Prev = at(req.Page-1, req.PerPage)
	}
	switch {
	case i+1 < len(records):
		out.Next = at(req.Page, i+2)
	case len(records) == req.PerPage:
		out.Next = at(req.Page+1, 1)
	}
	for k := range d.Fields {
		out.Fields = append(out.Fields, newRecordField(s, &d, k, records[i][k]))
	}
	return out
}

func newRecordField(s *state, d *herb.Dataset, i int, value string) recordField {
	f, k := d.Fields[i], kindOf(d, i)
	out := recordField{
		Field: f, Heading: headingOf(f), Raw: template.HTML(appendEscaped(nil, value)), Unclear: strings.IndexByte(value, 0) >= 0,
	}
	if webAddress(value) {
		out.Link = value
	}
	switch {
	case k == kindImage && isImage(value):
		out.Image = template.HTML(appendImage(nil, value))
	case k == kindDate:
		out.Human = humanDate(value)
	case k == kindNumber:
		out.Human = humanNumber(value)
	}
	if out.Human == value {
		out.Human = ""
	}
	if f.Filterable && f.Type != herb.TypeList && value != "" && (k == kindDate || modeOf(d, i) == modeValues) {
		out.Same = s.href(params{{filterName(f.Name), value}})
	}
	return out
}

// indentJSON writes JSON over several lines; what is none stays as it is.
func indentJSON(raw []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}
