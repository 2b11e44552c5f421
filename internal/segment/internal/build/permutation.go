package build

import "encoding/binary"

// invert returns the inverse of a permutation of the numbers below n, encoded as u32: number i is
// at the index given by the i-th number. It writes blocks that fit the memory and reads all numbers
// once per block.
func (w *tempDir) invert(from *spillFile, n, memory int) (*spillFile, error) {
	const maxBlocks = 64
	block := max(memory/4, n/maxBlocks+1)
	out, inverse := w.newSpillFile(), make([]byte, 4*min(block, n))
	for first := 0; first < n; first += block {
		inverse = inverse[:4*min(block, n-first)]
		i := uint32(0)
		err := from.eachU32(func(number uint32) {
			if at := 4 * (int(number) - first); at >= 0 && at < len(inverse) {
				binary.LittleEndian.PutUint32(inverse[at:], i)
			}
			i++
		})
		if err != nil {
			return nil, err
		}
		out.Write(inverse)
	}
	return out, out.err
}
