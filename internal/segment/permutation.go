package segment

import (
	"encoding/binary"
	"errors"
	"io"
)

// invert reads a permutation of the numbers below n, as u32, and returns its inverse: the number i stands at the place that
// the i-th number says. That is a write anywhere for each, so it is done block by block, each of so many numbers as fit the
// memory; those of later blocks wait in spools.
func (w *workshop) invert(from *spool, n, memory int) (*spool, error) {
	const mostBlocks = 64 // that many spools are open
	block := max(memory/4, n/mostBlocks+1, 1)
	in, err := from.reader()
	if err != nil {
		return nil, err
	}
	var waiting []*spool
	for at := block; at < n; at += block {
		waiting = append(waiting, w.newSpool())
	}
	numbers := make([]byte, 4*min(block, n))
	for i := range n {
		place, err := in.u32()
		if err != nil {
			return nil, err
		}
		if int(place) < block {
			binary.LittleEndian.PutUint32(numbers[4*place:], uint32(i))
			continue
		}
		var pair [8]byte
		binary.LittleEndian.PutUint32(pair[:], place%uint32(block))
		binary.LittleEndian.PutUint32(pair[4:], uint32(i))
		if _, err := waiting[int(place)/block-1].Write(pair[:]); err != nil {
			return nil, err
		}
	}
	out := w.newSpool()
	if _, err := out.Write(numbers); err != nil {
		return nil, err
	}
	for i, s := range waiting {
		rest := numbers[:4*min(block, n-(i+1)*block)]
		if err := s.scatter(rest); err != nil {
			return nil, err
		}
		if _, err := out.Write(rest); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// scatter puts the numbers of pairs of place and number in their places, and removes the spool.
func (s *spool) scatter(numbers []byte) error {
	in, err := s.reader()
	if err != nil {
		return err
	}
	for {
		pair, err := in.take(8)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return s.remove()
			}
			return err
		}
		copy(numbers[4*binary.LittleEndian.Uint32(pair):], pair[4:])
	}
}
