package ingest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// Options are how files are read. The zero value will do.
type Options struct {
	// Progress is told during each pass how many bytes of the file were read and how many there are. It is called
	// in the goroutine that reads, about four times a megabyte. nil disables reporting.
	Progress func(read, size int64)
	// MaxRecord is the number of bytes that one record may have. 0: the constant MaxRecord.
	MaxRecord int
}

// Table is a file of which everything but the records is known.
type Table struct {
	src      Source
	opts     Options
	dataset  herb.Dataset
	warnings []string
	pick     []int     // the column of each field
	found    []finding // about each file
	stamp    string
	content  [sha256.Size]byte
}

// rowReader reads the records of a file. next returns the values in the order of the columns; they are valid until the
// next call. Values may be missing at the end, and there may be more columns after each call. The error is io.EOF at the
// end.
type rowReader interface {
	next() ([][]byte, error)
	columns() []string
	position() string // of the record read last, for messages
}

// Inspect reads the whole file to learn what it holds. An error of herb.CodeInvalid says what in the file or the
// settings is wrong.
func Inspect(ctx context.Context, src Source, opts Options) (*Table, error) {
	src, err := src.settled()
	if err != nil {
		return nil, located(src.name(0), err)
	}
	found := make([]finding, len(src.files()))
	for {
		t, err := inspect(ctx, src, opts, found)
		again, unknown := reconsider(ctx, src, found, err)
		switch {
		case unknown != nil:
			return nil, unknown
		case !again:
			return t, err
		}
	}
}

// inspect is Inspect with what is known of the files.
func inspect(ctx context.Context, src Source, opts Options, found []finding) (*Table, error) {
	t := &Table{src: src, opts: opts, found: found}
	in, rows, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()

	narrowed, left := src.narrowed(rows)
	s, err := newSurvey(narrowed)
	if err != nil {
		return nil, err
	}
	e, err := expose(src, s.columns, s.profiles)
	if err != nil {
		return nil, located(src.name(0), err)
	}
	about, err := details(src, &e)
	if err != nil {
		return nil, located(src.name(0), err)
	}
	t.stamp, t.content = in.stamp, in.hash()
	hash, err := src.hash(t.content)
	if err != nil {
		return nil, located(src.name(0), err)
	}
	e.warnings = append(e.warnings, rows.notes()...)
	t.pick, t.warnings = e.pick, e.warnings
	t.dataset = herb.Dataset{
		Ref:         src.Ref,
		Title:       src.Title,
		Description: src.Description,
		Access:      src.Access,
		Fields:      e.fields,
		Records:     s.records,
		Source:      hash,
		Details:     about,
	}
	t.dataset.Report = newReport(src, s, e)
	t.dataset.Report.Format = rows.describe()
	t.dataset.Report.Rows, t.dataset.Report.Excluded = s.records+left.rows, left.rows
	t.dataset.Report.SourceCells = s.account(e, rows.filled, *left)
	return t, nil
}

// Dataset describes what the file holds. Version and Published are for the publisher to set.
func (t *Table) Dataset() herb.Dataset {
	d := t.dataset
	d.Fields = slices.Clone(d.Fields)
	return d
}

// Warnings are what a publisher should know although it does not keep the file from being published.
func (t *Table) Warnings() []string { return slices.Clone(t.warnings) }

// Records reads the file again and yields its records in order, values in the order of the fields. The records are the
// caller's to keep; the values of one record share memory. After an error there is nothing more, and what was yielded
// before must not be used: the error may tell, at the very end, that the file is not the one that was inspected.
func (t *Table) Records(ctx context.Context) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		in, rows, err := t.open(ctx)
		if err != nil {
			yield(nil, t.again(err))
			return
		}
		defer in.Close()
		if in.stamp != t.stamp {
			yield(nil, t.changed(nil))
			return
		}
		narrowed, _ := t.src.narrowed(rows)
		for {
			cells, err := narrowed.next()
			if err == nil {
				err = context.Cause(ctx) // a consumer may be slower than the file
			}
			switch {
			case err == io.EOF:
				if in.hash() != t.content {
					yield(nil, t.changed(nil))
				}
				return
			case err != nil:
				yield(nil, t.again(err))
				return
			}
			if !yield(t.record(cells), nil) {
				return
			}
		}
	}
}

// record makes one string of all values that are exposed: one allocation instead of one for each.
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

// open starts a pass.
func (t *Table) open(ctx context.Context) (*input, *chain, error) {
	in, err := openInput(ctx, t.src, t.opts)
	if err != nil {
		return nil, nil, err
	}
	rows, err := openChain(ctx, t, in)
	if err != nil {
		in.Close()
		return nil, nil, err
	}
	return in, rows, nil
}

// again judges an error of the second pass. The first found nothing wrong, so a fault in the file is new.
func (t *Table) again(err error) error {
	switch herb.CodeOf(err) {
	case herb.CodeInvalid, herb.CodeNotFound:
		return t.changed(err)
	default:
		return err
	}
}

func (t *Table) changed(cause error) error {
	return herb.Wrap(herb.CodeUnavailable, cause, "%s changed while it was being read; publish it again when it is complete",
		t.src.name(0))
}

// located adds the path of the file to an error.
func located(path string, err error) error {
	if e, ok := errors.AsType[*herb.Error](err); ok {
		return herb.Wrap(e.Code, e.Err, "%s: %s", path, e.Message)
	}
	return fmt.Errorf("reading %s: %w", path, err)
}
