package build

import (
	"encoding/binary"

	"herbarium/internal/herb"
)

// MaxValueSize is the maximum average size of the values, with their lengths, of a field whose
// values are stored by run.
const MaxValueSize = 128

// storesRunValues reports whether the value of each run is stored, so that facets read values in
// sequence instead of looking up each one in its record.
func (b *columnBuilder) storesRunValues() bool {
	return b.field.Filterable && b.field.Type != herb.TypeList && b.size <= MaxValueSize*int64(b.records)
}

// runValuesWriter writes the values of runs, each without the prefix that it shares with the one
// before.
type runValuesWriter struct {
	before []byte
	next   []byte // buffer
	out    *spillFile
}

// add adds the value of the next run.
func (w *runValuesWriter) add(value []byte) {
	shared := commonPrefix(w.before, value)
	w.next = binary.AppendUvarint(w.next[:0], uint64(shared))
	w.next = binary.AppendUvarint(w.next, uint64(len(value)-shared))
	w.next = append(w.next, value[shared:]...)
	w.before = append(w.before[:shared], value[shared:]...)
	w.out.Write(w.next)
}
