// Package ingest reads sources, which may be several files, as tables of typed records.
//
// # One pass
//
// Inspect reads the rows of every file once; a format may first scan a file, as JSON does to locate
// its tables. A row passes from rows.Rows, limited by its rows.Budget, through the certificate (a
// fingerprint per column) to the view (settings, type inference) and to the spill file.
// Table.Records reads the spill file. If settings are about columns that are known only after the
// last row, the view reads it too. The stored bytes are hashed on the way; a file that changes
// meanwhile is rejected.
//
// # Certificate
//
// The fingerprints cover what the format yields, before settings exclude rows or values. What the
// settings remove has fingerprints too, so that both parts must add up to the source. The publisher
// compares the listing with the rest.
//
// # Values
//
// A record has the values of the file byte for byte, without quoting and escapes. Inference decides
// how values compare and never changes one. Values that are not text in their file, such as dates
// of a workbook, are written by exact rules.
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
)

// Names of package descriptor, for callers that read files.
type (
	Source       = descriptor.Source
	FieldSetting = descriptor.FieldSetting
	Condition    = descriptor.Condition
)

// Options configures how files are read. The zero value is valid.
type Options struct {
	// Progress is called with the bytes that were read and their total: by Inspect for the files,
	// by Table.Records for the spilled rows. It is called about four times per megabyte by the
	// goroutine that reads. nil disables reporting.
	Progress func(read, size int64)
	// Rows is called with the number of rows that Inspect has read, after each batch, by the
	// goroutine that reads. It advances while formats that read their file at once parse it. nil
	// disables reporting.
	Rows func(n int)
	// Inferring is called like Progress while Inspect reads the spilled rows again to infer types,
	// which is necessary if the descriptor names columns that are known only after the last row.
	// nil disables reporting.
	Inferring func(read, size int64)
	// MaxRecord is the number of bytes that one record may have. 0: rows.MaxRecord.
	MaxRecord int
	// Previous is the source as it was read before. If it is still the same, Inspect returns
	// ErrUnchanged without reading rows. The zero value reads in any case.
	Previous Previous
	// Temp is the folder of temporary files, which need as much space as the uncompressed source.
	// Empty: that of the system.
	Temp string

	explain *rows.Explanation // see Explain
}

// Previous identifies the content and the settings of a source that has been read.
type Previous struct {
	Hash  string // herb.Dataset.SourceHash
	Bytes int64  // herb.Report.Bytes
}

// ErrUnchanged reports that a source is still what Options.Previous describes.
var ErrUnchanged = errors.New("the source has not changed")

// Table is a source that has been read. The caller closes it.
type Table struct {
	Source Source // with the format and the options that were detected
	// without Version and Published, which the publisher sets; notes for the publisher are in its
	// report
	Dataset  herb.Dataset
	view     *view
	spill    *spill
	progress func(read, size int64)
}

