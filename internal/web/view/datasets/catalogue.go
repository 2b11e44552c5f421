// Package datasets builds what pages say about a dataset: its head, its title, its descriptor and
// the quality of its file.
package datasets

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
)

// readableName returns the name of a dataset as a title: "usgs_earthquakes-2016" is "Usgs
// earthquakes 2016".
func readableName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return r == '-' || r == '_' || r == '.' ||
			unicode.IsSpace(r)
	})
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
		first.Names = append(first.Names, herb.Clip(format.PlainText(columns.Heading(f)), 30))
	}
	first.More = len(d.Fields) - len(first.Names)
	return first
}
