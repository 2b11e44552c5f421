package segment

import (
	"context"
	"io"
)

// extraRules say what else is kept of words, to find faster what many records have.
type extraRules struct {
	pairs      pairRules
	beginnings beginningRules
}

func defaultExtraRules() extraRules { return extraRules{defaultPairRules(), defaultBeginningRules()} }

// writeExtras writes what is kept of words to find faster what many records have. The words of all records are gone through
// once for it. Names and ids are the words in their order; found is in how many records each stands, by its number.
func (b *wordsBuilder) writeExtras(ctx context.Context, w *fileWriter, names []string, ids u32s, found []uint32) error {
	begun, pairs := b.newBeginnings(names, ids, found), b.newPairs(found)
	if begun == nil && pairs == nil {
		return nil
	}
	err := b.eachWord(ctx, func(record, word uint32) {
		begun.add(record, word)
		pairs.add(record, word)
	}, func() error {
		if err := begun.next(); err != nil {
			return err
		}
		return pairs.next()
	})
	if err != nil {
		return err
	}
	if err := begun.writeTo(ctx, w); err != nil {
		return err
	}
	return pairs.writeTo(ctx, w)
}

// eachWord calls f with the words of all records as they stand in the forward index, the number + 1 of each or a 0 behind
// a field, and behind each record next.
func (b *wordsBuilder) eachWord(ctx context.Context, f func(record, word uint32), next func() error) error {
	r, err := b.forward.reader()
	if err != nil {
		return err
	}
	buf := make([]byte, 1<<16)
	record, word, shift, fields := uint32(0), uint32(0), 0, 0
	for {
		n, err := r.Read(buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, c := range buf[:n] {
			word |= uint32(c&0x7f) << shift
			if shift += 7; c >= 0x80 {
				continue
			}
			f(record, word)
			if word == 0 {
				if fields++; fields == b.fields {
					fields = 0
					record++
					if err := next(); err != nil {
						return err
					}
				}
			}
			word, shift = 0, 0
		}
	}
}
