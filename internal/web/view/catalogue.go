package view

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// readableName returns the name of a dataset as a title: "usgs_earthquakes-2016" is "Usgs
// earthquakes 2016".
func readableName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' || unicode.IsSpace(r) })
	joined := strings.Join(words, " ")
	first, size := utf8.DecodeRuneInString(joined)
	if size == 0 {
		return name
	}
	return string(unicode.ToUpper(first)) + joined[size:]
}

// FirstColumns returns the headings of the first columns of a dataset, for the catalogue, and the
// number of the others.
func FirstColumns(d *herb.Dataset) (first struct {
	Names []string
	More  int
}) {
	const most = 6
	for _, f := range d.Fields[:min(len(d.Fields), most)] {
		first.Names = append(first.Names, herb.Clip(PlainText(Heading(f)), 30))
	}
	first.More = len(d.Fields) - len(first.Names)
	return first
}

// SparkLabel says what the small chart of a dataset shows: a map, or the distribution of a column
// with its ends. It is empty if there is no chart.
func SparkLabel(d *herb.Dataset) string {
	if len(MapPairs(d)) > 0 {
		return "map"
	}
	i := SparkColumn(d)
	if i < 0 {
		return ""
	}
	f, c := &d.Fields[i], ColumnReport(d, i)
	label := herb.Clip(PlainText(Heading(*f)), 24)
	if !query.HasRange(f.Type) || c.Min == "" || c.Max == "" {
		return label
	}
	column := NewColumn(d, i)
	from, to := shortOperand(&column, c.Min), shortOperand(&column, c.Max)
	const year = 4 // digits
	if f.Type != herb.TypeNumber && len(from) > year && len(to) > year && from[:year] != to[:year] {
		from, to = from[:year], to[:year]
	}
	return label + " " + from + " – " + to
}

// SparkDots is a small map.
type SparkDots struct {
	ViewBox, Transform string // of the SVG, and from cells to it
	Levels             []Level
}

// SparkColumns is the number of cells of a small map from west to east.
const SparkColumns = 60

// NewSparkDots returns the small map of the cells of a grid.
func NewSparkDots(q *query.GridRequest, grid query.Grid) SparkDots {
	b := q.Bounds
	return SparkDots{ViewBox: viewBox(b), Transform: cellTransform(q), Levels: newLevels(grid.Cells)}
}

// FoundRow is a row that a search of all datasets matches.
type FoundRow struct {
	Title  string
	Column string  // heading of the column with the match; empty: it is in the title
	Pieces []Piece // of the text around the match
}

// NewFoundRow returns how a row is shown among the results of a search.
func NewFoundRow(d *herb.Dataset, search *query.Search, row herb.Record) FoundRow {
	const visible, width = 90, 600 // characters, and about their width in pixels
	h, naming := newHighlighter(search), NamingColumn(d)
	r := FoundRow{Title: title(d, row)}
	if pieces := h.pieces(r.Title); pieces != nil {
		r.Pieces = pieces
		return r
	}
	for i, f := range d.Fields {
		if i != naming && f.Searchable && h.matches(row[i]) {
			r.Column, r.Pieces = Heading(f), h.pieces(herb.Clip(h.excerpt(PlainText(row[i]), width), visible))
			break
		}
	}
	return r
}
