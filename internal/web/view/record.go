package view

import (
	"bytes"
	"encoding/json"
	"html/template"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Record is one row in full.
type Record struct {
	Number            int // in the whole result, from 1
	Values            []Value
	JSON              string
	Prev, Next, Close string // Prev and Next are empty at the ends of the result
}

// Value is a value in full.
type Value struct {
	Column
	Raw         template.HTML // the value, escaped
	Formatted   string        // empty: same as Raw
	Link        string        // empty: not an address
	Image       string        // empty: not an image
	Same        string        // link to the rows with this value; empty: not offered
	Unprintable bool          // it contains a NUL character, which HTML cannot represent
}

// NewRecord builds the open record of a page of rows; nil if none is open.
func NewRecord(s *State, d *herb.Dataset, req *query.Request, rows [][]string, records [][]byte) *Record {
	i := s.Record - 1
	if i < 0 || i >= len(rows) {
		return nil
	}
	var indented bytes.Buffer
	_ = json.Indent(&indented, records[i], "", "  ") // rows are decoded from valid JSON
	r := &Record{Number: req.Offset() + i + 1, JSON: indented.String(), Close: s.Href(s.Listing)}
	link := func(page, position int) string {
		return s.prefix(s.pageParams(page), ParamRecord) + strconv.Itoa(position)
	}
	switch {
	case i > 0:
		r.Prev = link(req.Page, i)
	case req.Page > 1:
		r.Prev = link(req.Page-1, req.PerPage)
	}
	switch {
	case i+1 < len(rows):
		r.Next = link(req.Page, i+2)
	case len(rows) == req.PerPage:
		r.Next = link(req.Page+1, 1)
	}
	for k := range d.Fields {
		r.Values = append(r.Values, newValue(s, d, k, rows[i][k]))
	}
	return r
}

func newValue(s *State, d *herb.Dataset, i int, value string) Value {
	v := Value{Column: NewColumn(d, i), Raw: escapeExact(value), Unprintable: strings.ContainsRune(value, 0)}
	if IsWebAddress(value) {
		v.Link = value
	}
	formatted := value
	switch v.Kind {
	case KindImage:
		v.Image = imageAddress(s.Files, value)
	case KindDate:
		_, formatted = Time(&v.Field, value)
	case KindNumber:
		formatted = Number(value)
	}
	if formatted != value {
		v.Formatted = formatted
	}
	if v.Filterable && v.Type != herb.TypeList && value != "" && (v.Kind == KindDate || modeOf(d, i) == ModeValues) {
		v.Same = s.Href(query.Params{{Name: s.eqParam(i), Value: value}})
	}
	return v
}

// escapeExact escapes text such that a browser shows it unchanged: it would replace a literal carriage return by a line
// feed.
func escapeExact(s string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(s), "\r", "&#13;"))
}
