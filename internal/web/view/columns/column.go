// Package columns decides what the columns of a dataset mean to a reader: names, codes, images,
// coordinates, categories and quantities.
//
// It decides from the types and the names of columns and from the publish report, once per version
// (Read, Cache): how values are shown (kindOf), how they are filtered (modeOf), which column names
// the records (namingColumns), which ones are coordinates (mapPairs), and which charts a dataset
// suggests (suggestCharts). Only whether numbers are skewed depends on the values themselves
// (ReadScales). Pages ask for a meaning here and never for the name of a column.
package columns

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/roles"
	"herbarium/internal/text"
	"herbarium/internal/web/view/format"
)

// LongText is the length of values in characters above which they are not a set of values.
const LongText = 120

// Kind determines how the values of a column are shown.
type Kind int

// The kinds of columns.
const (
	KindText Kind = iota
	KindNumber
	KindCode // a number that identifies something, such as an ID or a year
	KindDate
	KindList
	KindImage
)

// Column is a column of the table.
type Column struct {
	herb.Field
	Index   int // of the field
	Kind    Kind
	Heading string
	IsCode  bool // the digits of numbers are not grouped

	categories text.Categories
}

// Label returns the category label of a value; empty if it has none.
func (c *Column) Label(value string) string { return c.categories.Label(value) }

// Compare orders values by their categories.
func (c *Column) Compare(a, b string) int { return c.categories.Compare(a, b) }

// Number groups the digits of a number, unless it is a code.
func (c *Column) Number(s string) string {
	if c.IsCode {
		return s
	}
	return format.GroupNumber(&c.Field, s)
}

// Heading returns the title of a field, or its name, on one line.
func Heading(f herb.Field) string {
	heading := f.Name
	if format.PlainText(f.Title) != "" {
		heading = f.Title
	}
	if strings.ContainsAny(heading, "\n\r\t") {
		return strings.Join(strings.Fields(heading), " ")
	}
	return heading
}

// NewColumn returns the column of the field at a position.
func NewColumn(d *Dataset, i int) Column {
	m := d.Meanings[i]
	return Column{Field: d.Fields[i], Index: i, Kind: m.Kind, Heading: Heading(d.Fields[i]), IsCode: m.IsCode,
		categories: m.Categories}
}

// kindOf returns the kind of a field. Categories are read as texts, also if they are numbers. A
// field contains images if its name says so, or if the publish report shows that its values are
// addresses of images.
func kindOf(d *herb.Dataset, i int, c *herb.ColumnReport) Kind {
	f := d.Fields[i]
	if len(f.Categories) > 0 {
		return KindText
	}
	switch f.Type {
	case herb.TypeNumber:
		if isCodeName(f.Name, c) || slices.Contains(d.PrimaryKey, f.Name) {
			return KindCode
		}
		if c != nil && isYear(c.Min) && isYear(c.Max) && !roles.Of(f.Name).IsMeasure() {
			return KindCode
		}
		return KindNumber
	case herb.TypeDuration:
		return KindNumber
	case herb.TypeDate, herb.TypeDateTime, herb.TypeTime:
		return KindDate
	case herb.TypeList:
		return KindList
	case herb.TypeBoolean:
		return KindText
	}
	if hasWord(f.Name, "image", "img", "photo", "picture", "thumbnail", "thumb", "logo", "avatar", "cover", "icon") {
		return KindImage
	}
	if c != nil && isImageFile(c.Min) && isImageFile(c.Max) {
		return KindImage
	}
	return KindText
}
