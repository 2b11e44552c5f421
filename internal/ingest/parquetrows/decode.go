package parquetrows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	meta "github.com/parquet-go/parquet-go/format"
)

// valueReader returns the next value of a page, without nulls, in little-endian byte order; a boolean has one byte. A value
// is never nil and valid until the next call. Reading more values than the page has is an error.
type valueReader func() ([]byte, error)

// newValueReader returns a decoder for a page that is not encoded with a dictionary.
func newValueReader(l *leafType, encoding meta.Encoding, src []byte) (valueReader, error) {
	switch isBytes := l.stored == meta.ByteArray; {
	case encoding == meta.Plain && isBytes:
		return func() (v []byte, err error) {
			v, src, err = cutByteArray(src)
			return v, err
		}, nil
	case encoding == meta.Plain && l.stored == meta.Boolean:
		return booleanReader(newPackedReader(src, 1)), nil
	case encoding == meta.Plain:
		return fixedReader(src, l.width), nil
	case encoding == meta.RLE && l.stored == meta.Boolean:
		runs, _, err := cutByteArray(src)
		return booleanReader(&bitReader{src: runs, width: 1}), err
	case encoding == meta.ByteStreamSplit && l.width > 0:
		values, err := new(bytestreamsplit.Encoding).DecodeFixedLenByteArray(make([]byte, len(src)), src, l.width)
		return fixedReader(values, l.width), err
	case encoding == meta.DeltaBinaryPacked && (l.stored == meta.Int32 || l.stored == meta.Int64):
		ints, _, err := cutDeltas(src)
		buf := make([]byte, 8)
		return func() ([]byte, error) {
			v, err := ints.next()
			binary.LittleEndian.PutUint64(buf, uint64(v))
			return buf[:l.width], err
		}, err
	case encoding == meta.DeltaLengthByteArray && isBytes:
		return newDeltaBytesReader(src, false)
	case encoding == meta.DeltaByteArray && (isBytes || l.stored == meta.FixedLenByteArray):
		return newDeltaBytesReader(src, true)
	}
	return nil, fmt.Errorf("unsupported encoding %s of %s", encoding, l.stored)
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

func booleanReader(bits *bitReader) valueReader {
	buf := make([]byte, 1)
	return func() ([]byte, error) {
		v, err := bits.next()
		buf[0] = byte(v & 1)
		return buf, err
	}
}

// newDeltaBytesReader reads byte arrays that may share a prefix with the array before. Only the last one is in memory.
func newDeltaBytesReader(src []byte, prefixed bool) (valueReader, error) {
	prefixes := &deltaReader{left: math.MaxInt, miniLeft: math.MaxInt} // zeros
	var lengths *deltaReader
	var err error
	if prefixed {
		if prefixes, src, err = cutDeltas(src); err != nil {
			return nil, err
		}
	}
	if lengths, src, err = cutDeltas(src); err != nil {
		return nil, err
	}
	last := make([]byte, 0, 64)
	return func() ([]byte, error) {
		prefix, err := prefixes.next()
		if err != nil {
			return nil, err
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
	}, nil
}

// dictionary holds the distinct values of a column chunk.
type dictionary struct {
	data  []byte
	width int      // of each value; 0 for byte arrays
	ends  []uint32 // 0, then the end of each byte array, which follows its length of four bytes
}

// newDictionary reads a dictionary page of at most n values.
func newDictionary(l *leafType, data []byte, n int64) (*dictionary, error) {
	d := &dictionary{data: data, width: l.width, ends: []uint32{0}}
	if l.stored == meta.Boolean {
		return nil, errors.New("booleans have a dictionary")
	}
	for rest := data; d.width == 0 && int64(len(d.ends)) <= n && len(rest) > 0; {
		var err error
		if _, rest, err = cutByteArray(rest); err != nil {
			return nil, err
		}
		d.ends = append(d.ends, uint32(len(data)-len(rest)))
	}
	return d, nil
}

// at returns a value, nil if the dictionary does not have it.
func (d *dictionary) at(i int) []byte {
	start, end := i*d.width, (i+1)*d.width
	if d.width == 0 {
		if i+1 >= len(d.ends) {
			return nil
		}
		start, end = int(d.ends[i])+4, int(d.ends[i+1])
	}
	if end > len(d.data) {
		return nil
	}
	return d.data[start:end:end]
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
	indexes := bitReader{src: src[1:], width: int(src[0])}
	return func() ([]byte, error) {
		i, err := indexes.next()
		if err != nil {
			return nil, err
		}
		v := d.at(int(i))
		if v == nil {
			err = errors.New("an index is outside the dictionary")
		}
		return v, err
	}, nil
}
