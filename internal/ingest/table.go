package ingest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// Options configure how files are read. The zero value is valid.
type Options struct {
	// Progress is called with the bytes that were read and their total: by Inspect for the files, by Table.Records for the
	// spilled rows. It is called about four times per megabyte by the goroutine that reads. nil disables reporting.
	Progress func(read, size int64)
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
	warnings []string
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
	total := 0
	for _, c := range p.raw {
		total += c.Filled
	}
	for k := range reports {
		if at := e.pick[k]; at < len(v.listed) {
			reports[k].Source = v.listed[at]
		}
	}
	warnings := append(e.notes, p.notes...)
	about.Report = &herb.Report{
		Format: describeFormat(p.format.Name, p.detected), Bytes: p.size, Rows: p.count, Excluded: p.count - v.survey.Rows(),
		Columns: reports, Hidden: e.hidden(), Notes: slices.Clone(warnings), SourceCells: e.account(total, v.listed, v.narrower),
	}
	return &Table{
		src: p.src, opts: p.opts, format: p.format, detected: p.detected, columns: e.columns, pick: e.pick,
		warnings: warnings, spill: p.spill,
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
func (t *Table) Warnings() []string { return slices.Clone(t.warnings) }

// Source returns the source with the format and the options that were detected.
func (t *Table) Source() Source {
	s := t.src
	s.Format, s.Dialect = t.format.Name, t.detected
	return s
}

// Close releases the rows.
func (t *Table) Close() error { return t.spill.Close() }

// Records yields the records in order, values in the order of the fields. The caller may keep the records; the values of
// one record share memory. Nothing follows an error.
func (t *Table) Records(ctx context.Context) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		if err := t.records(ctx, func(r herb.Record) bool { return yield(r, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

func (t *Table) records(ctx context.Context, yield func(herb.Record) bool) error {
	n, err := newNarrower(t.src, t.columns, t.format.Keyed)
	if err != nil {
		return err
	}
	in, err := t.spill.rows(t.opts.Progress)
	if err != nil {
		return err
	}
	for {
		cells, err := in.next()
		if err == nil {
			err = context.Cause(ctx)
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if n != nil {
			var ok bool
			if cells, ok = n.apply(cells); !ok {
				continue
			}
		}
		if !yield(t.record(cells)) {
			return nil
		}
	}
}

// record makes one string of all exposed values: one allocation instead of one for each.
func (t *Table) record(cells [][]byte) herb.Record {
	size := 0
	for _, i := range t.pick {
		if i < len(cells) {
			size += len(cells[i])
		}
	}
	var b strings.Builder
	b.Grow(size)
	for _, i := range t.pick {
		if i < len(cells) {
			b.Write(cells[i])
		}
	}
	all, rec := b.String(), make(herb.Record, len(t.pick))
	for k, i := range t.pick {
		if i < len(cells) {
			rec[k], all = all[:len(cells[i])], all[len(cells[i]):]
		}
	}
	return rec
}
