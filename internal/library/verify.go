package library

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// verifySegment reads a finished segment back. It verifies checksums and that the cells are those read from the source:
// complete according to the report, each in its column, with the values the segment was built from.
func verifySegment(ctx context.Context, r *segment.Reader, fields []herb.Field, source string, report *herb.Report) error {
	var sums error
	var checking sync.WaitGroup
	checking.Go(func() {
		defer herb.Recover(&sums)
		sums = r.Verify()
	})
	listed, columns, err := hashListing(ctx, r, fields)
	checking.Wait()
	if err := errors.Join(sums, err); err != nil {
		return fmt.Errorf("cannot read back the written segment: %w", err)
	}
	if listed != source {
		return fmt.Errorf("content hash mismatch: source %s, "+
			"listing %s; nothing was published", source, listed)
	}
	if err := report.Reconcile(columns); err != nil {
		return fmt.Errorf("the listing is incomplete: %w; nothing was published", err)
	}
	return nil
}

// hashListing returns the hash of all listed cells and the fingerprints of the columns.
func hashListing(ctx context.Context, r *segment.Reader, fields []herb.Field) (string, []herb.ColumnCells, error) {
	h, d, columns := newCellHash(fields), herb.NewRecordDecoder(fields), make([]herb.ColumnCells, len(fields))
	n, at := 0, 0
	cell := func(value []byte) {
		h.addCell(value)
		columns[at].Add(n, value)
		at++
	}
	err := r.Each(ctx, func(record []byte) error {
		at = 0
		if err := d.Decode(record, cell); err != nil {
			return fmt.Errorf("record %d: %w", n+1, err)
		}
		n++
		h.endRow()
		return nil
	})
	return h.String(), columns, err
}

// completeReport adds to a report what is only known once the version is built.
func completeReport(report *herb.Report, r *segment.Reader, d herb.Dataset, cells string) (*herb.Report, error) {
	c := herb.Report{Rows: d.Records}
	if report != nil {
		c = *report
	}
	c.Cells = cells
	c.Columns, c.Notes = slices.Clone(c.Columns), slices.Clone(c.Notes)
	if len(c.Columns) != len(d.Fields) { // the publisher reported no columns
		c.Columns = make([]herb.ColumnReport, len(d.Fields))
	}
	const step = 500
	for i, f := range d.Fields {
		if i%step == step-1 { // reading a few values of many columns maps the whole file into memory
			r.Forget()
		}
		s, err := r.Column(i)
		if err != nil {
			return nil, err
		}
		col := &c.Columns[i]
		col.Field, col.Type, col.Source = f.Name, f.Type, herb.ColumnCells{}
		col.Filled, col.Empty, col.Distinct = s.Filled, d.Records-s.Filled, s.Distinct
		col.Min, col.Max = clip(s.Min), clip(s.Max)
	}
	return &c, nil
}

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

// findDuplicates reports records with the same primary key as a breaking change.
func findDuplicates(ctx context.Context, r *segment.Reader, d herb.Dataset) ([]Change, error) {
	if len(d.PrimaryKey) == 0 {
		return nil, nil
	}
	fields := make([]int, len(d.PrimaryKey))
	for i, name := range d.PrimaryKey {
		fields[i] = herb.FieldIndex(d.Fields, name)
	}
	found, err := r.Duplicates(ctx, fields)
	if err != nil || found.Records == 0 {
		return nil, err
	}
	var b strings.Builder
	repeat := "records repeat"
	if found.Records == 1 {
		repeat = "record repeats"
	}
	fmt.Fprintf(&b, "primary key (%s) is not unique: %s %s the key of an earlier one",
		strings.Join(d.PrimaryKey, ", "), herb.Count(found.Records), repeat)
	shown := 0
	for _, dup := range found.First {
		values := make([]string, len(dup.Values))
		for i, v := range dup.Values {
			values[i] = strconv.Quote(clip(v))
		}
		fmt.Fprintf(&b, "; %s in records %s", strings.Join(values, ", "), numbers(dup))
		shown += dup.Total - 1
	}
	if shown < found.Records {
		b.WriteString("; …")
	}
	return []Change{{Kind: KeyNotUnique, Breaking: true, Message: b.String()}}, nil
}

// numbers formats the record numbers of a duplicate.
func numbers(d segment.Duplicate) string {
	list := make([]string, len(d.Records))
	for i, n := range d.Records {
		list[i] = herb.Count(n)
	}
	if len(list) < d.Total {
		return strings.Join(list, ", ") + ", …"
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
