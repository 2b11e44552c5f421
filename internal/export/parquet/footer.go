package parquet

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// The indexes of all pages and the description of all row groups are at the end of a file: first
// the bounds of pages, then their offsets, then the footer. Until then they are in the scratch
// file, which is read once for each of the three:
//
//	for each row group
//	    for each field: column index, offset index, description of the chunk
//	    description of the row group after its chunks
//
// Each of these is preceded by its size in 4 bytes.

// describeGroup writes a row group to the scratch file. rest describes it after its chunks.
func (w *Writer) describeGroup(chunks []chunk, rest []byte) error {
	sized := func(b []byte) error {
		_, err := w.scratch.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...))
		return err
	}
	for i := range chunks {
		for _, part := range [][]byte{chunks[i].columnIndex(), chunks[i].offsetIndex(), chunks[i].description(w.columns[i])} {
			if err := sized(part); err != nil {
				return err
			}
		}
	}
	return sized(rest)
}

// readGroups reads the scratch file. chunk is called with the parts of each chunk, group with the
// rest of each row group. Only the parts that are selected are read into memory.
func (w *Writer) readGroups(group func() error, selected [3]bool, chunk func(sizes [3]int, parts [3][]byte) error, rest func([]byte) error) error {
	if _, err := w.opts.Scratch.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReader(w.opts.Scratch)
	var buffers [3][]byte
	next := func(into []byte, read bool) (int, []byte, error) {
		var size [4]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return 0, nil, err
		}
		n := int(binary.LittleEndian.Uint32(size[:]))
		if !read {
			_, err := in.Discard(n)
			return n, into, err
		}
		into = append(into[:0], make([]byte, n)...)
		_, err := io.ReadFull(in, into)
		return n, into, err
	}
	for range w.groups {
		if err := group(); err != nil {
			return err
		}
		for range w.columns {
			var sizes [3]int
			for part := range sizes {
				var err error
				if sizes[part], buffers[part], err = next(buffers[part], selected[part]); err != nil {
					return err
				}
			}
			if err := chunk(sizes, buffers); err != nil {
				return err
			}
		}
		_, content, err := next(nil, true)
		if err == nil {
			err = rest(content)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close writes the indexes and the footer. It does not close anything else.
func (w *Writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.scratch.Flush(); err != nil {
		return err
	}
	var starts [2]int64 // of the column indexes and of the offset indexes
	nothing := func() error { return nil }
	for index := range starts {
		starts[index] = w.at
		var selected [3]bool
		selected[index] = true
		err := w.readGroups(nothing, selected, func(_ [3]int, parts [3][]byte) error { return w.write(parts[index]) }, func([]byte) error { return nil })
		if err != nil {
			return err
		}
	}
	start := w.at
	t := newThrift()
	t.i32(1, 2) // version of the format
	w.appendSchema(t, 2)
	t.i64(3, w.total)
	t.list(4, thriftStruct, w.groups)
	if err := w.write(t.b); err != nil {
		return err
	}
	if err := w.writeGroups(starts); err != nil {
		return err
	}
	t.b = t.b[:0]
	w.appendMetadata(t)
	if err := w.write(t.finish()); err != nil {
		return err
	}
	size := w.at - start
	if size > math.MaxInt32 {
		return errTooWide()
	}
	return w.write(append(binary.LittleEndian.AppendUint32(nil, uint32(size)), magic...))
}

// writeGroups writes the descriptions of the row groups, given where the indexes begin.
func (w *Writer) writeGroups(at [2]int64) error {
	out := bufio.NewWriter(writerFunc(func(b []byte) (int, error) { return len(b), w.write(b) }))
	err := w.readGroups(func() error {
		t := newThrift()
		t.list(1, thriftStruct, len(w.columns))
		_, err := out.Write(t.b)
		return err
	}, [3]bool{false, false, true}, func(sizes [3]int, parts [3][]byte) error {
		t := newThrift()
		t.last[0] = 3 // the description of the chunk ends with it
		t.i64(4, at[1])
		t.i32(5, sizes[1])
		if sizes[0] > 0 {
			t.i64(6, at[0])
			t.i32(7, sizes[0])
		}
		at[0], at[1] = at[0]+int64(sizes[0]), at[1]+int64(sizes[1])
		if _, err := out.Write(parts[2]); err != nil {
			return err
		}
		_, err := out.Write(t.finish())
		return err
	}, func(rest []byte) error {
		_, err := out.Write(rest)
		return err
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// appendMetadata appends what follows the row groups.
func (w *Writer) appendMetadata(t *thrift) {
	t.list(5, thriftStruct, len(w.opts.Metadata))
	for _, m := range w.opts.Metadata {
		t.beginElement()
		t.text(1, m[0])
		t.text(2, m[1])
		t.end()
	}
	t.text(6, fmt.Sprintf("herbarium version %d.0.0 (build 0)", Layout))
	t.list(7, thriftStruct, len(w.columns))
	for range w.columns { // the order of the type
		t.beginElement()
		emptyMember(t, 1)
		t.end()
	}
}

// writerFunc is a function as an io.Writer.
type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
