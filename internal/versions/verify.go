package library

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// verifySegment reads a finished segment back. It verifies checksums and that the cells are those
// read from the source: complete according to the report, each in its column, with the values the
// segment was built from.
func verifySegment(ctx context.Context, r *segment.Reader, fields []herb.Field, source *cellHash, report *herb.Report, progress func(records int)) error {
	err := r.Verify()
	var listed string
	if err == nil {
		listed, err = hashListing(ctx, r, fields, progress)
	}
	if err != nil {
		return fmt.Errorf("cannot read back the written segment: %w", err)
	}
	if read := source.String(); listed != read {
		return fmt.Errorf("content hash mismatch: source %s, listing %s; nothing was published", read, listed)
	}
	if err := report.Reconcile(source.columns); err != nil { // the listing has the same cells as the source
		return fmt.Errorf("the listing is incomplete: %w; nothing was published", err)
	}
	return nil
}

// hashListing returns the hash of all listed cells.
func hashListing(ctx context.Context, r *segment.Reader, fields []herb.Field, progress func(records int)) (string, error) {
	const step = 10_000 // records between progress reports
	h, decoder, n := newCellHash(fields), herb.NewRecordDecoder(fields), 0
	cell := func(value []byte) { h.buf = appendCell(h.buf, value) }
	err := r.Each(ctx, func(record []byte) error {
		if err := decoder.Decode(record, cell); err != nil {
			return fmt.Errorf("record %d: %w", n+1, err)
		}
		h.endRow()
		if n++; n%step == 0 || n == r.Len() {
			progress(n)
		}
		return nil
	})
	return h.String(), err
}

