package segment

import (
	"encoding/binary"
	"errors"
	"io"
)

// invert returns the inverse of a permutation of the numbers below n, encoded as u32: number i is at the index given by
// the i-th number. As this needs random writes, it proceeds in blocks that fit the memory; numbers of later blocks wait
// in spill files.
func (w *tempDir) invert(from *spillFile, n, memory int) (*spillFile, error) {
	const mostBlocks = 64 // maximum number of open spill files
	block := max(memory/4, n/mostBlocks+1, 1)
	in, err := from.reader()
	if err != nil {
		return nil, err
	}
	var waiting []*spillFile
	for at := block; at < n; at += block {
		waiting = append(waiting, w.newSpillFile())
	}
	numbers := make([]byte, 4*min(block, n))
	for i := range n {
		rank, err := in.u32()
		if err != nil {
			return nil, err
		}
		if int(rank) < block {
			binary.LittleEndian.PutUint32(numbers[4*rank:], uint32(i))
			continue
		}
		var pair [8]byte
		binary.LittleEndian.PutUint32(pair[:], rank%uint32(block))
		binary.LittleEndian.PutUint32(pair[4:], uint32(i))
		if _, err := waiting[int(rank)/block-1].Write(pair[:]); err != nil {
			return nil, err
		}
	}
	out := w.newSpillFile()
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

// scatter writes the numbers of index-number pairs to their indexes, and removes the spill file.
func (s *spillFile) scatter(numbers []byte) error {
	in, err := s.reader()
	if err != nil {
		return err
	}
	for {
		pair, err := in.next(8)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return s.remove()
			}
			return err
		}
		copy(numbers[4*binary.LittleEndian.Uint32(pair):], pair[4:])
	}
}
