package bitmap

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// randomMembers returns ascending numbers: in every container none, few, many, or runs of them.
func randomMembers(r *rand.Rand, containers int) []uint32 {
	set := roaring.New()
	for c := range containers {
		from := uint64(c) << 16
		switch r.IntN(5) {
		case 0:
		case 1:
			for range 1 + r.IntN(50) {
				set.Add(uint32(from) + uint32(r.IntN(1<<16)))
			}
		case 2:
			for range 3000 + r.IntN(30_000) {
				set.Add(uint32(from) + uint32(r.IntN(1<<16)))
			}
		case 3:
			for range 1 + r.IntN(100) {
				start := uint64(r.IntN(1 << 16))
				set.AddRange(from+start, from+min(start+uint64(1+r.IntN(1000)), 1<<16))
			}
		case 4:
			set.AddRange(from, from+1<<16)
		}
	}
	return set.ToArray()
}

// TestEncoder compares sets with those that the roaring library encodes.
func TestEncoder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	var body, want bytes.Buffer
	e := Encoder{W: &body}
	starts := []uint64{0}
	for i := range 200 {
		members, trailer := randomMembers(r, r.IntN(9)), make([]byte, r.IntN(20))
		if i%3 == 0 {
			members = members[:min(len(members), 1)]
		}
		set := roaring.BitmapOf(members...)
		if i%2 == 0 {
			set.RunOptimize()
			for part := range slices.Chunk(members, 1000) {
				e.Append(part)
			}
			if err := e.End(trailer); err != nil {
				t.Fatal(err)
			}
		} else {
			trailer = nil
			dense := NewBits(9 << 16)
			for _, m := range members {
				dense.Add(m)
			}
			if len(members) > 0 {
				dense = dense[:members[len(members)-1]/64+1]
			}
			set = roaring.FromDense(dense, true)
			runs := set.Clone()
			runs.RunOptimize()
			if runs.GetSerializedSizeInBytes() < set.GetSerializedSizeInBytes()/2 {
				set = runs
			}
			if err := e.AddBits(dense); err != nil {
				t.Fatal(err)
			}
		}
		if len(members) > 0 {
			if _, err := set.WriteTo(&want); err != nil {
				t.Fatal(err)
			}
			want.Write(trailer)
			want.Write(make([]byte, -want.Len()&7))
		}
		starts = append(starts, uint64(want.Len()))
	}
	if !bytes.Equal(body.Bytes(), want.Bytes()) {
		t.Error("the sets are not those of the library")
	}
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(starts)-1))
	for _, s := range starts {
		head = binary.LittleEndian.AppendUint64(head, s)
	}
	var got bytes.Buffer
	if _, err := e.Head().WriteTo(&got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), head) {
		t.Error("the head is not that of the sets")
	}
}
