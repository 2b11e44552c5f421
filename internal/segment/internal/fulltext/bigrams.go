package fulltext

import "herbarium/internal/segment/internal/file"

// bigrams contains the postings of pairs of adjacent frequent terms. Without them, a phrase would
// be searched for in every record with both terms. Small files have none.
type bigrams struct {
	postingsTable
	common file.U32s // by frequent term, most frequent first: its number, and the number of its first bigram
}

// number returns the number of the bigram of two terms, if the file has its postings. A first term
// has bigrams with the most frequent terms, up to some position, which are numbered in the order of
// common.
func (p *bigrams) number(first, second uint32) (int, bool) {
	from, to, at := 0, 0, -1
	for i := 0; i < p.common.Len(); i += 2 {
		word := p.common.At(i)
		if word == second {
			at = i / 2
		}
		if word != first {
			continue
		}
		from, to = int(p.common.At(i+1)), p.docs.Len()
		if i+3 < p.common.Len() {
			to = int(p.common.At(i + 3))
		}
	}
	return from + at, at >= 0 && from+at < to
}
