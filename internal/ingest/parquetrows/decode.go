package parquetrows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	meta "github.com/parquet-go/parquet-go/format"
)

// value is one value of a leaf with its levels. data is nil for null, else the value in little-endian byte order; a
// boolean has one byte.
type value struct {
	rep, def uint8
	data     []byte
}

func (v value) isNull() bool { return v.data == nil }

// uint returns an integer of four or eight bytes.
func (v value) uint() uint64 {
	if len(v.data) == 4 {
		return uint64(binary.LittleEndian.Uint32(v.data))
	}
	return binary.LittleEndian.Uint64(v.data)
}

// int returns a signed integer of four or eight bytes.
func (v value) int() int64 {
	if len(v.data) == 4 {
		return int64(int32(binary.LittleEndian.Uint32(v.data)))
	}
	return int64(binary.LittleEndian.Uint64(v.data))
}

// physicalType describes how the values of a leaf are stored.
type physicalType struct {
	kind  meta.Type
	width int // of a value in bytes; 0 for booleans and byte arrays
}

// valueReader returns the next value of a page, without nulls. A value is never nil and valid until the next call. Reading
// more values than the page has is an error.
type valueReader func() ([]byte, error)

// newValueReader returns a decoder for a page that is not encoded with a dictionary.
func newValueReader(t physicalType, encoding meta.Encoding, src []byte) (valueReader, error) {
	isBytes := t.kind == meta.ByteArray || t.kind == meta.FixedLenByteArray
	switch {
	case encoding == meta.Plain && t.kind == meta.ByteArray:
		return func() (v []byte, err error) {
			v, src, err = cutByteArray(src)
			return v, err
		}, nil
	case encoding == meta.Plain && t.kind == meta.Boolean:
		return booleanReader(&packedReader{src: src, width: 1}), nil
	case encoding == meta.Plain:
		return fixedReader(src, t.width), nil
	case encoding == meta.RLE && t.kind == meta.Boolean:
		runs, _, err := cutByteArray(src)
		if err != nil {
			return nil, err
		}
		return booleanReader(&hybridReader{src: runs, width: 1}), nil
	case encoding == meta.ByteStreamSplit && t.width > 0:
		return streamSplitReader(src, t.width), nil
	case encoding == meta.DeltaBinaryPacked && (t.kind == meta.Int32 || t.kind == meta.Int64):
		ints, err := newDeltaReader(src)
		buf := make([]byte, 8)
		return func() ([]byte, error) {
			v, err := ints.next()
			binary.LittleEndian.PutUint64(buf, uint64(v))
			return buf[:t.width], err
		}, err
	case encoding == meta.DeltaLengthByteArray && t.kind == meta.ByteArray:
		return newDeltaBytesReader(src, false)
	case encoding == meta.DeltaByteArray && isBytes:
		return newDeltaBytesReader(src, true)
	}
	return nil, fmt.Errorf("unsupported encoding %s of %s", encoding, t.kind)
}

// cutByteArray splits off a byte array, which follows its length of four bytes.
func cutByteArray(src []byte) (v, rest []byte, err error) {
	if len(src) < 4 {
		return nil, nil, io.ErrUnexpectedEOF
	}
	n := int64(binary.LittleEndian.Uint32(src))
	if n > int64(len(src)-4) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return src[4 : 4+n : 4+n], src[4+n:], nil
}

// fixedReader reads values of equal width.
func fixedReader(src []byte, width int) valueReader {
	return func() ([]byte, error) {
		if len(src) < width {
			return nil, io.ErrUnexpectedEOF
		}
		v := src[:width:width]
		src = src[width:]
		return v, nil
	}
}

func booleanReader(bits bitReader) valueReader {
	buf := make([]byte, 1)
	return func() ([]byte, error) {
		v, err := bits.next()
		buf[0] = byte(v & 1)
		return buf, err
	}
}

// streamSplitReader reads values whose first bytes are stored together, then their second bytes, and so on.
func streamSplitReader(src []byte, width int) valueReader {
	buf, count, at := make([]byte, width), len(src)/width, -1
	return func() ([]byte, error) {
		if at++; at >= count {
			return nil, io.ErrUnexpectedEOF
		}
		for i := range buf {
			buf[i] = src[i*count+at]
		}
		return buf, nil
	}
}

// newDeltaBytesReader reads byte arrays that may share a prefix with the array before. Only the last one is in memory.
func newDeltaBytesReader(src []byte, prefixed bool) (valueReader, error) {
	prefixes := new(deltaReader)
	var err error
	if prefixed {
		if prefixes, err = newDeltaReader(src); err != nil {
			return nil, err
		}
		if src, err = prefixes.rest(); err != nil {
			return nil, err
		}
	}
	lengths, err := newDeltaReader(src)
	if err != nil {
		return nil, err
	}
	src, err = lengths.rest()
	last := make([]byte, 0, 64)
	return func() ([]byte, error) {
		prefix := int64(0)
		if prefixed {
			var err error
			if prefix, err = prefixes.next(); err != nil {
				return nil, err
			}
		}
		n, err := lengths.next()
		if err != nil {
			return nil, err
		}
		if prefix < 0 || prefix > int64(len(last)) || n < 0 || n > int64(len(src)) {
			return nil, io.ErrUnexpectedEOF
		}
		last = append(last[:prefix], src[:n]...)
		src = src[n:]
		return last, nil
	}, err
}

// dictionary holds the distinct values of a column chunk.
type dictionary struct {
	data  []byte
	width int      // of each value; 0 if there are ends
	ends  []uint32 // of byte arrays, each of which follows its length of four bytes
	count int
}

// newDictionary reads a dictionary page of at most n values.
func newDictionary(t physicalType, data []byte, n int) (*dictionary, error) {
	d := &dictionary{data: data, width: t.width}
	switch {
	case t.kind == meta.Boolean:
		return nil, errors.New("booleans have a dictionary")
	case t.width > 0:
		d.count = min(n, len(data)/t.width)
		return d, nil
	}
	for rest := data; d.count < n && len(rest) > 0; d.count++ {
		var err error
		if _, rest, err = cutByteArray(rest); err != nil {
			return nil, err
		}
		d.ends = append(d.ends, uint32(len(data)-len(rest)))
	}
	return d, nil
}

func (d *dictionary) at(i uint64) []byte {
	if d.width > 0 {
		start := int(i) * d.width
		return d.data[start : start+d.width : start+d.width]
	}
	start := uint32(4)
	if i > 0 {
		start += d.ends[i-1]
	}
	return d.data[start:d.ends[i]:d.ends[i]]
}

func newDictionaryReader(d *dictionary, src []byte) (valueReader, error) {
	switch {
	case d == nil:
		return nil, errors.New("a page refers to a dictionary that is missing")
	case len(src) == 0:
		return fixedReader(nil, 1), nil // no values
	case src[0] > 32:
		return nil, fmt.Errorf("unsupported width of %d bits", src[0])
	}
	indexes := hybridReader{src: src[1:], width: int(src[0])}
	return func() ([]byte, error) {
		i, err := indexes.next()
		if err != nil {
			return nil, err
		}
		if i >= uint64(d.count) {
			return nil, errors.New("an index is outside the dictionary")
		}
		return d.at(i), nil
	}, nil
}
