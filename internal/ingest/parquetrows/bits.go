package parquetrows

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// bitsAt returns width bits at a bit offset, least significant bit first. They must exist.
func bitsAt(src []byte, at, width int) uint64 {
	src, shift := src[at/8:], at%8
	var word uint64
	if len(src) >= 8 {
		word = binary.LittleEndian.Uint64(src) >> shift
		if shift+width > 64 {
			word |= uint64(src[8]) << (64 - shift)
		}
	} else {
		for i, b := range src {
			word |= uint64(b) << (8 * i)
		}
		word >>= shift
	}
	if width < 64 {
		word &= 1<<width - 1
	}
	return word
}

// packedReader reads bit-packed values, least significant bit first.
type packedReader struct {
	src       []byte
	width, at int
	isLegacy  bool // most significant bit first, as in the deprecated BIT_PACKED encoding of levels
}

func (r *packedReader) next() (v uint64, err error) {
	if r.at+r.width > 8*len(r.src) {
		return 0, io.ErrUnexpectedEOF
	}
	at := r.at
	r.at += r.width
	if !r.isLegacy && r.width > 0 {
		return bitsAt(r.src, at, r.width), nil
	}
	for ; at < r.at; at++ {
		v = v<<1 | uint64(r.src[at/8]>>(7-at%8)&1)
	}
	return v, nil
}

// bitReader decodes small integers: levels, dictionary indexes, booleans. They are stored in runs, each of a repeated value
// or of bit-packed values of at most 32 bits. All decoders of this package decode one value at a time, so that memory
// depends on the bytes of a page and not on the number of values that it claims.
type bitReader struct {
	src      []byte
	width    int
	left     uint64 // values of the current run
	isPacked bool
	packed   packedReader
	repeated uint64
}

// newPackedReader reads values in one bit-packed run without a header.
func newPackedReader(packed packedReader) *bitReader {
	return &bitReader{left: math.MaxUint64, isPacked: true, packed: packed}
}

func (r *bitReader) next() (uint64, error) {
	for r.left == 0 {
		if err := r.nextRun(); err != nil {
			return 0, err
		}
	}
	r.left--
	if r.isPacked {
		return r.packed.next()
	}
	return r.repeated, nil
}

func (r *bitReader) nextRun() error {
	header, n := binary.Uvarint(r.src)
	if n <= 0 {
		return io.ErrUnexpectedEOF
	}
	r.src = r.src[n:]
	size := (r.width + 7) / 8
	r.left, r.isPacked = header>>1, header&1 != 0
	if r.isPacked { // groups of eight values
		groups := min(r.left, uint64(len(r.src))+1)
		size = min(int(groups)*r.width, len(r.src))
		r.left = min(r.left, 1<<60) * 8
		r.packed = packedReader{src: r.src[:size], width: r.width}
	} else if size > len(r.src) {
		return io.ErrUnexpectedEOF
	} else {
		r.repeated = bitsAt(r.src[:size], 0, 8*size)
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
	started   bool
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
	r = &deltaReader{src: src[n:], blocks: int(header[1]), perBlock: int(header[0] / header[1]), left: int(header[2]), value: first}
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
	if !r.started {
		r.started = true
		return r.value, nil
	}
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
