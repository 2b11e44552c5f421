package bitmap

import (
	"math/bits"

	"herbarium/internal/segment/internal/guard"
)

// BlockRecords is the number of consecutive records of a block.
const BlockRecords = 64 * blockWords

const blockWords = 16

// Block is the members of a set among consecutive records.
type Block struct {
	First uint32 // the first of these records, a multiple of BlockRecords
	Len   int    // number of members
	Words *[blockWords]uint64
}

// Blocks calls f for the blocks with members, in ascending order. A block is valid until f returns.
func (s *Set) Blocks(st *guard.Steps, f func(b Block)) {
	if s.IsSmall() {
		words := new([blockWords]uint64)
		for list := s.list; len(list) > 0; {
			first, n := list[0]/BlockRecords*BlockRecords, 0
			clear(words[:])
			for ; n < len(list) && list[n]-first < BlockRecords; n++ {
				Bits(words[:]).Add(list[n] - first)
			}
			st.Add(n)
			f(Block{first, n, words})
			list = list[n:]
		}
		return
	}
	all := s.Dense(st)
	for i := 0; i < len(all); i += blockWords {
		words, n := (*[blockWords]uint64)(all[i:]), 0
		for _, word := range words {
			n += bits.OnesCount64(word)
		}
		if n > 0 {
			st.Add(n)
			f(Block{uint32(64 * i), n, words})
		}
	}
}
