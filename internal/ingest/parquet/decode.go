package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	meta "github.com/parquet-go/parquet-go/format"
)

// valueReader returns the next value of a page, without nulls, in little-endian byte order; a
// boolean has one byte. A value is never nil and valid until the next call. Reading more values
// than the page has is an error.
type valueReader func() ([]byte, error)

// plainDictionary is what older writers call RLE_DICTIONARY in data pages. The library marks its
// own constant as deprecated.
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
		return fixedDictionary([]byte{0, 1},
			1).reader(&runReader{left: math.MaxUint64, packed: packedReader{src: src, width: 1}}), nil
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

// newDeltaBytesReader reads byte arrays that may share a prefix with the array before. Only the
// last one is in memory.
func newDeltaBytesReader(src []byte, prefixed bool) (valueReader, error) {
	prefixes := &deltaReader{left: math.MaxInt, miniLeft: math.MaxInt} // zeros
	var err error
	if prefixed {
		prefixes, src, err = cutDeltas(src)
		if err != nil {
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
		_, rest, err = cutByteArray(rest)
		if err != nil {
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

// packedReader reads bit-packed values of at most 64 bits, least significant bit first. All
// decoders of this package decode one value at a time, so that memory depends on the bytes of a
// page and not on the number of values that it claims.
type packedReader struct {
	src       []byte
	width, at int // in bits
}

func (r *packedReader) next() (uint64, error) {
	if r.at+r.width > 8*len(r.src) {
		return 0, io.ErrUnexpectedEOF
	}
	var window [9]byte // a value may begin at the last bit of the first byte
	copy(window[:], r.src[r.at/8:])
	shift := r.at % 8
	r.at += r.width
	v := binary.LittleEndian.Uint64(window[:])>>shift | uint64(window[8])<<(64-shift)
	return v & (1<<r.width - 1), nil
}

// runReader reads small integers (levels, dictionary indexes, booleans), which are stored in runs
// of a repeated value or of bit-packed values of at most 32 bits.
type runReader struct {
	src      []byte
	width    int
	left     uint64       // values of the current run
	packed   packedReader // of values of no bits in a run of a repeated value
	repeated uint64
}

// newLevelReader reads levels up to a limit. If that is 0, they are ignored, because some writers
// store them nevertheless.
func newLevelReader(runs []byte, limit uint64) *runReader {
	if limit == 0 {
		return &runReader{left: math.MaxUint64}
	}
	return &runReader{src: runs, width: bits.Len64(limit)}
}

func (r *runReader) next() (uint64, error) {
	for r.left == 0 {
		if err := r.nextRun(); err != nil {
			return 0, err
		}
	}
	r.left--
	if r.packed.width == 0 {
		return r.repeated, nil
	}
	return r.packed.next()
}

func (r *runReader) nextRun() error {
	header, n := binary.Uvarint(r.src)
	if n <= 0 {
		return io.ErrUnexpectedEOF
	}
	r.src = r.src[n:]
	r.left, r.repeated, r.packed = min(header>>1, 1<<50), 0, packedReader{}
	size := (r.width + 7) / 8
	if header&1 != 0 { // groups of eight values
		size = int(min(r.left*uint64(r.width), uint64(len(r.src))))
		r.left *= 8
		r.packed = packedReader{src: r.src[:size], width: r.width}
	} else if size > len(r.src) {
		return io.ErrUnexpectedEOF
	} else {
		for i, b := range r.src[:size] {
			r.repeated |= uint64(b) << (8 * i)
		}
	}
	r.src = r.src[size:]
	return nil
}

var errDelta = errors.New("a delta-encoded page has an invalid header")

// deltaReader reads DELTA_BINARY_PACKED integers.
type deltaReader struct {
	src       []byte
	blocks    int // mini-blocks per block
	perBlock  int // values per mini-block
	left      int // values
	value     int64
	minDelta  int64
	widths    []byte // of the remaining mini-blocks of the block
	miniBlock packedReader
	miniLeft  int
}

// cutDeltas returns a reader of the integers at the start of src, and what follows them.
func cutDeltas(src []byte) (r *deltaReader, rest []byte, err error) {
	var header [3]uint64 // size of a block, mini-blocks per block, number of values
	for i := range header {
		v, n := binary.Uvarint(src)
		if n <= 0 || v > 1<<31 {
			return nil, nil, errDelta
		}
		header[i], src = v, src[n:]
	}
	first, n := binary.Varint(src)
	if n <= 0 || header[0] == 0 || header[1] == 0 || header[0]%(8*header[1]) != 0 {
		return nil, nil, errDelta
	}
	r = &deltaReader{
		src: src[n:], blocks: int(header[1]), perBlock: int(header[0] / header[1]), left: int(header[2]), value: first,
		miniLeft: 1, // the first value, as a delta of no bits
	}
	skipped := *r // skips mini-blocks without decoding them
	for left := r.left - 1; left > 0; left -= r.perBlock {
		if err := skipped.nextMiniBlock(); err != nil {
			return nil, nil, err
		}
	}
	return r, skipped.src, nil
}

func (r *deltaReader) next() (int64, error) {
	if r.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	r.left--
	if r.miniLeft == 0 {
		if err := r.nextMiniBlock(); err != nil {
			return 0, err
		}
	}
	r.miniLeft--
	delta, err := r.miniBlock.next()
	r.value += r.minDelta + int64(delta)
	return r.value, err
}

func (r *deltaReader) nextMiniBlock() error {
	if len(r.widths) == 0 {
		minDelta, n := binary.Varint(r.src)
		if n <= 0 || len(r.src)-n < r.blocks {
			return io.ErrUnexpectedEOF
		}
		r.minDelta, r.widths, r.src = minDelta, r.src[n:n+r.blocks], r.src[n+r.blocks:]
	}
	width := int(r.widths[0])
	if width > 64 {
		return errDelta
	}
	size := min(r.perBlock*width/8, len(r.src)) // the last one may be cut after its last value
	r.miniBlock = packedReader{src: r.src[:size], width: width}
	r.miniLeft, r.widths, r.src = r.perBlock, r.widths[1:], r.src[size:]
	return nil
}
