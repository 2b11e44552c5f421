package publish

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/text"
	"herbarium/internal/versions"
)

// withFieldsOf returns a source of changes whose fields are those of the live version: also those
// that its settings do not list, because they were new columns of a file, and no others.
func withFieldsOf(src ingest.Source, live herb.Dataset) ingest.Source {
	src.Inherited = nil
	if len(src.Fields) == 0 {
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
func (q *Queue) readChanges(ctx context.Context, r *Request, live herb.Dataset) (*changes, error) {
	src, err := q.source(ctx, r, live)
	if err != nil {
		return nil, err
	}
	src = withFieldsOf(src, live)
	// These are about the whole dataset.
	src.PrimaryKey, src.UniqueKeys, src.Order, src.Charts, src.Expectations = nil, nil, herb.Order{}, nil, nil
	src.Coordinates = descriptor.Coordinates{}
	src.Fields = slices.Clone(src.Fields)
	for i := range src.Fields {
		src.Fields[i].Constraints = descriptor.Constraints{}
	}
	src.ByPosition = false // matchFields compares the columns
	if r.Mode == Upsert {
		src.Dialect.HeaderNames = columnsOf(src.Fields, live.PrimaryKey)
	}
	if r.Mode == Upsert && len(src.Fields) > 0 {
		src.Fields = append(src.Fields, ingest.FieldSetting{Name: deletedField, Optional: true})
	}
	t, err := ingest.Inspect(ctx, src, ingest.Options{Temp: q.opts.Dir})
	if err != nil {
		return nil, err
	}
	defer t.Close()
	c := &changes{deleted: -1}
	if err := c.matchFields(t.Dataset.Fields, live.Fields, r.Mode); err != nil {
		return nil, descriptor.Located(src.Name(0), err)
	}
	if err := c.findKey(live.PrimaryKey); err != nil && r.Mode == Upsert {
		return nil, descriptor.Located(src.Name(0), err)
	}
	if err := versions.RejectChanges(ctx, q.opts.Library.AcquireVersion, live, t.Dataset, t.Records(ctx),
		r.Consents...); err != nil {
		return nil, err
	}
	c.file, err = filesystem.TempFile(q.opts.Dir)
	if err != nil {
		return nil, err
	}
	if r.Mode == Upsert {
		c.matcher, err = q.newKeyMatcher(ctx, t.Dataset.Records+live.Records)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	if err := c.store(t.Records(ctx)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// columnsOf returns the names of the columns of fields.
func columnsOf(settings []ingest.FieldSetting, fields []string) []string {
	columns := slices.Clone(fields)
	for i, name := range fields {
		for _, f := range settings {
			if f.Name == name {
				columns[i] = f.Column()
			}
		}
	}
	return columns
}

// changes are the records of a file, in the order of the fields of the next version.
type changes struct {
	file    *os.File     // records, each with the lengths of its values
	fields  []herb.Field // of the next version
	key     []int        // fields of the primary key
	columns []int        // of the file, by field
	live    []int        // positions in the live version, by field; negative: it is new
	deleted int          // column of the file; negative: none
	matcher *keyMatcher  // of Upsert
}

// Close removes the records.
func (c *changes) Close() error { return errors.Join(c.file.Close(), c.matcher.Close()) }

// matchFields determines the fields of the next version: those of the live version in their order,
// or those of the file if it has others, which Upsert allows.
func (c *changes) matchFields(columns, live []herb.Field, mode Mode) error {
	names, isSame := []string(nil), true
	for i, f := range columns {
		if f.Name == deletedField && mode == Upsert {
			c.deleted = i
			continue
		}
		names = append(names, f.Name)
		isSame = isSame && herb.FieldIndex(live, f.Name) >= 0
	}
	isSame = isSame && len(names) == len(live)
	if !isSame && mode != Upsert {
		return herb.Invalidf("the file has the fields %s, but the live version has %s; send a file of the same columns",
			strings.Join(names, ", "), strings.Join(fieldNames(live), ", "))
	}
	c.fields = live
	if !isSame {
		c.fields = slices.DeleteFunc(slices.Clone(columns), func(f herb.Field) bool { return f.Name == deletedField })
		for i, f := range c.fields { // keys are compared in the notation of the live version
			if at := herb.FieldIndex(live, f.Name); at >= 0 {
				c.fields[i] = live[at]
			}
		}
	}
	for _, f := range c.fields {
		c.columns = append(c.columns, herb.FieldIndex(columns, f.Name))
		c.live = append(c.live, herb.FieldIndex(live, f.Name))
	}
	return nil
}

func fieldNames(fields []herb.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// findKey finds the fields of the primary key.
func (c *changes) findKey(key []string) error {
	for _, name := range key {
		i := herb.FieldIndex(c.fields, name)
		if i < 0 {
			return herb.Invalidf("the file lacks the field %q of the primary key (%s); it has the fields %s", name,
				strings.Join(key, ", "),
				strings.Join(fieldNames(c.fields), ", "))
		}
		c.key = append(c.key, i)
	}
	return nil
}

// store writes the records to the disk and, for Upsert, adds their keys to the matcher.
func (c *changes) store(records func(func(herb.Record, error) bool)) error {
	w, at := bufio.NewWriterSize(c.file, bufferBytes), int64(0)
	row := make(herb.Record, len(c.columns))
	for r, err := range records {
		if err != nil {
			return err
		}
		for i, column := range c.columns {
			row[i] = r[column]
		}
		if c.matcher != nil {
			if err := c.matcher.addChange(c.keyOf(row), at, c.deleted >= 0 && isTrue(r[c.deleted])); err != nil {
				return err
			}
		}
		n, err := w.Write(appendRow(nil, row))
		at += int64(n)
		if err != nil {
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
func (c *changes) keyOf(r herb.Record) (hash [keySize]byte) {
	b, _ := text.AppendKey(nil, c.fields, c.key, func(i int) string { return r[i] })
	sum := sha256.Sum256(b)
	copy(hash[:], sum[:])
	return hash
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

// readAt reads the record of the file at an offset.
func (c *changes) readAt(at int64, into herb.Record) error {
	_, err := readRow(bufio.NewReader(io.NewSectionReader(c.file, at, 1<<62)), into)
	return err
}
