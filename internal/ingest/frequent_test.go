package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"

	"herbarium/internal/ingest"
	"herbarium/internal/must"
)

// shape is what a published file has beside a header and records.
type shape struct {
	delimiter                                             string
	noHeader, titles, footnotes, groups, repeats          bool
	unnamed, trailing, otherTable, oneColumn, latin, utf8 bool
}

// shapeOf returns the shape of one of 100 files, which have each shape as often as 3,712 files of a
// government and of a research repository have.
func shapeOf(i int) shape {
	// The factors have no divisor in common with 100, so exactly share files have a shape.
	has := func(factor, share int) bool { return (i*factor+factor)%100 < share }
	s := shape{delimiter: ","}
	switch n := i % 100; {
	case n < 22:
		s.delimiter = ";"
	case n < 25:
		s.delimiter = ", "
	}
	s.noHeader, s.titles, s.footnotes = has(3, 13), has(7, 12), has(11, 5)
	s.unnamed, s.trailing, s.repeats = has(13, 6), has(17, 6), has(19, 8)
	s.groups, s.otherTable, s.oneColumn = has(21, 7), has(23, 6), has(27, 1)
	s.latin, s.utf8 = has(29, 16), has(31, 11)
	s.titles = s.titles && !s.noHeader
	s.otherTable = s.otherTable && !s.noHeader && !s.oneColumn
	return s
}

// write returns the content of a file of a shape, and what is read from it.
func (s shape) write() (content string, want table) {
	towns := []string{"Leeds", "York", "Bath", "Wells", "Ely", "Ripon", "Derby", "Truro"}
	if s.latin || s.utf8 {
		towns = []string{"Zürich", "Genève", "Köln", "Málaga", "Orléans", "Besançon", "Nîmes", "Örebro"}
	}
	names := [][]string{{"Town", "Opened", "Visitors", "Price", "Remark"}}
	fields := slices.Clone(names[0])
	switch {
	case s.oneColumn:
		names, fields = [][]string{{"Town"}}, []string{"Town"}
	case s.noHeader:
		names, fields = nil, []string{"column_1", "column_2", "column_3", "column_4", "column_5"}
	case s.groups:
		names = [][]string{{"", "Boys", "", "Girls", ""}, {"Town", "since", "n", "share", "n"}}
		fields = []string{"Town", "Boys since", "Boys n", "Girls share", "Girls n"}
	case s.repeats:
		names[0][4], fields[4] = "Price", "Price_2"
	case s.unnamed:
		names[0][4], fields[4] = "", "column_5"
	}
	decimal := map[bool]string{true: ",", false: "."}[s.delimiter == ";"]
	var records [][]string
	for i, town := range towns {
		r := []string{town, fmt.Sprintf("2020-0%d-1%d", i+1, i), fmt.Sprint(100 + 37*i),
			fmt.Sprintf("%d%s%d5", i+1, decimal, i), []string{"", "closed on Mondays"}[i%2]}
		if s.groups || s.repeats {
			r[4] = fmt.Sprint(7 * i)
		}
		records = append(records, r[:len(fields)])
	}
	width := len(fields)
	if s.trailing {
		width++
	}
	var b strings.Builder
	line := func(cells ...string) {
		for len(cells) < width {
			cells = append(cells, "")
		}
		for i, c := range cells {
			if s.delimiter == ", " {
				cells[i] = `"` + c + `"`
			}
		}
		b.WriteString(strings.Join(cells, s.delimiter) + "\r\n")
	}
	if s.titles {
		line("Towns of the county")
		line()
	}
	for _, n := range names {
		line(slices.Clone(n)...)
	}
	for _, r := range records {
		line(slices.Clone(r)...)
	}
	if s.otherTable {
		line()
		line("Staff")
		line("Name", "Role", "Since", "Desk", "Phone", "Room", "Floor")
		line("Ann", "guide", "2019-02-03", "7", "123", "B", "2")
		line("Bob", "cook", "2018-02-03", "8", "124", "C", "1")
	}
	if s.footnotes && !s.oneColumn {
		line()
		line("Source: office of the county")
	}
	return b.String(), append(table{fields}, records...)
}

// TestCorpus_frequent reads files of the shapes that published files have most often, in their
// proportions. All of them must be read as a person reads them.
func TestCorpus_frequent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 100 {
		s := shapeOf(i)
		content, want := s.write()
		if s.latin {
			encoded, err := charmap.Windows1252.NewEncoder().String(content)
			must.NoError(t, err)
			content = encoded
		}
		got, _, err := read(t, ingest.Source{Path: writeFile(t, dir, fmt.Sprintf("%d.csv", i), content)})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("file %d, %+v: error %v (-want +got):\n%s", i, s, err, diff)
		}
	}
}
