package bitmap

import (
	"bytes"
	"io"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/file"
)

// SetEncoder encodes a set. It consists of the members of one or more calls of Append.
type SetEncoder struct{ set roaring.Bitmap }

// Append adds members to the set. Members must be added in ascending order.
func (e *SetEncoder) Append(members []uint32) { e.set.AddMany(members) }

// Len returns the number of members.
func (e *SetEncoder) Len() int { return int(e.set.GetCardinality()) }

// Clear removes all members.
func (e *SetEncoder) Clear() { e.set.Clear() }

// WriteTo writes the set with zeros up to the alignment.
func (e *SetEncoder) WriteTo(b *bytes.Buffer) {
	e.set.RunOptimize()
	_, _ = e.set.WriteTo(b) // never fails
	align(b)
}

func align(b *bytes.Buffer) { b.Write(make([]byte, -b.Len()&(file.Alignment-1))) }

// Encoder encodes a table of sets, of which each ends with End. The head precedes the sets but is
// complete only after them.
type Encoder struct {
	SetEncoder           // of the current set
	W          io.Writer // of the sets
	sizes      []uint32  // of the sets, in units of the alignment
	buf        bytes.Buffer
}

// EncodeContainer encodes the members of a set in a container, given the first number of the
// container; nil if there are none.
func EncodeContainer(first uint32, members Bits) []byte {
	container := roaring.FromDense(members, false)
	if container.IsEmpty() {
		return nil
	}
	b, _ := roaring.AddOffset(container, first).ToBytes() // never fails
	return b
}

// AppendContainer adds the members that EncodeContainer encoded to the set, and returns the size of
// the container, which other bytes may follow.
func (e *SetEncoder) AppendContainer(container []byte) (size int, err error) {
	var members roaring.Bitmap
	n, err := members.ReadFrom(bytes.NewReader(container))
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
	runs.RunOptimize()
	if runs.GetSerializedSizeInBytes() < set.GetSerializedSizeInBytes()/2 {
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
	align(&e.buf)
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
