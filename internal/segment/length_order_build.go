package segment

import (
	"context"
	"encoding/binary"
	"io"
	"maps"
	"slices"
)

// lengthOrderMin is the minimum number of records of a file with SHRT: with fewer, examining all matches is fast.
const lengthOrderMin = 1 << 12

// writeLengthOrder writes the records in the order of their lengths. It reads the lengths in several passes, each for
// as many records as fit the memory; few passes are needed, because a record takes four bytes.
func (b *wordsBuilder) writeLengthOrder(ctx context.Context, w *fileWriter) error {
	counts := map[uint32]int{}
	if err := b.eachLength(func(_, length uint32) error { counts[length]++; return nil }); err != nil {
		return err
	}
	if err := w.begin(tagLengthOrder, noField); err != nil {
		return err
	}
	most := max(b.memory/8/4, 1)
	for lengths := slices.Sorted(maps.Keys(counts)); len(lengths) > 0; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		n, taken := counts[lengths[0]], 1
		for taken < len(lengths) && n+counts[lengths[taken]] <= most {
			n += counts[lengths[taken]]
			taken++
		}
		if err := b.writeLengths(w, counts, lengths[:taken], n); err != nil {
			return err
		}
		lengths = lengths[taken:]
	}
	w.end()
	return nil
}

// writeLengths writes the n records that have the given lengths.
func (b *wordsBuilder) writeLengths(w *fileWriter, counts map[uint32]int, lengths []uint32, n int) error {
	if len(lengths) == 1 { // they are in order
		return b.eachLength(func(record, length uint32) error {
			if length != lengths[0] {
				return nil
			}
			var num [4]byte
			binary.LittleEndian.PutUint32(num[:], record)
			_, err := w.Write(num[:])
			return err
		})
	}
	next := make(map[uint32]int, len(lengths)) // index of the next record of each length
	at := 0
	for _, l := range lengths {
		next[l] = at
		at += counts[l]
	}
	sorted := make([]byte, 4*n)
	err := b.eachLength(func(record, length uint32) error {
		if i, ok := next[length]; ok {
			binary.LittleEndian.PutUint32(sorted[4*i:], record)
			next[length] = i + 1
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = w.Write(sorted)
	return err
}

// eachLength calls f for every record and its length.
func (b *wordsBuilder) eachLength(f func(record, length uint32) error) error {
	r, err := b.lengths.reader()
	if err != nil {
		return err
	}
	for record := uint32(0); ; record++ {
		length, err := r.u32()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = f(record, length)
		}
		if err != nil {
			return err
		}
	}
}