// completeReport adds to a report what is only known once the version is built.
func completeReport(ctx context.Context, report *herb.Report, r *segment.Reader, d herb.Dataset, cells string) (*herb.Report, error) {
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
	if err := addWords(ctx, r, d.Fields, c.Columns); err != nil {
		return nil, err
	}
	return &c, describeNear(ctx, r, d, c.Columns)
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

// findDuplicates reports records with the same key as a breaking change.
func findDuplicates(ctx context.Context, r *segment.Reader, d herb.Dataset, key []string, isPrimary bool) ([]Change, error) {
	if len(key) == 0 {
		return nil, nil
	}
	fields := make([]int, len(key))
	for i, name := range key {
		fields[i] = herb.FieldIndex(d.Fields, name)
	}
	duplicates, err := r.Duplicates(ctx, fields)
	if err != nil || duplicates.Records == 0 {
		return nil, err
	}
	change := DuplicateKeys(key, isPrimary, duplicates.Records)
	var b strings.Builder
	b.WriteString(change.Message)
	shown := 0
	for _, dup := range duplicates.First {
		values := make([]string, len(dup.Values))
		for i, v := range dup.Values {
			values[i] = strconv.Quote(clip(v))
		}
		fmt.Fprintf(&b, "; %s in records %s", strings.Join(values, ", "), numbers(dup))
		shown += dup.Total - 1
	}
	if shown < duplicates.Records {
		b.WriteString("; …")
	}
	change.Message = b.String()
	return []Change{change}, nil
}

// DuplicateKeys returns the breaking change that some records have the primary key, or another
// unique key, of an earlier one.
func DuplicateKeys(key []string, isPrimary bool, records int) Change {
	what := "unique key"
	if isPrimary {
		what = "primary key"
	}
	return Change{Kind: KeyNotUnique, Breaking: true, Message: fmt.Sprintf("%s (%s) is not unique: %s the key of an earlier one",
		what, strings.Join(key, ", "), herb.Plural(records, "record repeats", "records repeat"))}
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

// cellHash hashes a table: its field names, then its records, row by row. A cell is written as its
// length in bytes, in decimal, a colon and its bytes; a row ends with a line feed. The encoding is
// unambiguous, and the hash can be computed from an export.
type cellHash struct {
	columns []herb.ColumnCells // fingerprints of the records
	rows    int
	sum     hash.Hash
	buf     []byte // cells that are not in sum yet
}

const (
	hashPrefix = "sha256:" // names the hash function
	rowEnd     = '\n'
)

func newCellHash(fields []herb.Field) *cellHash {
	h := &cellHash{sum: sha256.New(), columns: make([]herb.ColumnCells, len(fields))}
	for _, f := range fields {
		h.buf = appendCell(h.buf, f.Name)
	}
	h.buf = append(h.buf, rowEnd)
	return h
}

// appendCell appends a cell as it is hashed.
func appendCell[T string | []byte](b []byte, value T) []byte {
	b = strconv.AppendInt(b, int64(len(value)), 10)
	return append(append(b, ':'), value...)
}

// addRecord adds a row.
func (h *cellHash) addRecord(r herb.Record) {
	for i, v := range r {
		h.buf = appendCell(h.buf, v)
		if i < len(h.columns) { // an additional value changes the hash
			h.columns[i].Add(h.rows, h.buf[len(h.buf)-len(v):])
		}
	}
	h.rows++
	h.endRow()
}

// endRow ends a row whose cells are in buf.
func (h *cellHash) endRow() {
	if h.buf = append(h.buf, rowEnd); len(h.buf) >= 64<<10 {
		h.flush()
	}
}

func (h *cellHash) flush() {
	h.sum.Write(h.buf)
	h.buf = h.buf[:0]
}

// String returns the hash of all rows added so far.
func (h *cellHash) String() string {
	h.flush()
	return hashPrefix + hex.EncodeToString(h.sum.Sum(nil))
}

// withHash yields records unchanged and adds each to h.
func withHash(records iter.Seq2[herb.Record, error], h *cellHash) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for r, err := range records {
			if err == nil {
				h.addRecord(r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// checkCharts checks that the fields have what the charts of a publisher show.
func checkCharts(charts []herb.PinnedChart, fields []herb.Field) error {
	for i, c := range charts {
		var params query.Params
		for _, by := range c.By {
			params = params.With(query.Param{Name: query.ParamBy, Value: by})
		}
		if _, err := query.ParseAggregate(params.WithValue(query.ParamMeasure, c.Measure).Encode(), fields); err != nil {
			return herb.Invalidf("charts[%d]: %s", i, herb.MessageOf(err))
		}
	}
	return nil
}

// checkExpectations runs the queries of a publisher's expectations and returns those whose results
// differ, as breaking changes.
func checkExpectations(ctx context.Context, s query.Source, d herb.Dataset, expectations []herb.Expectation) (failed []Change, err error) {
	for i, e := range expectations {
		err := checkExpectation(ctx, s, d, e, func(format string, args ...any) {
			message := fmt.Sprintf("expectation %d, %q: ", i+1, e.Query) + fmt.Sprintf(format, args...)
			failed = append(failed, Change{Kind: ExpectationFailed, Breaking: true, Message: message})
		})
		if err != nil {
			return nil, fmt.Errorf("expectation %q: %w", e.Query, err)
		}
	}
	return failed, nil
}

// checkExpectation calls fail for each difference between the result of a query and what is
// expected.
func checkExpectation(ctx context.Context, s query.Source, d herb.Dataset, e herb.Expectation, fail func(format string, args ...any)) error {
	req, err := query.Split(strings.TrimPrefix(e.Query, "?")).Listing(d.Fields, d.Order)
	if err != nil {
		fail("%s", herb.MessageOf(err))
		return nil
	}
	page, err := s.List(ctx, req)
	if err != nil {
		return err
	}
	switch {
	case e.Total != nil && *e.Total != page.Total:
		fail("expected %s, found %s", herb.Plural(*e.Total, "record", "records"), herb.Count(page.Total))
	case e.Min != nil && page.Total < *e.Min:
		fail("expected at least %s, found %s", herb.Plural(*e.Min, "record", "records"), herb.Count(page.Total))
	case e.Max != nil && page.Total > *e.Max:
		fail("expected at most %s, found %s", herb.Plural(*e.Max, "record", "records"), herb.Count(page.Total))
	}
	if len(e.First) == 0 {
		return nil
	}
	if len(page.Records) == 0 {
		fail("expected a first record, found none")
		return nil
	}
	var first map[string]string
	if err := json.Unmarshal(page.Records[0], &first); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(e.First)) {
		switch got, ok := first[name]; {
		case !ok:
			fail("the first record has no field %q; fields: %s", name, strings.Join(slices.Sorted(maps.Keys(first)), ", "))
		case got != e.First[name]:
			fail("field %q of the first record: expected %q, found %q", name, clip(e.First[name]), clip(got))
		}
	}
	return nil
}

// clipLimit is the number of characters of a value in a message.
const clipLimit = 100

func clip(s string) string { return herb.Clip(s, clipLimit) }
