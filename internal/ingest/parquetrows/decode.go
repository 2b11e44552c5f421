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

// plainDictionary is what older writers call RLE_DICTIONARY in data pages. The library marks its own constant as deprecated.
const plainDictionary meta.Encoding = 2

// newValueReader returns a decoder for the values of a data page.
func newValueReader(l *leafType, d dictionary, encoding meta.Encoding, src []byte) (valueReader, error) {
	isBytes, isBoolean := l.stored == meta.ByteArray, l.stored == meta.Boolean
	isIndex := encoding == plainDictionary || encoding == meta.RLEDictionary
	switch {
	case len(src) == 0:
		return fixedReader(nil, 1), nil // all values are null
	case isIndex && d == nil:
		return nil, errors.New("a page refers to a dictionary that is missing")
	case isIndex && src[0] > 32:
		return nil, fmt.Errorf("unsupported width of %d bits", src[0])
	case isIndex: // after its width in bits
		return d.reader(&runReader{src: src[1:], width: int(src[0])}), nil
	case encoding == meta.Plain && isBytes:
		return func() (v []byte, err error) {
			v, src, err = cutByteArray(src)
			return v, err
		}, nil
	case encoding == meta.Plain && isBoolean:
		return fixedDictionary([]byte{0, 1}, 1).reader(&runReader{left: math.MaxUint64, packed: packedReader{src: src, width: 1}}), nil
	case encoding == meta.Plain:
		return fixedReader(src, l.width), nil
	case encoding == meta.RLE && isBoolean:
		runs, _, err := cutByteArray(src)
		return fixedDictionary([]byte{0, 1}, 1).reader(&runReader{src: runs, width: 1}), err
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

// newDeltaBytesReader reads byte arrays that may share a prefix with the array before. Only the last one is in memory.
func newDeltaBytesReader(src []byte, prefixed bool) (valueReader, error) {
	prefixes := &deltaReader{left: math.MaxInt, miniLeft: math.MaxInt} // zeros
	var err error
	if prefixed {
		if prefixes, src, err = cutDeltas(src); err != nil {
			return nil, err
		}
	}
	lengths, src, err := cutDeltas(src)
	last := make([]byte, 0, 64)
	return func() ([]byte, error) {
		prefix, err := prefixes.next()
		if err != nil {
			return nil, err
		}
		n, err := lengths.next()
		if err != nil || prefix < 0 || prefix > int64(len(last)) || n < 0 || n > int64(len(src)) {
			return nil, io.ErrUnexpectedEOF
		}
		last = append(last[:prefix], src[:n]...)
		src = src[n:]
		return last, nil
	}, err
}

// dictionary returns a distinct value of a column chunk by its index, nil if there is none.
type dictionary func(i int) []byte

// newDictionary reads a dictionary page of at most n values.
func newDictionary(l *leafType, data []byte, n int64) (dictionary, error) {
	if l.width > 0 {
		return fixedDictionary(data, l.width), nil
	}
	if l.stored == meta.Boolean {
		return nil, errors.New("booleans have a dictionary")
	}
	var starts []uint32
	for rest := data; int64(len(starts)) < n && len(rest) > 0; {
		starts = append(starts, uint32(len(data)-len(rest)))
		var err error
		if _, rest, err = cutByteArray(rest); err != nil {
			return nil, err
		}
	}
	return func(i int) (v []byte) {
		if i < len(starts) {
			v, _, _ = cutByteArray(data[starts[i]:])
		}
		return v
	}, nil
}

// fixedDictionary has values of equal width.
func fixedDictionary(data []byte, width int) dictionary {
	return func(i int) []byte {
		if end := (i + 1) * width; end <= len(data) {
			return data[i*width : end : end]
		}
		return nil
	}
}

// reader reads values by their indexes.
func (d dictionary) reader(indexes *runReader) valueReader {
	return func() ([]byte, error) {
		i, err := indexes.next()
		if err != nil {
			return nil, err
		}
		v := d(int(i))
		if v == nil {
			err = errors.New("an index is outside the dictionary")
		}
		return v, err
	}
}
