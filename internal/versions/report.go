package versions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// completeReport adds to a report what is only known once the version is built.
func completeReport(ctx context.Context, report *herb.Report, r *segment.Reader, d herb.Dataset,
	cells string) (*herb.Report, error) {
	c := herb.Report{Rows: d.Records}
	if report != nil {
		c = *report
	}
	c.Cells, c.Coordinates = cells, nil
	if all := r.Coordinates(); len(all) > 0 {
		c.Coordinates = all
	}
	c.Columns, c.Notes = slices.Clone(c.Columns), slices.Clone(c.Notes)
	if len(c.Columns) != len(d.Fields) { // the publisher reported no columns
		c.Columns = make([]herb.ColumnReport, len(d.Fields))
	}
	const step = 500
	for i, f := range d.Fields {
		if i%step == step-1 { // reading a few values of many columns maps the complete file into memory
			r.DropPages()
		}
		s, err := r.Column(i)
		if err != nil {
			return nil, err
		}
		col := &c.Columns[i]
		col.Field, col.Type, col.Source = f.Name, f.Type, herb.ColumnCells{}
		col.Filled, col.Empty, col.Distinct = s.Filled, d.Records-s.Filled, s.Distinct
		col.Min, col.Max = clip(s.Min), clip(s.Max)
		if col.Distinct <= fewValues {
			col.Lengths = nil // the counts of the values say more
		}
	}
	for _, at := range c.Coordinates {
		if at.Invalid > 0 {
			c.Notes = append(c.Notes,
				fmt.Sprintf("coordinates in %s: %s no position", strings.Join(at.Names(), " and "),
					herb.Plural(at.Invalid, "value is", "values are")))
		}
	}
	return &c, addWords(ctx, r, d.Fields, c.Columns)
}

// fewValues is the number of distinct values up to which the lengths of texts are not reported.
const fewValues = 50

// dropInvalidKey removes a primary key that names an unknown field and notes this in the report.
func dropInvalidKey(d *herb.Dataset) {
	for _, name := range d.PrimaryKey {
		if herb.FieldIndex(d.Fields, name) < 0 {
			d.Report.Notes = append(d.Report.Notes, fmt.Sprintf("primary key (%s) is ignored: no such field %q",
				strings.Join(d.PrimaryKey, ", "), name))
			d.PrimaryKey = nil
			return
		}
	}
}

// clipLimit is the number of characters of a value in a message.
const clipLimit = 100

func clip(s string) string { return herb.Clip(s, clipLimit) }
