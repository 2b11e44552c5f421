package bitmap

import (
	"encoding/binary"
	"io"
	"math/bits"

	"herbarium/internal/segment/internal/file"
)

// Encoder encodes a table. A set consists of the members of one or more calls of Append, and ends with End. The head
// precedes the sets but is complete only after them.
type Encoder struct {
	W     io.Writer // of the sets
	sizes []uint32  // of the sets, in units of the alignment

	// The current set.
	key     uint32   // of the current container
	low     []uint16 // lower bits of the members of the current container
	heads   []byte   // of the complete containers
	isRun   []byte   // one bit for each of them
	offsets []uint32 // of them in body
	body    []byte
	hasRuns bool
	noRuns  bool // do not use run containers
	plain   int  // size of the containers if there were no run containers
	buf     []byte
}

// Append adds members to the current set. Members must be added in ascending order.
func (e *Encoder) Append(members []uint32) {
	for _, m := range members {
		if key := m >> 16; key != e.key {
			e.endContainer()
			e.key = key
		}
		e.low = append(e.low, uint16(m))
	}
}

// endContainer encodes the current container in its smallest form.
func (e *Encoder) endContainer() {
	n, runs := len(e.low), 1
	if n == 0 {
		return
	}
	for i, low := range e.low[1:] {
		if low != e.low[i]+1 {
			runs++
		}
	}
	isRun := !e.noRuns && runBytes(runs) <= min(2*n, bitmapBytes)
	e.addHead(n, isRun)
	le := binary.LittleEndian
	switch {
	case isRun:
		e.body = le.AppendUint16(e.body, uint16(runs))
		for i := 0; i < n; {
			first, start := i, e.low[i]
			for i++; i < n && e.low[i] == e.low[i-1]+1; {
				i++
			}
			e.body = le.AppendUint16(le.AppendUint16(e.body, start), uint16(i-first-1))
		}
	case n <= MaxArrayMembers:
		for _, low := range e.low {
			e.body = le.AppendUint16(e.body, low)
		}
	default:
		var words [bitmapBytes]byte
		for _, low := range e.low {
			words[low/8] |= 1 << (low % 8)
		}
		e.body = append(e.body, words[:]...)
	}
	e.low = e.low[:0]
}

// runBytes returns the size of a run container.
func runBytes(runs int) int { return 2 + 4*runs }

// addHead adds the head of a container with n members that is appended to body next.
func (e *Encoder) addHead(n int, isRun bool) {
	i := len(e.offsets)
	if i%8 == 0 {
		e.isRun = append(e.isRun, 0)
	}
	if isRun {
		e.isRun[i/8] |= 1 << (i % 8)
		e.hasRuns = true
	}
	e.heads = binary.LittleEndian.AppendUint16(e.heads, uint16(e.key))
	e.heads = binary.LittleEndian.AppendUint16(e.heads, uint16(n-1))
	e.offsets = append(e.offsets, uint32(len(e.body)))
	if n <= MaxArrayMembers {
		e.plain += 2 * n
	} else {
		e.plain += bitmapBytes
	}
}

// End ends the current set and writes it, followed by a trailer. Empty sets take no space.
func (e *Encoder) End(trailer []byte) error {
	e.endContainer()
	if len(e.offsets) == 0 {
		e.sizes = append(e.sizes, 0)
		return nil
	}
	e.buf = e.appendHeader(e.buf[:0])
	size := len(e.buf) + len(e.body) + len(trailer)
	padding := -size & (file.Alignment - 1)
	e.sizes = append(e.sizes, uint32((size+padding)/file.Alignment))
	if _, err := e.W.Write(e.buf); err != nil {
		return err
	}
	if _, err := e.W.Write(e.body); err != nil {
		return err
	}
	e.buf = append(append(e.buf[:0], trailer...), make([]byte, padding)...)
	_, err := e.W.Write(e.buf)
	e.reset()
	return err
}

// appendHeader appends what precedes the containers of the current set.
func (e *Encoder) appendHeader(b []byte) []byte {
	le, n := binary.LittleEndian, len(e.offsets)
	if e.hasRuns {
		b = append(le.AppendUint32(b, cookieRuns|uint32(n-1)<<16), e.isRun...)
	} else {
		b = le.AppendUint32(le.AppendUint32(b, cookieNoRuns), uint32(n))
	}
	b = append(b, e.heads...)
	if e.hasRuns && n < offsetsFrom {
		return b
	}
	start := uint32(len(b) + 4*n)
	for _, offset := range e.offsets {
		b = le.AppendUint32(b, start+offset)
	}
	return b
}

func (e *Encoder) reset() {
	e.low, e.heads, e.isRun, e.offsets, e.body = e.low[:0], e.heads[:0], e.isRun[:0], e.offsets[:0], e.body[:0]
	e.key, e.hasRuns, e.plain = 0, false, 0
}

// AddBits adds a set. Intersections with run containers are many times slower than with others, so these must halve its
// size.
func (e *Encoder) AddBits(b Bits) error {
	e.appendBits(b)
	withoutRuns := 8 + 8*len(e.offsets) + e.plain
	if e.hasRuns && len(e.appendHeader(nil))+len(e.body) >= withoutRuns/2 {
		e.reset()
		e.noRuns = true
		e.appendBits(b)
		e.noRuns = false
	}
	return e.End(nil)
}

func (e *Encoder) appendBits(b Bits) {
	for from := 0; from < len(b); from += bitmapWords {
		words := b[from:min(from+bitmapWords, len(b))]
		e.key = uint32(from / bitmapWords)
		n, runs, last := 0, 0, uint64(0)
		for _, w := range words {
			n += bits.OnesCount64(w)
			runs += bits.OnesCount64(w &^ (w<<1 | last>>63))
			last = w
		}
		if n > MaxArrayMembers && (e.noRuns || runBytes(runs) > bitmapBytes) { // no need to list its members
			e.addHead(n, false)
			for _, w := range words {
				e.body = binary.LittleEndian.AppendUint64(e.body, w)
			}
			e.body = append(e.body, make([]byte, 8*(bitmapWords-len(words)))...)
			continue
		}
		for i, w := range words {
			for ; w != 0; w &= w - 1 {
				e.low = append(e.low, uint16(64*i+bits.TrailingZeros64(w)))
			}
		}
		e.endContainer()
	}
}

// Release frees the memory for encoding. No set can be added afterwards.
func (e *Encoder) Release() { *e = Encoder{sizes: e.sizes} }

// Head returns the part of the table that precedes the sets.
func (e *Encoder) Head() file.TableHead { return file.TableHead{Sizes: e.sizes, Unit: file.Alignment} }
