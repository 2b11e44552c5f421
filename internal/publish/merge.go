package publish

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/publish/receive"
)

// Mode is how a file changes the live version.
type Mode string

// The modes.
const (
	Replace Mode = ""       // the file is the whole dataset
	Append  Mode = "append" // its records follow those of the live version
	Upsert  Mode = "upsert" // its records replace those with the same primary key, and the others follow
)

const (
	// deletedField is the column of a file by which Upsert removes records.
	deletedField = "_deleted"
	// bufferBytes is the size of the buffers of files.
	bufferBytes = 256 << 10
)

// merge returns a file with the records of the live version, changed by the file of a request, and
// their number. The columns are the fields of the live version, in their order.
func (q *Queue) merge(ctx context.Context, r *Request, live herb.Dataset) (merged *receive.File, records int,
	err error) {
	if live.Version == "" {
		return nil, 0, herb.Errorf(herb.CodeRejected,
			"%s does not exist, so there is nothing to change; publish it with PUT …/source", r.Ref)
	}
	if r.Mode == Upsert && len(live.PrimaryKey) == 0 {
		return nil, 0, herb.Errorf(herb.CodeRejected,
			"%s has no primary key, which _mode=upsert needs; declare schema.primaryKey in its descriptor, "+
				"or use _mode=append", r.Ref)
	}
	changes, err := q.readChanges(ctx, r, live)
	if err != nil {
		return nil, 0, err
	}
	defer changes.Close()
	view, err := q.opts.Library.AcquireVersion(ctx, r.Ref, live.Version)
	if err != nil {
		return nil, 0, err
	}
	defer view.Release()
	return q.mergeInto(ctx, r, view, changes)
}

// eachLive calls f with the records of a version, with the fields of the next one.
func (c *changes) eachLive(ctx context.Context, view library.View, f func(herb.Record) error) error {
	decoder, values, row := herb.NewRecordDecoder(view.Fields), make(herb.Record, len(view.Fields)),
		make(herb.Record, len(c.fields))
	return view.Reader.Each(ctx, func(record []byte) error {
		i := 0
		if err := decoder.Decode(record, func(value []byte) { values[i], i = string(value), i+1 }); err != nil {
			return err
		}
		for k, at := range c.live {
			row[k] = ""
			if at >= 0 {
				row[k] = values[at]
			}
		}
		return f(row)
	})
}

// mergeInto writes the records of a version, changed, to a file.
func (q *Queue) mergeInto(ctx context.Context, r *Request, view library.View, c *changes) (merged *receive.File,
	records int, err error) {
	file, err := q.opts.Files.Create(r.Ref.Name + ".csv")
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	out := &tableWriter{out: file}
	if err := out.write(fieldNames(c.fields)); err != nil {
		return nil, 0, err
	}
	if c.matcher == nil {
		err = c.append(ctx, view, out)
	} else {
		err = c.upsert(ctx, view, out)
	}
	if errors.Is(err, errRepeatedKey) {
		return nil, 0, herb.Errorf(herb.CodeRejected,
			"the primary key (%s) of %s is not unique: several records have a key of the file, "+
				"and _mode=upsert would replace all of them; declare a unique schema.primaryKey in the descriptor, or "+
				"publish the whole file with PUT …/source",
			strings.Join(view.PrimaryKey, ", "), r.Ref)
	}
	if err != nil {
		return nil, 0, err
	}
	merged, err = file.File()
	if err != nil {
		return nil, 0, err
	}
	merged.Merged = true
	return merged, out.rows - 1, nil
}

// append writes the records of a version, and then those of the file.
func (c *changes) append(ctx context.Context, view library.View, out *tableWriter) error {
	if err := c.eachLive(ctx, view, out.write); err != nil {
		return err
	}
	in, row := bufio.NewReaderSize(io.NewSectionReader(c.file, 0, 1<<62), bufferBytes), make(herb.Record, len(c.fields))
	for {
		size, err := readRow(in, row)
		switch {
		case err == io.EOF && size == 0:
			return nil
		case err != nil:
			return err
		}
		if err := out.write(row); err != nil {
			return err
		}
	}
}

// upsert writes the records of a version, of which those with a key in the file are replaced or
// left out, and then the other records of the file.
func (c *changes) upsert(ctx context.Context, view library.View, out *tableWriter) error {
	if err := c.eachLive(ctx, view,
		func(row herb.Record) error { return c.matcher.addLive(c.keyOf(row)) }); err != nil {
		return err
	}
	replacements, added, err := c.matcher.match()
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(replacements)
	defer stop()
	changed, n := make(herb.Record, len(c.fields)), uint32(0)
	replacement, err, more := next()
	if err := c.eachLive(ctx, view, func(row herb.Record) error {
		n++
		if !more || err != nil || replacement.live != n-1 {
			return cmp.Or(err, out.write(row))
		}
		at := replacement.at
		replacement, err, more = next()
		if at == removedRow {
			return nil
		}
		if err := c.readAt(at, changed); err != nil {
			return err
		}
		return out.write(changed)
	}); err != nil {
		return err
	}
	for at, err := range added {
		if err == nil {
			err = c.readAt(at, changed)
		}
		if err == nil {
			err = out.write(changed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tableWriter writes records as CSV in which every value is quoted, so that none is read in another
// way.
type tableWriter struct {
	out  io.Writer
	line []byte
	rows int
}

func (w *tableWriter) write(r herb.Record) error {
	w.line = w.line[:0]
	for i, v := range r {
		if i > 0 {
			w.line = append(w.line, ',')
		}
		w.line = append(w.line, '"')
		w.line = append(w.line, bytes.ReplaceAll([]byte(v), []byte(`"`), []byte(`""`))...)
		w.line = append(w.line, '"')
	}
	w.rows++
	_, err := w.out.Write(append(w.line, '\n'))
	return err
}
