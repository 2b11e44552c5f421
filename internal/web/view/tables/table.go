package tables

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/distributions"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// Table is one page of rows.
type Table struct {
	Headers   []Header
	Rows      []Row
	Width     int  // of all columns in pixels
	Stretches bool // one column takes the rest of the window
	// RowNumberWidth is the width of the column of row numbers in pixels, Digits the number of
	// digits that it has space for, from 4.
	RowNumberWidth, Digits int
	// What the script needs to show other rows while a visitor scrolls.
	More    string // path that returns their pages; empty: a page shows its own rows only
	Moved   string // query string of the columns that the search has brought into view
	Version string // of the rows; empty: they change one by one

	title int // column whose values are the titles of cards
}

// maxHeight is the height in pixels up to which the script shows rows in their place. Browsers
// limit the heights of elements, Firefox to 17.8 million pixels; a larger listing has a finer
// scale.
const maxHeight = 15_000_000

// MaxHeight returns maxHeight for the template.
func (*Table) MaxHeight() int { return maxHeight }

// Header is the header of a column. Its link sorts ascending, then descending, then restores the
// original order.
type Header struct {
	columns.Column
	Class  string
	Pinned bool
	Sorted string // "ascending", "descending" or empty: not sorted by this column
	// among several sort keys, from 1; 0: not sorted by this column, or by this column only
	SortPosition          int
	Href                  string // empty: not sortable
	Hint                  string // what the link does
	Ascending, Descending string // links of the menu
	Filter                string // empty: not filterable
	// parameters that filter the column by operator, for the menu of a cell: JSON; empty: not
	// filterable
	Filters string
	// link that adds the column to the order, reverses it, or removes it; empty: not sortable
	AddSort      string
	Distribution distributions.Distribution
	Width        int    // in pixels
	Flexible     bool   // it takes the rest of the window
	IsNumber     bool   // its values are numbers, which can be added
	Evidence     string // why the column has its type; empty: unknown
	Lengths      string // of its texts, such as "3–80 characters"; empty: unknown, or no texts
	Exceptions   *distributions.Exceptions

	limit  int    // characters of a cell
	places int    // digits after the decimal point that the numbers of the page leave space for
	label  string // of the field on a card; empty: it is not on cards
}

// setLabels chooses the fields of the cards that phones show: the title is the one that names
// the records, or the pinned one. Identifiers and long texts follow if there are not enough others.
func (t *Table) setLabels(s *state.State) {
	const short = 60 // characters
	d, left := s.Dataset, 3
	title := slices.IndexFunc(t.Headers, func(h Header) bool { return h.Index == d.Naming })
	if s.Pin >= 0 {
		title = 0
	}
	t.title = max(title, 0)
	for _, isFallback := range []bool{false, true} {
		for k := range t.Headers {
			h := &t.Headers[k]
			r := d.Meanings[h.Index].Report
			isPoor := h.Kind == columns.KindCode || r != nil && h.Kind == columns.KindText && r.Longest > short
			if k != t.title && left > 0 && h.Kind != columns.KindImage && isPoor == isFallback {
				h.label = h.Heading
				left--
			}
		}
	}
}

// Row is a row of the table.
type Row struct {
	Index  int    // in the whole listing, of which the header is the first row
	ID     string // of its element
	Number string // in the whole listing, from 1
	Href   string
	Open   bool
	Cells  []Cell
}

// Cell is a cell of the table.
type Cell struct {
	Class  string
	Text   string
	Pieces []Piece // of the text, with the matches of the request; none: there are no matches
	Pad    string  // the digits that a number lacks to end with the longest fraction of its column; takes space only
	Raw    string  // the value, if Text differs
	// of a value of a column of numbers that is not written as a plain decimal: its number; empty:
	// it is none
	Decimal *string
	Clipped bool   // the value is too long to be part of the page
	Label   string // name of the field on a card; empty: the card of the row lacks it
	Href    string // of an external link
	Image   string
	Tags    []Piece
	More    int // tags that are not shown
	// Offered is the elements of a list that the menu of the cell offers, if Tags lack some of
	// them: JSON.
	Offered string
}

// Plain reports whether the text is that of the whole cell and written from left to right, so that
// it needs no element of its own. A page has thousands of cells.
func (c Cell) Plain() bool { return len(c.Pieces) == 0 && isASCII(c.Text) }

