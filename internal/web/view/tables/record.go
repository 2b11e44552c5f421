package tables

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// Record is one row with all its values.
type Record struct {
	Title             string // from the column that names the records
	Number            int    // in the whole result, from 1
	Total             int
	Values            []Value
	JSON              string // empty: it is too long
	History           string // link to what changed in it; empty: it has no primary key
	Permalink         string // by primary key, or by content; empty: there is none
	Prev, Next, Close string // Prev and Next are empty at the ends of the result
}

// Value is a value of the open record, up to MaxRecordValue.
type Value struct {
	columns.Column
	Cell
	Same        string       // link to the rows with this value; empty: not offered
	Elements    []state.Link // of a list, to the rows with the element; those with a match are current
	Unprintable bool         // it contains a NUL character, which HTML cannot represent
	Long        bool         // it takes the whole width of the panel
	Code        string       // the value itself, if Text is its category label
}

// HasMany reports whether the record has so many values that one is found by name.
func (r *Record) HasMany() bool { return len(r.Values) > 12 }

// NewRecord builds the open record of a page of rows; nil if none is open.
func NewRecord(s *state.State, req *query.Request, rows []herb.Record, records [][]byte, total int) *Record {
	i := s.Record - 1
	if i < 0 || i >= len(rows) {
		return nil
	}
	var indented bytes.Buffer
	if len(records[i]) <= maxRecordJSON {
		_ = json.Indent(&indented, records[i], "", "  ") // rows are decoded from valid JSON
	}
	r := &Record{Number: req.Offset() + i + 1, Total: total, JSON: indented.String(), Close: s.Href(s.Listing),
		Permalink: s.Permalink(rows[i], records[i])}
	r.Title = Title(s.Dataset, rows[i])
	link := func(page, position int) string {
		return s.PageHref(page, query.Param{Name: state.ParamRecord, Value: strconv.Itoa(position)})
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
	case r.Number < total:
		r.Next = link(req.Page+1, 1)
	}
	h := newHighlighter(s, req)
	for k := range s.Fields {
		r.Values = append(r.Values, newValue(s, k, rows[i][k], h))
	}
	return r
}

// The lengths of titles and of values that are beside their names, in characters.
const (
	maxTitle  = 120
	longValue = 90
)

// Title returns the name of a record for a reader; empty if it has none. A value without letters,
// such as a date or a code, follows the name of its column.
func Title(d *columns.Dataset, row herb.Record) string {
	f := &d.Fields[d.Titles]
	name := herb.Clip(format.PlainText(d.Shown(d.Titles, row[d.Titles])), maxTitle)
	switch _, status := text.Operand(f, row[d.Titles]); {
	case name == "", f.Type != herb.TypeText && status != text.Valid: // missing, such as NA
		return ""
	case f.Type != herb.TypeText, !strings.ContainsFunc(name, unicode.IsLetter):
		return columns.Heading(*f) + " " + name
	}
	return name
}

func newValue(s *state.State, i int, value string, h highlighter) Value {
	v := Value{Column: columns.NewColumn(s.Dataset, i), Cell: Cell{Text: value, Href: format.WebAddress(value)},
		Unprintable: strings.ContainsRune(value, 0)}
	v.Clipped = len(value) > MaxRecordValue-utf8.UTFMax
	switch v.Kind {
	case columns.KindImage:
		v.Image = s.ImageAddress(value)
	case columns.KindDate:
		v.Text = format.Time(&v.Field, value)
	case columns.KindNumber:
		v.Text = v.Number(value)
	}
	if label := s.Dataset.Meanings[i].Categories.Label(value); label != "" {
		v.Text, v.Code, v.Href = label, value, ""
	}
	v.Long = utf8.RuneCountInString(v.Text) > longValue || strings.Contains(v.Text, "\n")
	if v.Text != value || v.Notation.JSON {
		v.Raw = value
	}
	v.Pieces = h.pieces(i, v.Text)
	if v.Filterable && v.Type == herb.TypeList && v.Href == "" {
		v.setElements(s, value, h)
	}
	canSelect := v.Kind == columns.KindDate || s.Dataset.Meanings[i].Mode == columns.ModeValues
	if v.Filterable && v.Type != herb.TypeList && value != "" && !v.Clipped && canSelect &&
		!slices.Contains(s.Dataset.PrimaryKey, v.Name) {
		v.Same = s.Href(query.Params{s.EqFilter(i, value)})
	}
	return v
}

// setElements links the elements of a list, with the text between them as it is written; JSON
// arrays are written with commas. A list with very many elements has no links.
func (v *Value) setElements(s *state.State, value string, h highlighter) {
	const maxElements = 50
	elements := listElements(&v.Field, value)
	if len(elements) == 0 || len(elements) > maxElements {
		return
	}
	addText := func(text string) {
		if text != "" {
			v.Elements = append(v.Elements, state.Link{Label: text})
		}
	}
	for i, element := range elements {
		before := ""
		if !v.Notation.JSON {
			before, value, _ = strings.Cut(value, element)
		} else if i > 0 {
			before = ","
		}
		addText(before)
		v.Elements = append(v.Elements, state.Link{
			Label: element, Current: len(h.ElementRanges(v.Index, element)) > 0,
			Href: s.Href(query.Params{{Name: s.EqParam(v.Index), Value: element}}),
		})
	}
	if !v.Notation.JSON {
		addText(value)
	}
}
