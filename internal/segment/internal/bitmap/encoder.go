package bitmap

import (
	"bytes"
	"io"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/file"
)

// Encoder encodes a table. A set consists of the members of one or more calls of Append, and ends
// with End. The head precedes the sets but is complete only after them.
type Encoder struct {
	W     io.Writer // of the sets
	sizes []uint32  // of the sets, in units of the alignment
	set   roaring.Bitmap
	buf   bytes.Buffer
}

// Append adds members to the current set. Members must be added in ascending order.
func (e *Encoder) Append(members []uint32) { e.set.AddMany(members) }

// EncodePart encodes the members of a set in a container, given the first number of the container;
// nil if there are none.
func EncodePart(first uint32, members Bits) []byte {
	part := roaring.FromDense(members, false)
	if part.IsEmpty() {
		return nil
	}
	b, _ := roaring.AddOffset(part, first).ToBytes() // never fails
	return b
}

// AppendPart adds the members that EncodePart encoded to the current set, and returns the size of
// the part, which other bytes may follow.
func (e *Encoder) AppendPart(part []byte) (size int, err error) {
	var members roaring.Bitmap
	n, err := members.ReadFrom(bytes.NewReader(part))
	e.set.Or(&members)
	return int(n), err
}

// End ends the current set and writes it, followed by a trailer. Empty sets take no space.
func (e *Encoder) End(trailer []byte) error {
	e.set.RunOptimize()
	err := e.write(&e.set, trailer)
	e.set.Clear()
	return err
}

// AddBits adds a set. It uses run containers only if they halve the size of the set, because
// intersections with them are many times slower than with others.
func (e *Encoder) AddBits(b Bits) error {
	set := roaring.FromDense(b, false)
	runs := set.Clone()
	if runs.RunOptimize(); runs.GetSerializedSizeInBytes() < set.GetSerializedSizeInBytes()/2 {
		set = runs
	}
	return e.write(set, nil)
}

func (e *Encoder) write(set *roaring.Bitmap, trailer []byte) error {
	if set.IsEmpty() {
		e.sizes = append(e.sizes, 0)
		return nil
	}
	e.buf.Reset()
	_, _ = set.WriteTo(&e.buf) // never fails
	e.buf.Write(trailer)
	e.buf.Write(make([]byte, -e.buf.Len()&(file.Alignment-1)))
	e.sizes = append(e.sizes, uint32(e.buf.Len()/file.Alignment))
	_, err := e.W.Write(e.buf.Bytes())
	return err
}

// Reserve sets a table for the sizes of the sets, which is large enough for all of them.
func (e *Encoder) Reserve(sizes []uint32) { e.sizes = sizes[:0] }

// Release frees the memory for encoding. No set can be added afterwards.
func (e *Encoder) Release() { *e = Encoder{sizes: e.sizes} }

// Head returns the part of the table that precedes the sets.
func (e *Encoder) Head() file.TableHead { return file.TableHead{Sizes: e.sizes, Unit: file.Alignment} }