// The limits of a cell in characters; the record shows the whole value. A column that is not the
// widest one shows fewer.
const (
	maxCell    = 200
	leastCell  = 60
	maxTagText = 40
	maxTags    = 5
	maxOffered = 8 // elements that the menu of the cell offers
)

// NewTable builds the table of a page of rows. A search may bring other columns into view.
func NewTable(s *state.State, req *query.Request, rows []herb.Record) *Table {
	t := &Table{}
	h := newHighlighter(s, req)
	shown := s.ShownColumns()
	if len(s.Columns) == 0 && h.HasWords() && len(shown) > 0 {
		moved := s.Moved
		if moved == nil {
			words := highlighter{query.NewMarker(s.Fields, req.Search, nil)}
			moved = bringIntoView(words, shown, s.Dataset.ShownRows(rows))
		}
		shown = moveToFront(shown, moved)
		names := query.Params{{Name: state.ParamMoved}} // also if there are none
		for _, i := range moved {
			names = names.With(query.Param{Name: state.ParamMoved, Value: s.Fields[i].Name})
		}
		t.Moved = names.Encode()
	}
	for k, i := range shown {
		t.Headers = append(t.Headers, newHeader(s, columns.NewColumn(s.Dataset, i), req))
		t.Headers[k].Pinned = k == 0
	}
	t.setWidths(s)
	t.setPlaces(s.Dataset, rows)
	t.setLabels(s)
	recordLink := s.Href(s.Listing, query.Param{Name: state.ParamRecord}) // the same for all rows up to the position
	for i, values := range rows {
		number := req.Offset() + i + 1
		row := Row{Index: number + 1, ID: state.RowID(number), Number: herb.Count(number), Href: recordLink +
			strconv.Itoa(i+1), Open: s.Record == i+1, Cells: make([]Cell, len(shown))}
		for k := range shown {
			row.Cells[k] = newCell(s, &t.Headers[k], values[shown[k]], h)
			row.Cells[k].Label = t.Headers[k].label
			if k == t.title {
				row.Cells[k].Class = strings.TrimSpace(row.Cells[k].Class + " title")
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func newHeader(s *state.State, c columns.Column, req *query.Request) Header {
	h := Header{Column: c, Class: columnClass(&c), IsNumber: c.Type == herb.TypeNumber && len(c.Categories) == 0,
		Distribution: distributions.Distribution{Index: c.Index}}
	if r := s.Dataset.Meanings[c.Index].Report; r != nil {
		const maxEvidence = 200 // characters
		h.Evidence = herb.Clip(r.Evidence, maxEvidence)
		h.Exceptions = distributions.NewExceptions(s, c.Index)
		if c.Kind == columns.KindText && c.Type == herb.TypeText && r.Filled > 0 {
			h.Lengths = distributions.Characters(r.Shortest, r.Longest)
		}
	}
	if c.Filterable {
		h.Filter = s.Href(s.AnyPage(), query.Param{Name: state.ParamFacet, Value: c.Name})
		h.Filters = filterParams(s, c.Index)
	}
	keys := req.Sort
	at := slices.IndexFunc(keys, func(k query.SortField) bool { return k.Field == c.Index })
	desc := at >= 0 && keys[at].Desc
	if desc {
		h.Sorted = "descending"
	} else if at >= 0 {
		h.Sorted = "ascending"
	}
	if len(keys) > 1 {
		h.SortPosition = at + 1
	}
	if !c.Sortable {
		return h
	}
	h.Ascending, h.Descending = s.Href(sortParams(s, query.SortField{Field: c.Index})),
		s.Href(sortParams(s, query.SortField{Field: c.Index, Desc: true}))
	h.AddSort = s.Href(sortParams(s, addSort(s, keys, c.Index)...))
	switch {
	case at < 0, len(keys) > 1, desc && s.Listing.Get(query.ParamSort) == "": // sorted by the default order
		h.Href, h.Hint = h.Ascending, "Sort ascending"
	case desc:
		h.Href, h.Hint = s.Href(sortParams(s)), "Original order"
	default:
		h.Href, h.Hint = h.Descending, "Sort descending"
	}
	return h
}

// filterParams returns the parameters with which the menu of a cell filters a field, by operator.
func filterParams(s *state.State, field int) string {
	name := s.Fields[field].Name
	params := map[query.Op]string{
		query.OpEq: s.EqParam(field), query.OpNe: query.FilterParam(name, query.OpNe),
		query.OpEmpty: query.FilterParam(name, query.OpEmpty),
	}
	if query.HasRange(s.Fields[field].Type) {
		params[query.OpGte], params[query.OpLte] = query.FilterParam(name, query.OpGte),
			query.FilterParam(name, query.OpLte)
	}
	encoded, _ := json.Marshal(params) // strings
	return string(encoded)
}

// columnClass returns the class of the cells of a column.
func columnClass(c *columns.Column) string {
	switch c.Kind {
	case columns.KindNumber, columns.KindCode:
		return "n"
	case columns.KindList:
		return "tags"
	case columns.KindImage:
		return "image"
	}
	return ""
}

func newCell(s *state.State, c *Header, value string, h highlighter) Cell {
	cell := Cell{Class: columnClass(&c.Column)}
	if c.IsNumber && value != "" {
		cell.setDecimal(&c.Field, value)
	}
	label := c.Label(value)
	switch {
	case value == "":
		cell.Class = strings.TrimSpace("e " + cell.Class)
		return cell
	case label != "":
		cell.Text = label
	case c.Kind == columns.KindNumber:
		cell.Text, cell.Pad = c.Number(value), c.pad(value)
	case c.Kind == columns.KindDate:
		cell.Text = format.Time(&c.Field, value)
	case c.Kind == columns.KindList:
		cell.addTags(&c.Column, value, h)
		return cell
	case c.Kind == columns.KindImage && s.ImageAddress(value) != "":
		cell.Image = s.ImageAddress(value)
		if cell.Image != value {
			cell.Raw = value
		}
		return cell
	case format.IsWebAddress(value):
		_, cell.Text, _ = strings.Cut(value, "://")
		cell.Text, cell.Href = strings.TrimSuffix(strings.TrimPrefix(cell.Text, "www."), "/"), value
	default:
		cell.Text = value
	}
	cell.Text = strings.Map(oneLine, cell.Text)
	cell.Text = h.excerpt(c.Index, cell.Text, c.Width-cellPadding)
	cell.Text = herb.Clip(cell.Text, c.limit)
	switch {
	case cell.Text == value || cell.Href == value && isASCII(value):
	case len(value) > c.limit:
		cell.Clipped = true // the script loads the value when it is copied
	default:
		cell.Raw = value
	}
	cell.Pieces = h.pieces(c.Index, cell.Text)
	return cell
}

// setDecimal sets the number that the script adds, if it is not the value itself.
func (cell *Cell) setDecimal(f *herb.Field, value string) {
	decimal, status := text.Operand(f, value)
	switch {
	case status != text.Valid: // missing, such as NA
		cell.Decimal = new(string)
	case decimal != value:
		cell.Decimal = &decimal
	}
}

// isASCII reports whether a text consists of ASCII characters. Browsers keep such a URL as it is.
func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// oneLine replaces the characters that HTML would collapse into a space, or that would break a
// line.
func oneLine(r rune) rune {
	if r == '\n' || r == '\r' || r == '\t' {
		return ' '
	}
	return r
}

// listElements returns the elements of a list. There are none in a JSON array that was clipped.
func listElements(f *herb.Field, value string) []string {
	if f.Notation.JSON {
		if _, ok := text.ParseArray([]byte(value)); !ok {
			return nil
		}
	}
	return text.Elements(f, value)
}

func (cell *Cell) addTags(c *columns.Column, value string, h highlighter) {
	elements := listElements(&c.Field, value)
	if elements == nil {
		elements = []string{value}
	}
	isComplete := len(elements) <= maxTags
	for _, tag := range elements[:min(len(elements), maxTags)] {
		shown := herb.Clip(tag, maxTagText)
		isComplete = isComplete && shown == tag
		cell.Tags = append(cell.Tags, Piece{Text: shown, Mark: len(h.ElementRanges(c.Index, tag)) > 0})
	}
	cell.More = len(elements) - len(cell.Tags)
	if !isComplete {
		encoded, _ := json.Marshal(elements[:min(len(elements), maxOffered)]) // strings
		cell.Offered = string(encoded)
	}
	cell.Clipped = len(value) > maxCellValue
	if !cell.Clipped && !(isComplete && strings.Join(elements, ",") == value) { // else the script joins the tags
		cell.Raw = value
	}
}
