package jobs

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
	"herbarium/internal/library"
	"herbarium/internal/text"
	"herbarium/internal/upload"
	"herbarium/internal/versions"
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
	// maxUpserts is the number of records of a file for Upsert, whose keys are in memory.
	maxUpserts = 2_000_000
	// bufferBytes is the size of the buffers of files.
	bufferBytes = 256 << 10
)

// merge returns a file with the records of the live version, changed by the file of a request, and
// their number. The columns are the fields of the live version, in their order.
func (s *Service) merge(ctx context.Context, r *Request, live herb.Dataset) (merged *upload.File, records int, err error) {
	if live.Version == "" {
		return nil, 0, herb.Errorf(herb.CodeRejected, "%s does not exist, so there is nothing to change; publish it with PUT …/source", r.Ref)
	}
	if r.Mode == Upsert && len(live.PrimaryKey) == 0 {
		return nil, 0, herb.Errorf(herb.CodeRejected, "%s has no primary key, which _mode=upsert needs; declare schema.primaryKey in its descriptor, "+
			"or use _mode=append", r.Ref)
	}
	changes, err := s.readChanges(ctx, r, live)
	if err != nil {
		return nil, 0, err
	}
	defer changes.Close()
	view, err := s.opts.Library.AcquireVersion(ctx, r.Ref, live.Version)
	if err != nil {
		return nil, 0, err
	}
	defer view.Release()
	return s.mergeInto(ctx, r, view, changes)
}

// withFieldsOf returns a source of changes whose fields are those of the live version: also those
// that its settings do not list, because they were new columns of a file, and no others.
func withFieldsOf(src ingest.Source, live herb.Dataset) ingest.Source {
	if src.Inherited = nil; len(src.Fields) == 0 {
		return src
	}
	src.Fields = slices.Clone(src.Fields)
	for _, f := range live.Fields {
		if !slices.ContainsFunc(src.Fields, func(s ingest.FieldSetting) bool { return s.Name == f.Name }) {
			src.Fields = append(src.Fields, ingest.FieldSetting{Name: f.Name, From: f.Name, Optional: true})
		}
	}
	return src
}

// readChanges reads the file of a request by the settings of the live version.
func (s *Service) readChanges(ctx context.Context, r *Request, live herb.Dataset) (*changes, error) {
	src, err := s.source(ctx, r, live)
	if err != nil {
		return nil, err
	}
	src = withFieldsOf(src, live)
	// These are about the whole dataset.
	src.PrimaryKey, src.UniqueKeys, src.Order, src.Map, src.Charts, src.Expectations = nil, nil, herb.Order{}, source.MapFields{}, nil, nil
	src.Fields = slices.Clone(src.Fields)
	for i := range src.Fields {
		src.Fields[i].Constraints = source.Constraints{}
	}
	src.ByPosition = false // matchFields compares the columns
	if r.Mode == Upsert && len(src.Fields) > 0 {
		src.Fields = append(src.Fields, ingest.FieldSetting{Name: deletedField, Optional: true})
	}
	t, err := ingest.Inspect(ctx, src, ingest.Options{Temp: s.opts.Dir})
	if err != nil {
		return nil, err
	}
	defer t.Close()
	c := &changes{keys: map[[16]byte]int64{}, fields: live.Fields, deleted: -1}
	if err := c.matchFields(t.Dataset.Fields, live.Fields, r.Mode); err != nil {
		return nil, source.Located(src.Name(0), err)
	}
	if err := versions.RejectChanges(ctx, s.opts.Library.AcquireVersion, live, t.Dataset, t.Records(ctx), r.Consents...); err != nil {
		return nil, err
	}
	for _, name := range live.PrimaryKey {
		c.key = append(c.key, herb.FieldIndex(live.Fields, name))
	}
	if c.file, err = rows.TempFile(s.opts.Dir); err != nil {
		return nil, err
	}
	if err := c.store(t.Records(ctx), r.Mode); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// changes are the records of a file, in the order of the fields of the live version.
type changes struct {
	file    *os.File           // records, each with the lengths of its values
	keys    map[[16]byte]int64 // offset of the last record with a key; negative: it is removed
	fields  []herb.Field       // of the live version
	key     []int              // fields of the primary key
	columns []int              // of the file, by field
	deleted int                // column of the file; negative: none
}

// Close removes the records.
func (c *changes) Close() error { return c.file.Close() }

// matchFields finds the column of each field.
func (c *changes) matchFields(columns, fields []herb.Field, mode Mode) error {
	var names, want []string
	for i, f := range columns {
		if f.Name == deletedField && mode == Upsert {
			c.deleted = i
			continue
		}
		names = append(names, f.Name)
	}
	for _, f := range fields {
		want = append(want, f.Name)
		c.columns = append(c.columns, herb.FieldIndex(columns, f.Name))
	}
	if len(names) != len(want) || slices.Contains(c.columns, -1) {
		return herb.Invalidf("the file has the fields %s, but the live version has %s; send a file of the same columns",
			strings.Join(names, ", "), strings.Join(want, ", "))
	}
	return nil
}

// store writes the records to the disk and, for Upsert, remembers the last one of each key.
func (c *changes) store(records func(func(herb.Record, error) bool), mode Mode) error {
	w, at, count := bufio.NewWriterSize(c.file, bufferBytes), int64(0), 0
	row := make(herb.Record, len(c.columns))
	for r, err := range records {
		if err != nil {
			return err
		}
		for i, column := range c.columns {
			row[i] = r[column]
		}
		if mode == Upsert {
			if count++; count > maxUpserts {
				return herb.Errorf(herb.CodeTooLarge, "the file has more than %d records, the limit of _mode=upsert; send the whole dataset with PUT …/source", maxUpserts)
			}
			k := c.keyOf(row)
			if c.keys[k] = at; c.deleted >= 0 && isTrue(r[c.deleted]) {
				c.keys[k] = -1
				continue
			}
		}
		n, err := w.Write(appendRow(nil, row))
		if at += int64(n); err != nil {
			return err
		}
	}
	return w.Flush()
}

// isTrue reports whether a value of deletedField means that the record is removed.
func isTrue(value string) bool {
	return slices.Contains([]string{"true", "yes", "t", "y", "1"}, strings.ToLower(strings.TrimSpace(value)))
}

// keyOf returns a hash of the primary key. Values are compared in the notation of the live version,
// because they become records of the same dataset.
func (c *changes) keyOf(r herb.Record) [16]byte {
	b, _ := text.AppendKey(nil, c.fields, c.key, func(i int) string { return r[i] })
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
}

// appendRow appends a record with the lengths of its values.
func appendRow(b []byte, r herb.Record) []byte {
	for _, v := range r {
		b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
	}
	return b
}

// readRow reads a record that appendRow has written, and returns its size.
func readRow(r *bufio.Reader, into herb.Record) (size int64, err error) {
	for i := range into {
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return size, err
		}
		value := make([]byte, n)
		if _, err := io.ReadFull(r, value); err != nil {
			return size, err
		}
		into[i] = string(value)
		size += int64(len(binary.AppendUvarint(nil, n))) + int64(n)
	}
	return size, nil
}

