package ingest

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// Options configure how files are read. The zero value is valid.
type Options struct {
	// Progress is called with the bytes that were read and their total: by Inspect for the files, by Table.Records for the
	// spilled rows. It is called about four times per megabyte by the goroutine that reads. nil disables reporting.
	Progress func(read, size int64)
	// Rows is called with the number of rows that Inspect has read, after each batch, by the goroutine that reads. It
	// advances while formats that read their file at once parse it. nil disables reporting.
	Rows func(n int)
	// Inferring is called like Progress while Inspect reads the spilled rows again to infer types, which is necessary if
	// the descriptor names columns that are known only after the last row. nil disables reporting.
	Inferring func(read, size int64)
	// MaxRecord is the number of bytes that one record may have. 0: rows.MaxRecord.
	MaxRecord int
	// Temp is the folder of temporary files, which need as much space as the uncompressed source. Empty: that of the system.
	Temp string
}

// Table is a source that has been read. The caller closes it.
type Table struct {
	src      Source
	opts     Options
	dataset  herb.Dataset
	format   rows.Format
	detected rows.Options // of the first file
	columns  []string
	pick     []int // the column of each field
	spill    *spill
}

// Inspect reads all files of a source. An error of herb.CodeInvalid describes what is wrong in the files or the settings.
func Inspect(ctx context.Context, src Source, opts Options) (*Table, error) {
	src, err := src.Normalize(Formats())
	if err != nil {
		return nil, source.Located(src.Name(0), err)
	}
	p, err := read(ctx, src, opts, Formats())
	if err != nil {
		return nil, err
	}
	t, err := newTable(ctx, p)
	if err != nil {
		return nil, errors.Join(source.Located(src.Name(0), err), p.spill.Close())
	}
	return t, nil
}

// newTable makes a table of what a pass read.
func newTable(ctx context.Context, p *pass) (*Table, error) {
	src := p.src
	hash, err := src.Hash(p.hash())
	if err != nil {
		return nil, err
	}
	p.src.Dialect.Header = cmp.Or(p.detected.Header, src.Dialect.Header)
	v, err := p.finishView(ctx)
	if err != nil {
		return nil, err
	}
	e := v.exposure
	fields, reports, err := e.fields(p.columns)
	if err != nil {
		return nil, err
	}
	about, err := details(src, e, fields)
	if err != nil {
		return nil, err
	}
	for k := range reports {
		if at := e.pick[k]; at < len(v.listed) {
			reports[k].Source = v.listed[at]
		}
	}
	cells, hidden := e.account(p.raw, v.listed, v.narrower)
	about.Report = &herb.Report{
		Format: describeFormat(p.format.Name, p.detected), Bytes: p.size, Rows: p.count, Excluded: p.count - v.survey.Rows(),
		Columns: reports, Hidden: hidden, Notes: append(e.notes, p.notes...), SourceCells: &cells,
	}
	return &Table{
		src: p.src, opts: p.opts, format: p.format, detected: p.detected, columns: e.columns, pick: e.pick, spill: p.spill,
		dataset: herb.Dataset{
			Ref:         src.Ref,
			Title:       src.Title,
			Description: src.Description,
			Access:      src.Access,
			Fields:      fields,
			Records:     v.survey.Rows(),
			Source:      hash,
			Details:     about,
		},
	}, nil
}

// Dataset describes the table. Version and Published are for the publisher to set.
func (t *Table) Dataset() herb.Dataset {
	d := t.dataset
	d.Fields = slices.Clone(d.Fields)
	return d
}

// Warnings returns notes for the publisher that do not prevent publication.
func (t *Table) Warnings() []string { return slices.Clone(t.dataset.Report.Notes) }

// Source returns the source with the format and the options that were detected.
func (t *Table) Source() Source {
	s := t.src
	s.Format, s.Dialect = t.format.Name, t.detected
	return s
}

// Close releases the rows.
func (t *Table) Close() error { return t.spill.Close() }

// Records yields the records in order, values in the order of the fields. The caller may keep the records. Nothing follows an
// error.
func (t *Table) Records(ctx context.Context) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		n, err := newNarrower(t.src, t.columns, t.format.Keyed)
		if err != nil {
			yield(nil, err)
			return
		}
		var cells [][]byte
		var buf []byte
		for chunk, err := range t.spill.chunks(ctx, t.opts.Progress) {
			if err != nil {
				yield(nil, err)
				return
			}
			for len(chunk) > 0 {
				cells, chunk = cutRow(cells[:0], chunk)
				row, ok := n.apply(cells)
				if !ok {
					continue
				}
				if ctx.Err() != nil {
					yield(nil, context.Cause(ctx))
					return
				}
				var record herb.Record
				if record, buf = t.recordOf(row, buf[:0]); !yield(record, nil) {
					return
				}
			}
		}
	}
}

// recordOf returns the record of a row. Its values share one allocation. buf is for reuse.
func (t *Table) recordOf(row [][]byte, buf []byte) (herb.Record, []byte) {
	for _, i := range t.pick {
		if i < len(row) {
			buf = append(buf, row[i]...)
		}
	}
	rest, record := string(buf), make(herb.Record, len(t.pick))
	for k, i := range t.pick {
		if i < len(row) {
			record[k], rest = rest[:len(row[i])], rest[len(row[i]):]
		}
	}
	return record, buf
}
