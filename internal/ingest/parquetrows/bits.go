package parquetrows

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/bits"
)

// packedReader reads bit-packed values of at most 64 bits, least significant bit first. All decoders of this package decode one
// value at a time, so that memory depends on the bytes of a page and not on the number of values that it claims.
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

// runReader reads small integers (levels, dictionary indexes, booleans), which are stored in runs of a repeated value or of
// bit-packed values of at most 32 bits.
type runReader struct {
	src      []byte
	width    int
	left     uint64       // values of the current run
	packed   packedReader // of values of no bits in a run of a repeated value
	repeated uint64
}

// newLevelReader reads levels up to a limit. If that is 0, they are ignored, because some writers store them nevertheless.
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
