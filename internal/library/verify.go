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

// certify reads a finished segment back: its checksums, and at the same time the cells of its records, which must be
// those that were read from the source: all of those that the reader of the file yielded, which the report accounts for,
// each in its column, and the very values that the segment was made from.
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
		return fmt.Errorf("what was written does not read back: %w", err)
	}
	if listed != source {
		return fmt.Errorf("what was written is not what was read: the cells of the source have the hash %s, those of the "+
			"listing %s; nothing was published", source, listed)
	}
	if err := report.Reconcile(columns); err != nil {
		return fmt.Errorf("what was written is not all that was read: %w; nothing was published", err)
	}
	return nil
}

// hashListing returns the hash of all cells that can be listed, and the fingerprints of their columns.
func hashListing(ctx context.Context, r *segment.Reader, fields []herb.Field) (string, []herb.ColumnCells, error) {
	h, d, columns := newCellHash(fields), newDecoder(fields), make([]herb.ColumnCells, len(fields))
	n, at := 0, 0
	cell := func(value []byte) {
		addCell(h, value)
		columns[at].Add(n, value)
		at++
	}
	err := r.Each(ctx, func(record []byte) error {
		at = 0
		if err := d.record(record, cell); err != nil {
			return fmt.Errorf("record %d: %w", n+1, err)
		}
		n++
		h.endRow()
		return nil
	})
	return h.String(), columns, err
}

// complete adds to a report what only the finished version knows.
func completeReport(report *herb.Report, r *segment.Reader, d herb.Dataset, cells string) (*herb.Report, error) {
	c := herb.Report{Rows: d.Records}
	if report != nil {
		c = *report
	}
	c.Cells = cells
	c.Columns, c.Notes = slices.Clone(c.Columns), slices.Clone(c.Notes)
	if len(c.Columns) != len(d.Fields) { // the publisher looked at no column
		c.Columns = make([]herb.ColumnReport, len(d.Fields))
	}
	const step = 500
	for i, f := range d.Fields {
		if i%step == step-1 { // looking at few values of many columns brings all of the file into memory
			r.Forget()
		}
		s, err := r.Column(i)
		if err != nil {
			return nil, err
		}
		col := &c.Columns[i]
		col.Field, col.Type, col.Source = f.Name, f.Type, herb.ColumnCells{}
		col.Filled, col.Empty, col.Distinct = s.Filled, d.Records-s.Filled, s.Distinct
		col.Min, col.Max = truncate(s.Min), truncate(s.Max)
	}
	return &c, nil
}

// settleKey leaves a primary key out that names what is not a field, and says so in the report.
func dropInvalidKey(d *herb.Dataset) {
	for _, name := range d.PrimaryKey {
		if herb.FieldIndex(d.Fields, name) < 0 {
			d.Report.Notes = append(d.Report.Notes, fmt.Sprintf("the primary key (%s) is left out: there is no field %q",
				strings.Join(d.PrimaryKey, ", "), name))
			d.PrimaryKey = nil
			return
		}
	}
}

// findDuplicates looks for records with the same primary key.
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
	repeat := "repeat"
	if found.Records == 1 {
		repeat = "repeats"
	}
	fmt.Fprintf(&b, "the primary key (%s) does not tell all records apart: %s of them %s the key of an earlier one",
		strings.Join(d.PrimaryKey, ", "), herb.Count(found.Records), repeat)
	told := 0
	for _, dup := range found.First {
		values := make([]string, len(dup.Values))
		for i, v := range dup.Values {
			values[i] = strconv.Quote(truncate(v))
		}
		fmt.Fprintf(&b, "; %s in records %s", strings.Join(values, ", "), numbers(dup))
		told += dup.Total - 1
	}
	if told < found.Records {
		b.WriteString("; …")
	}
	return []Change{{Kind: KeyNotUnique, Breaking: true, Message: b.String()}}, nil
}

// numbers lists the records of a duplicate.
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