// Inspect reads all files of a source. An error of herb.CodeInvalid describes what is wrong in the
// files or the settings.
//
// With Options.Previous, files of the same size are hashed before their rows are read, because
// servers inspect all sources at each start and nearly all are unchanged. This costs a second read
// only if a file has changed and kept its size.
func Inspect(ctx context.Context, src Source, opts Options) (*Table, error) {
	if opts.Previous.Hash != "" {
		if same, err := isUnchanged(ctx, src, opts); err != nil || same {
			return nil, cmp.Or(err, ErrUnchanged)
		}
	}
	p, err := readSource(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	t, err := newTable(ctx, p)
	if err != nil {
		return nil, errors.Join(descriptor.Located(p.src.Name(0), err), p.spill.Close())
	}
	return t, nil
}

// readSource reads all files of a source.
func readSource(ctx context.Context, src Source, opts Options) (*pass, error) {
	p, err := newPass(src, opts, Formats())
	if err != nil {
		return nil, err
	}
	defer p.dir.Close()
	if err := p.readFiles(ctx); err != nil {
		return nil, errors.Join(err, p.spill.Close())
	}
	return p, nil
}

func newTable(ctx context.Context, p *pass) (*Table, error) {
	hash, err := p.sourceHash()
	if err != nil {
		return nil, err
	}
	v, err := p.finishView(ctx)
	if err != nil {
		return nil, err
	}
	v.leaveOutUnnamed(p)
	fields, reports, err := v.describe(p.columns, p.spill.lists)
	if err != nil {
		return nil, err
	}
	for i := range fields {
		fields[i].ExactWords = p.src.ExactWords && fields[i].Searchable
	}
	if err := v.checkConstraints(ctx, p, fields); err != nil {
		return nil, err
	}
	about, err := v.details(p.src, fields)
	if err != nil {
		return nil, err
	}
	unique, err := v.uniqueKeys(p.src.UniqueKeys, fields)
	if err != nil {
		return nil, err
	}
	exclusions := v.exclusions(p.src)
	cells, hidden := v.account(p.raw)
	about.Report = &herb.Report{
		Format: describeFormat(p.format.Name, p.detected), Bytes: p.size, Rows: p.count,
		Excluded: p.count - v.profiler.Rows(),
		Columns:  reports, Hidden: hidden, Layout: p.layout, Notes: append(v.notes, p.notes...), SourceCells: &cells,
		Exclusions: exclusions,
	}
	d := herb.Dataset{
		Ref: p.src.Ref, Title: p.src.Title, Description: p.src.Description, Access: p.src.Access,
		Fields: fields, Records: v.profiler.Rows(), SourceHash: hash, Details: about,
	}
	p.src.Format, p.src.Dialect, p.src.UniqueKeys = p.format.Name, p.detected, unique
	return &Table{Source: p.src, Dataset: d, view: v, spill: p.spill, progress: p.opts.Progress}, nil
}

func describeFormat(name string, o rows.Options) string {
	if o.Delimiter != 0 {
		name = "csv, " + rows.DelimiterName(o.Delimiter) + " between values"
	}
	if len(o.Widths) > 0 {
		name = "csv, columns of fixed width"
	}
	if o.Encoding != "" {
		name += ", " + o.Encoding
	}
	return name
}

// details validates the settings of a dataset against its fields. A primary key with unknown fields
// is dropped with a note, because descriptors written for other programs have such keys. An order
// or coordinates with unknown fields are errors, because only descriptors for Herbarium have them.
func (v *view) details(src Source, fields []herb.Field) (herb.Details, error) {
	d := herb.Details{Order: src.Order, Descriptor: herb.NewDescriptor(src.Descriptor)}
	s := src.Settings
	s.Hidden = v.hiding(src)
	if s.Descriptor != nil || s.Public || s.Reading != (herb.Reading{}) || s.Hidden != nil {
		d.Settings = &s
	}
	d.PrimaryKey = v.keyFields("the primary key", src.PrimaryKey, fields)
	if c := src.Coordinates; c.Latitude+c.Field != "" {
		if err := geo.CheckFields(c.Fields(), fields); err != nil {
			return d, err
		}
	}
	return d, requireField(fields, src.Order.Field, "order", "sortable field",
		func(f herb.Field) bool { return f.Sortable })
}

// maxUniqueKeys is the number of unique keys of a table. Each is looked for in all records.
const maxUniqueKeys = 100

// uniqueKeys returns the fields of the unique keys of a table, without repetitions.
func (v *view) uniqueKeys(keys [][]string, fields []herb.Field) (unique [][]string, err error) {
	seen := map[string]bool{}
	for _, names := range keys {
		if known := strings.Join(names, "\x00"); seen[known] {
			continue
		} else if seen[known] = true; len(seen) > maxUniqueKeys {
			return nil, herb.Invalidf("the schema has more than %d unique keys", maxUniqueKeys)
		}
		if key := v.keyFields("a unique key", names, fields); key != nil {
			unique = append(unique, key)
		}
	}
	return unique, nil
}

// keyFields returns the fields of a key, by their names or those of their columns. A key with an
// unknown field is left out with a note.
func (v *view) keyFields(what string, names []string, fields []herb.Field) (key []string) {
	positions := map[string]int{} // a schema may call a field by the name of its column
	for i, f := range slices.Backward(v.fields) {
		positions[f.Column()] = i
	}
	for i, f := range slices.Backward(v.fields) {
		positions[f.Name] = i
	}
	for _, name := range names {
		i, ok := positions[name]
		if !ok {
			v.notes = append(v.notes, fmt.Sprintf("%s is not used, because there is no field %q", what,
				rows.Clip(name)))
			return nil
		}
		key = append(key, fields[i].Name)
	}
	return key
}

// requireField fails if a setting names a field that does not exist or is of another kind.
func requireField(fields []herb.Field, name, setting, kind string, isKind func(herb.Field) bool) error {
	var names []string
	for _, f := range fields {
		if name != "" && isKind(f) {
			names = append(names, f.Name)
		}
	}
	if name == "" || slices.Contains(names, name) {
		return nil
	}
	return herb.At(setting, noSuch(kind, name, names))
}

func (t *Table) Close() error { return t.spill.Close() }

// Records yields the records in order; the caller may keep them. Values are in the order of the
// fields. Nothing follows an error.
func (t *Table) Records(ctx context.Context) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		var row [][]byte
		for stored, err := range t.spill.rows(ctx, t.progress) {
			if err != nil {
				yield(nil, err)
				return
			}
			var ok bool
			row, ok = t.view.narrow(row[:0], stored.cells)
			if !ok {
				continue
			}
			record := make(herb.Record, len(t.view.fields))
			for k := range record {
				if i := t.view.fields[k].column; i < len(row) {
					record[k] = string(row[i])
				}
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}

// Columns returns the names of the columns of the files, made unique.
func (t *Table) Columns() []string { return t.view.columns }

// FieldColumns returns the column that each field exposes.
func (t *Table) FieldColumns() []int {
	columns := make([]int, len(t.view.fields))
	for i, f := range t.view.fields {
		columns[i] = f.column
	}
	return columns
}

// IsMissing reports whether the settings declare a value of a column as missing.
func (t *Table) IsMissing(column int, value []byte) bool {
	return t.view.missing != nil && column < len(t.view.missing) && t.view.missing[column][string(value)]
}

// SourceRow is a row of a file that is a record, or that the settings exclude.
type SourceRow struct {
	Number   int      // of the line, row or record in its file, from 1
	Cells    [][]byte // in the order of the columns, valid until the next row; missing ones at the end may be left out
	Excluded bool     // a condition excludes it
}

// Rows yields the rows of the files in order, as they are written. Nothing follows an error.
func (t *Table) Rows(ctx context.Context) iter.Seq2[SourceRow, error] {
	return func(yield func(SourceRow, error) bool) {
		var buf [][]byte
		for stored, err := range t.spill.rows(ctx, nil) {
			if err != nil {
				yield(SourceRow{}, err)
				return
			}
			row := SourceRow{Number: cmp.Or(stored.row, stored.line), Cells: stored.cells}
			narrowed, ok := t.view.narrow(buf[:0], stored.cells)
			row.Excluded = !ok
			if t.view.missing != nil {
				buf = narrowed
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// standardInput is the name of standard input in messages.
const standardInput = "standard input"

// CopyInput copies a reader, such as standard input, to an unnamed temporary file and returns it as
// a source. Its format is detected by its content if the caller does not set one. remove releases
// the file; after an error there is none. When ctx is done, CopyInput returns without waiting for
// the reader. opts.Progress is called without a size.
func CopyInput(ctx context.Context, r io.Reader, ref herb.Ref, opts Options) (src Source, remove func() error,
	err error) {
	if err := descriptor.CheckReserved(standardInput, ref); err != nil {
		return Source{}, nil, err
	}
	if ctx.Err() != nil {
		return Source{}, nil, context.Cause(ctx)
	}
	pr, pw := io.Pipe()
	defer pr.Close()
	go func() {
		_, err := io.CopyBuffer(pw, struct{ io.Reader }{r}, make([]byte, spillChunk))
		pw.CloseWithError(err)
	}()
	defer context.AfterFunc(ctx, func() { pw.CloseWithError(context.Cause(ctx)) })() // a terminal may block for hours
	read := int64(0)
	f, size, err := file.TempCopy(opts.Temp, readerFunc(func(b []byte) (int, error) {
		n, err := pr.Read(b)
		read += int64(n)
		if opts.Progress != nil && n > 0 {
			opts.Progress(read, 0)
		}
		return n, err
	}))
	if err != nil {
		return Source{}, nil, descriptor.Located(standardInput, err)
	}
	return Source{Ref: ref, Path: standardInput, DisplayName: standardInput, Input: io.NewSectionReader(f, 0, size)},
		f.Close, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
