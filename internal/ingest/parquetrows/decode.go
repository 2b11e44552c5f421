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

// valueReader decodes the values of a page, without nulls. A value is never nil and valid until the next call. Reading
// more values than the page has is an error.
type valueReader interface {
	next() ([]byte, error)
}

// newValueReader returns a decoder for a page that is not encoded with a dictionary.
func newValueReader(t physicalType, encoding meta.Encoding, src []byte) (valueReader, error) {
	isBytes := t.kind == meta.ByteArray || t.kind == meta.FixedLenByteArray
	switch {
	case encoding == meta.Plain && t.kind == meta.ByteArray:
		return &byteArrayReader{src}, nil
	case encoding == meta.Plain && t.kind == meta.Boolean:
		return &booleanReader{bits: &packedReader{src: src, width: 1}}, nil
	case encoding == meta.Plain:
		return &fixedReader{src, t.width}, nil
	case encoding == meta.RLE && t.kind == meta.Boolean:
		if len(src) < 4 || int64(binary.LittleEndian.Uint32(src)) > int64(len(src)-4) {
			return nil, io.ErrUnexpectedEOF
		}
		runs, err := newHybridReader(src[4:][:binary.LittleEndian.Uint32(src)], 1)
		return &booleanReader{bits: runs}, err
	case encoding == meta.ByteStreamSplit && t.width > 0:
		return &streamSplitReader{src: src, count: len(src) / t.width, buf: make([]byte, t.width)}, nil
	case encoding == meta.DeltaBinaryPacked && (t.kind == meta.Int32 || t.kind == meta.Int64):
		ints, err := newDeltaReader(src)
		return &integerReader{ints, make([]byte, 8), t.width}, err
	case encoding == meta.DeltaLengthByteArray && t.kind == meta.ByteArray:
		return newDeltaBytesReader(src, false)
	case encoding == meta.DeltaByteArray && isBytes:
		return newDeltaBytesReader(src, true)
	}
	return nil, fmt.Errorf("unsupported encoding %s of %s", encoding, t.kind)
}

type fixedReader struct {
	src   []byte
	width int
}

func (r *fixedReader) next() ([]byte, error) {
	if len(r.src) < r.width {
		return nil, io.ErrUnexpectedEOF
	}
	v := r.src[:r.width:r.width]
	r.src = r.src[r.width:]
	return v, nil
}

// byteArrayReader reads byte arrays, each after its length.
type byteArrayReader struct{ src []byte }

func (r *byteArrayReader) next() ([]byte, error) {
	if len(r.src) < 4 {
		return nil, io.ErrUnexpectedEOF
	}
	n := int64(binary.LittleEndian.Uint32(r.src))
	if n > int64(len(r.src)-4) {
		return nil, io.ErrUnexpectedEOF
	}
	v := r.src[4 : 4+n : 4+n]
	r.src = r.src[4+n:]
	return v, nil
}

type booleanReader struct {
	bits bitReader
	buf  [1]byte
}

func (r *booleanReader) next() ([]byte, error) {
	v, err := r.bits.next()
	r.buf[0] = byte(v & 1)
	return r.buf[:], err
}

// streamSplitReader reads values whose first bytes are stored together, then their second bytes, and so on.
type streamSplitReader struct {
	src       []byte
	count, at int
	buf       []byte
}

func (r *streamSplitReader) next() ([]byte, error) {
	if r.at == r.count {
		return nil, io.ErrUnexpectedEOF
	}
	for i := range r.buf {
		r.buf[i] = r.src[i*r.count+r.at]
	}
	r.at++
	return r.buf, nil
}

type integerReader struct {
	ints  *deltaReader
	buf   []byte
	width int
}

func (r *integerReader) next() ([]byte, error) {
	v, err := r.ints.next()
	binary.LittleEndian.PutUint64(r.buf, uint64(v))
	return r.buf[:r.width], err
}

// deltaBytesReader reads byte arrays that share a prefix with the array before. Only the last one is in memory.
type deltaBytesReader struct {
	prefixes *deltaReader // nil if there are none
	lengths  *deltaReader
	src      []byte
	last     []byte
}

func newDeltaBytesReader(src []byte, prefixed bool) (r *deltaBytesReader, err error) {
	r = &deltaBytesReader{last: make([]byte, 0, 64)}
	if prefixed {
		if r.prefixes, err = newDeltaReader(src); err != nil {
			return nil, err
		}
		if src, err = r.prefixes.rest(); err != nil {
			return nil, err
		}
	}
	if r.lengths, err = newDeltaReader(src); err != nil {
		return nil, err
	}
	r.src, err = r.lengths.rest()
	return r, err
}

func (r *deltaBytesReader) next() ([]byte, error) {
	prefix := int64(0)
	if r.prefixes != nil {
		var err error
		if prefix, err = r.prefixes.next(); err != nil {
			return nil, err
		}
	}
	n, err := r.lengths.next()
	if err != nil {
		return nil, err
	}
	if prefix < 0 || prefix > int64(len(r.last)) || n < 0 || n > int64(len(r.src)) {
		return nil, io.ErrUnexpectedEOF
	}
	r.last = append(r.last[:prefix], r.src[:n]...)
	r.src = r.src[n:]
	return r.last, nil
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
	values := byteArrayReader{data}
	for ; d.count < n && len(values.src) > 0; d.count++ {
		if _, err := values.next(); err != nil {
			return nil, err
		}
		d.ends = append(d.ends, uint32(len(data)-len(values.src)))
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

type dictionaryReader struct {
	indexes *hybridReader
	values  *dictionary
}

func newDictionaryReader(d *dictionary, src []byte) (valueReader, error) {
	switch {
	case d == nil:
		return nil, errors.New("a page refers to a dictionary that is missing")
	case len(src) == 0:
		return &fixedReader{width: 1}, nil // no values
	}
	indexes, err := newHybridReader(src[1:], int(src[0]))
	return &dictionaryReader{indexes, d}, err
}

func (r *dictionaryReader) next() ([]byte, error) {
	i, err := r.indexes.next()
	if err != nil {
		return nil, err
	}
	if i >= uint64(r.values.count) {
		return nil, errors.New("an index is outside the dictionary")
	}
	return r.values.at(i), nil
}
