package build

import (
	"encoding/binary"
	"slices"

	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/text"
	"herbarium/internal/typed"
)

// A batch is full when it has this number of records or bytes. Bytes include the field names, which
// are written with each record.
const (
	batchRecords = 512
	batchBytes   = 1 << 18
)

// batch holds consecutive records, and what one goroutine prepares from them without the others.
// Batches are reused.
type batch struct {
	records  []herb.Record
	names    int      // bytes of the field names in a record
	size     int      // bytes of the records
	json     []byte   // of the records
	ends     []int    // of each record in json
	values   [][]byte // by field, in the format of its column
	words    tokens   // one list for each searchable field of each record
	elements []tokens // by list field, one list for each record
	facts    []typed.Facts
	points   [][]geo.Point // by candidate for coordinates, by record
	splitter text.Splitter
	ready    chan struct{}
	held     []*batch // batches that wait until this one is added, because its records are long
}

func newBatch(fields []herb.Field) *batch {
	x := &batch{ready: make(chan struct{}, 1), values: make([][]byte, len(fields)),
		elements: make([]tokens, len(fields)), facts: make([]typed.Facts, len(fields))}
	for _, f := range fields {
		x.names += len(f.Name)
	}
	return x
}

// add adds a record.
func (x *batch) add(r herb.Record) {
	x.records = append(x.records, r)
	x.size += x.names
	for _, v := range r {
		x.size += len(v)
	}
}

func (x *batch) isFull() bool { return len(x.records) == batchRecords || x.size >= batchBytes }

// others returns the number of other batches that must not be in flight together with a batch of
// long records, so that the records in flight have a bounded size.
func (x *batch) others() int { return x.size / (4 * batchBytes) }

// reset returns an empty batch: the same one with its memory, or a new one if it had to grow for a
// long record.
func (x *batch) reset(fields []herb.Field) *batch {
	if x.size > 4*batchBytes {
		return newBatch(fields)
	}
	clear(x.records)
	x.records, x.size, x.json, x.ends = x.records[:0], 0, x.json[:0], x.ends[:0]
	x.words.reset()
	clear(x.facts)
	for i := range x.values {
		x.values[i] = x.values[i][:0]
		x.elements[i].reset()
	}
	return x
}

// prepare renders the records of a batch and splits them into words and elements. Several batches
// may be prepared concurrently.
func (b *builder) prepare(x *batch) {
	addWord := func(w []byte) { x.words.add(&b.words.terms.dictionary, w) }
	for _, r := range x.records {
		x.json = append(x.json, '{')
		for i, c := range b.columns {
			x.json = herb.AppendJSONString(append(x.json, c.label...), r[i])
		}
		x.json = append(x.json, '}')
		x.ends = append(x.ends, len(x.json))
		b.prepareWords(x, r, addWord)
	}
	b.places.prepare(x)
	for i, c := range b.columns {
		values := x.values[i]
		for _, r := range x.records {
			values = binary.AppendUvarint(values, uint64(len(r[i])))
			values = append(values, r[i]...)
		}
		x.values[i] = values
		x.addFacts(i, &b.fields[i])
		if c.elements != nil {
			b.prepareElements(x, i)
		}
	}
}

// addFacts adds the values of a field to its facts.
func (x *batch) addFacts(i int, field *herb.Field) {
	if !field.Type.IsScalar() {
		return
	}
	for values := x.values[i]; len(values) > 0; {
		size, n := binary.Uvarint(values)
		value := values[n : n+int(size)]
		x.facts[i].Add(field, value)
		values = values[n+int(size):]
	}
}

// prepareWords splits a record into words. Those of the category label of a value follow its own.
func (b *builder) prepareWords(x *batch, r herb.Record, addWord func([]byte)) {
	b.words.terms.mu.RLock()
	defer b.words.terms.mu.RUnlock() // even after a panic, which fails only this build
	for i, f := range b.fields {
		if !f.Searchable {
			continue
		}
		label := b.words.categories[i].Label(r[i])
		for range max(f.Weight, 1) { // a field of weight 3 counts as if it occurred three times
			x.splitter.Each(text.SearchText(&b.fields[i], r[i]), addWord)
			if label != "" {
				x.splitter.Each(label, addWord)
			}
			x.words.end()
		}
	}
}

// prepareElements splits the values of a list field.
func (b *builder) prepareElements(x *batch, field int) {
	t, d, f := &x.elements[field], &b.columns[field].elements.dictionary, &b.fields[field]
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, r := range x.records {
		seen := text.Elements(f, r[field])
		slices.Sort(seen)
		for _, e := range slices.Compact(seen) {
			t.add(d, []byte(e))
		}
		t.end()
	}
}