// mergeInto writes the records of a version, changed, to a file.
func (s *Service) mergeInto(ctx context.Context, r *Request, view library.View, c *changes) (merged *upload.File, records int, err error) {
	file, err := s.opts.Files.Create(r.Ref.Name + ".csv")
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	out := &tableWriter{out: file}
	names := make(herb.Record, len(view.Fields))
	for i, field := range view.Fields {
		names[i] = field.Name
	}
	if err := out.write(names); err != nil {
		return nil, 0, err
	}
	written := map[int64]bool{} // records of the file that replace others
	decoder, row, i := herb.NewRecordDecoder(view.Fields), make(herb.Record, len(view.Fields)), 0
	if err := view.Reader.Each(ctx, func(record []byte) error {
		i = 0
		if err := decoder.Decode(record, func(value []byte) { row[i], i = string(value), i+1 }); err != nil {
			return err
		}
		if r.Mode == Upsert {
			at, changed := c.keys[c.keyOf(row)]
			switch {
			case changed && at < 0:
				return nil
			case changed:
				written[at] = true
				if _, err := readRow(bufio.NewReader(io.NewSectionReader(c.file, at, 1<<62)), row); err != nil {
					return err
				}
			}
		}
		return out.write(row)
	}); err != nil {
		return nil, 0, err
	}
	if err := c.appendNew(out, r.Mode, row, written); err != nil {
		return nil, 0, err
	}
	if merged, err = file.File(); err != nil {
		return nil, 0, err
	}
	merged.Merged = true
	return merged, out.rows - 1, nil
}

// appendNew writes the records of the file that replace none.
func (c *changes) appendNew(out *tableWriter, mode Mode, row herb.Record, written map[int64]bool) error {
	in, at := bufio.NewReaderSize(io.NewSectionReader(c.file, 0, 1<<62), bufferBytes), int64(0)
	for {
		size, err := readRow(in, row)
		switch {
		case err == io.EOF && size == 0:
			return nil
		case err != nil:
			return err
		}
		start := at
		at += size
		if mode == Upsert && (written[start] || c.keys[c.keyOf(row)] != start) {
			continue // a later one has the same key
		}
		if err := out.write(row); err != nil {
			return err
		}
	}
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
