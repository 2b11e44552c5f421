package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Table is one page of rows.
type Table struct {
	From, To, Total int
	Headers         []Header
	Rows            []Row
}

// Header is the header of a column. Its link sorts ascending, then descending, then restores the original order.
type Header struct {
	Heading string
	Class   string
	Sort    string // value of aria-sort; empty: not sorted by this column
	Href    string // empty: not sortable
	Hint    string // what the link does
}

// Row is a row of the table.
type Row struct {
	Number int // in the whole result, from 1
	Href   string
	Open   bool
	Cells  []Cell
}

// Cell is a cell of the table. At most one of Image, Tags, Href and Datetime is set; otherwise it shows Text.
type Cell struct {
	Class    string
	Text     string
	Image    string
	Tags     []Tag
	More     int    // tags that are not shown
	Href     string // external address
	Datetime string
}

// Tag is an element of a list value. Its link filters by the element.
type Tag struct{ Text, Href string }

// The limits of a cell in characters; the record panel shows the whole value.
const (
	maxCell     = 180
	maxLinkText = 48
	maxTagText  = 40
	maxTags     = 6
)

// NewTable builds the table of a page of rows.
func NewTable(s *State, columns []Column, req *query.Request, rows [][]string, total int) *Table {
	t := &Table{From: req.Offset() + 1, To: req.Offset() + len(rows), Total: total}
	for _, c := range columns {
		t.Headers = append(t.Headers, newHeader(s, c, req))
	}
	tagLinks := make([]string, len(columns)) // up to the value
	for i, c := range columns {
		if c.Kind == KindList && c.Filterable {
			tagLinks[i] = s.prefix(s.AnyPage(), s.eqParam(c.Index))
		}
	}
	recordLink := s.prefix(s.Listing, ParamRecord)
	cells := make([]Cell, len(rows)*len(columns))
	for i, values := range rows {
		row := Row{Number: t.From + i, Href: recordLink + strconv.Itoa(i+1), Open: s.Record == i+1}
		row.Cells, cells = cells[:len(columns)], cells[len(columns):]
		for k, c := range columns {
			row.Cells[k] = newCell(c.Kind, values[c.Index], tagLinks[k])
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func newHeader(s *State, c Column, req *query.Request) Header {
	h := Header{Heading: c.Heading}
	switch c.Kind {
	case KindNumber, KindCode:
		h.Class = "num"
	case KindDate:
		h.Class = "date"
	}
	sorted := req.Sort == c.Index
	switch {
	case sorted && req.Desc:
		h.Sort = "descending"
	case sorted:
		h.Sort = "ascending"
	}
	if !c.Sortable {
		return h
	}
	unsorted := s.AnyPage().Without(query.ParamSort, query.ParamOrder)
	ascending := s.prefix(unsorted, query.ParamSort) + url.QueryEscape(c.Name)
	switch {
	case !sorted, req.Desc && s.Listing.Get(query.ParamSort) == "": // sorted by the default order
		h.Href, h.Hint = ascending, "Sort ascending"
	case req.Desc:
		h.Href, h.Hint = s.Href(unsorted), "Original order"
	default:
		h.Href, h.Hint = ascending+"&order=desc", "Sort descending"
	}
	return h
}

func newCell(kind Kind, value, tagLink string) Cell {
	if value == "" {
		return Cell{Class: "empty"}
	}
	switch kind {
	case KindNumber:
		return Cell{Class: "num", Text: Clip(Number(value), maxCell)}
	case KindCode:
		return Cell{Class: "num", Text: Clip(value, maxCell)}
	case KindDate:
		return Cell{Class: "date", Text: Date(value), Datetime: value}
	case KindList:
		return newTags(value, tagLink)
	case KindImage:
		if isImage(value) {
			return Cell{Class: "image", Image: value}
		}
	}
	switch {
	case IsWebAddress(value):
		_, text, _ := strings.Cut(value, "://")
		return Cell{Class: "link", Href: value, Text: Clip(strings.TrimSuffix(strings.TrimPrefix(text, "www."), "/"), maxLinkText)}
	case len(value) > 60:
		return Cell{Class: "long", Text: Clip(value, maxCell)}
	case len(value) > 20:
		return Cell{Class: "mid", Text: value}
	}
	return Cell{Text: value}
}

// newTags returns the cell of a list value. An empty link is that of a column that cannot be filtered.
func newTags(value, link string) Cell {
	c := Cell{Class: "tags"}
	for tag := range strings.SplitSeq(value, ",") {
		switch {
		case tag == "":
		case len(c.Tags) == maxTags:
			c.More++
		case link == "":
			c.Tags = append(c.Tags, Tag{Text: Clip(tag, maxTagText)})
		default:
			c.Tags = append(c.Tags, Tag{Text: Clip(tag, maxTagText), Href: link + url.QueryEscape(tag)})
		}
	}
	return c
}

// DecodeRows reads the values of records from their JSON, an object of strings in the order of the fields.
func DecodeRows(records [][]byte, fields []herb.Field) ([][]string, error) {
	rows := make([][]string, len(records))
	for i, record := range records {
		d := json.NewDecoder(bytes.NewReader(record))
		if _, err := d.Token(); err != nil { // the opening brace
			return nil, fmt.Errorf("decode record: %w", err)
		}
		rows[i] = make([]string, len(fields))
		for k := range fields {
			if _, err := d.Token(); err != nil { // the name
				return nil, fmt.Errorf("decode record: %w", err)
			}
			value, err := d.Token()
			if err != nil {
				return nil, fmt.Errorf("decode record: %w", err)
			}
			text, ok := value.(string)
			if !ok {
				return nil, fmt.Errorf("decode record: field %q is %v, not a string", fields[k].Name, value)
			}
			rows[i][k] = text
		}
	}
	return rows, nil
}
