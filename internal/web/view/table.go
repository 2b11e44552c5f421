package view

import (
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
	Number string // in the whole result, from 1
	Href   string
	Open   bool
	Cells  []Cell
}

// Cell is a cell of the table. At most one of Empty, Number, Href, Date, Image and Tags is set; a cell without any is text.
type Cell struct {
	Text         string
	Empty        bool
	Number       bool
	Href         string // of an external link
	Date         string // for machines
	Image        string
	Tags         []Tag
	More         int  // tags that are not shown
	Long, Medium bool // length of a text
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
	tagLinks := make([]string, len(columns)) // up to the value
	for i, c := range columns {
		t.Headers = append(t.Headers, newHeader(s, c, req))
		if c.Kind == KindList && c.Filterable {
			tagLinks[i] = s.prefix(s.AnyPage(), s.eqParam(c.Index))
		}
	}
	recordLink := s.prefix(s.Listing, ParamRecord)
	cells := make([]Cell, len(rows)*len(columns))
	for i, values := range rows {
		row := Row{Number: herb.Count(t.From + i), Href: recordLink + strconv.Itoa(i+1), Open: s.Record == i+1}
		row.Cells, cells = cells[:len(columns)], cells[len(columns):]
		for k, c := range columns {
			row.Cells[k] = newCell(s, &c, values[c.Index], tagLinks[k])
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
	// Only one column is marked as sorted: the first sort field, which decides first.
	sorted := len(req.Sort) > 0 && req.Sort[0].Field == c.Index
	desc := sorted && req.Sort[0].Desc
	switch {
	case desc:
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
	case !sorted, desc && s.Listing.Get(query.ParamSort) == "": // sorted by the default order
		h.Href, h.Hint = ascending, "Sort ascending"
	case desc:
		h.Href, h.Hint = s.Href(unsorted), "Original order"
	default:
		h.Href, h.Hint = ascending+"&order=desc", "Sort descending"
	}
	return h
}

func newCell(s *State, c *Column, value, tagLink string) Cell {
	if value == "" {
		return Cell{Empty: true}
	}
	switch c.Kind {
	case KindNumber:
		return Cell{Number: true, Text: herb.Clip(Number(value), maxCell)}
	case KindCode:
		return Cell{Number: true, Text: herb.Clip(value, maxCell)}
	case KindDate:
		if machine, shown := Time(&c.Field, value); machine != "" {
			return Cell{Date: machine, Text: shown}
		}
	case KindList:
		return newTags(value, tagLink)
	case KindImage:
		if image := imageAddress(s.Files, value); image != "" {
			return Cell{Image: image}
		}
	}
	if IsWebAddress(value) {
		_, text, _ := strings.Cut(value, "://")
		return Cell{Href: value, Text: herb.Clip(strings.TrimSuffix(strings.TrimPrefix(text, "www."), "/"), maxLinkText)}
	}
	return Cell{Text: herb.Clip(value, maxCell), Long: len(value) > 60, Medium: len(value) > 20}
}

// newTags returns the cell of a list value. An empty link is that of a column that cannot be filtered.
func newTags(value, link string) Cell {
	var c Cell
	for tag := range strings.SplitSeq(value, ",") {
		switch {
		case tag == "":
		case len(c.Tags) == maxTags:
			c.More++
		default:
			t := Tag{Text: herb.Clip(tag, maxTagText)}
			if link != "" {
				t.Href = link + url.QueryEscape(tag)
			}
			c.Tags = append(c.Tags, t)
		}
	}
	return c
}

// DecodeRows returns the values of records in the order of the fields.
func DecodeRows(records [][]byte, fields []herb.Field) ([][]string, error) {
	rows, decoder := make([][]string, len(records)), herb.NewRecordDecoder(fields)
	for i, record := range records {
		rows[i] = make([]string, 0, len(fields))
		if err := decoder.Decode(record, func(v []byte) { rows[i] = append(rows[i], string(v)) }); err != nil {
			return nil, fmt.Errorf("decode record: %w", err)
		}
	}
	return rows, nil
}
