package value

import "herbarium/internal/text"

// booleans recognizes columns of one pair of words.
type booleans struct {
	pair     int
	has, not bool // true occurs, false occurs
}

// observe reports whether the column may still be one of booleans.
func (b *booleans) observe(v []byte) bool {
	is, pair := text.BooleanWord(v)
	if pair == 0 || b.pair != 0 && b.pair != pair {
		return false
	}
	b.pair = pair
	b.has, b.not = b.has || is, b.not || !is
	return true
}

// hold reports whether the words are booleans: both words of the pair occur, or the words are true
// or false.
func (b *booleans) hold() bool { return b.pair == 1 || b.has && b.not }
