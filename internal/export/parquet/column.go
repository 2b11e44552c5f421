package parquet

import (
	"github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
	"herbarium/internal/text"
	"herbarium/internal/typed"
)

// columnBuffer holds the values of a field in a row group.
type columnBuffer struct {
	typed.Column
	field    *herb.Field
	name     string
	physical format.Type
	size     int  // of a value in bytes; 0 if it varies
	required bool // no value is missing: empty texts are values

	levels  []uint8 // definition level of each value; none if required
	repeats []uint8 // of a list: repetition level of each value
	values  []byte  // the values that are not missing: of fixed size, or their bytes
	ends    []int   // of values whose size varies, in values
}

func newColumnBuffer(field *herb.Field, c typed.Column, exact bool) *columnBuffer {
	b := &columnBuffer{Column: c, field: field, name: field.Name, required: exact}
	b.physical, b.size = physical(c)
	return b
}

func (b *columnBuffer) isList() bool { return b.Kind == typed.List }

// Definition levels. A value is present at the maximum.
const (
	levelMissing   = 0
	levelPresent   = 1
	levelEmptyList = 1
	levelElement   = 2
)

func (b *columnBuffer) maxLevel() uint8 {
	switch {
	case b.required:
		return 0
	case b.isList():
		return levelElement
	}
	return levelPresent
}

// add adds the value of the next record.
func (b *columnBuffer) add(value []byte) (err error) {
	switch {
	case b.required:
		b.addBytes(value)
		return nil
	case b.isList():
		b.addList(value)
		return nil
	case text.MissingPosition(b.field, value) >= 0:
		b.levels = append(b.levels, levelMissing)
		return nil
	case b.Kind == typed.Text:
		b.addBytes(value)
	case b.Kind == typed.Date || b.Kind == typed.Timestamp:
		b.values, err = appendMoment(b.values, b.Column, b.field, value)
	default:
		var buf [64]byte
		canonical, status := text.AppendCanonical(buf[:0], b.field, value)
		if status != text.Valid {
			return errFacts
		}
		b.values, err = appendFixed(b.values, b.Column, canonical)
	}
	b.levels = append(b.levels, levelPresent)
	return err
}

func (b *columnBuffer) addBytes(value []byte) {
	b.values = append(b.values, value...)
	b.ends = append(b.ends, len(b.values))
}

func (b *columnBuffer) addList(value []byte) {
	if len(value) == 0 {
		b.levels, b.repeats = append(b.levels, levelMissing), append(b.repeats, 0)
		return
	}
	elements := text.Elements(b.field, string(value))
	if len(elements) == 0 {
		b.levels, b.repeats = append(b.levels, levelEmptyList), append(b.repeats, 0)
	}
	for i, e := range elements {
		b.levels, b.repeats = append(b.levels, levelElement), append(b.repeats, uint8(min(i, 1)))
		b.addBytes([]byte(e))
	}
}

// bytes returns how much memory the values take.
func (b *columnBuffer) bytes() int {
	const perEnd = 8
	return len(b.values) + perEnd*len(b.ends) + len(b.levels) + len(b.repeats)
}

// reset removes the values. Memory that one row group needed for long values is released.
func (b *columnBuffer) reset() {
	b.levels, b.repeats, b.ends = b.levels[:0], b.repeats[:0], b.ends[:0]
	b.values = b.values[:0]
	if cap(b.values) > 1<<20 {
		b.values = nil
	}
}

// count returns the number of values that are not missing.
func (b *columnBuffer) count() int {
	if b.size > 0 {
		return len(b.values) / b.size
	}
	return len(b.ends)
}

// at returns value i of those that are not missing.
func (b *columnBuffer) at(i int) []byte {
	if b.size > 0 {
		return b.values[i*b.size : (i+1)*b.size]
	}
	start := 0
	if i > 0 {
		start = b.ends[i-1]
	}
	return b.values[start:b.ends[i]]
}

// entries returns the number of levels, or of values if there are no levels.
func (b *columnBuffer) entries() int {
	if b.required {
		return b.count()
	}
	return len(b.levels)
}

// isPresent reports whether entry i has a value.
func (b *columnBuffer) isPresent(i int) bool { return b.required || b.levels[i] == b.maxLevel() }

// beginsRow reports whether a record begins with entry i.
func (b *columnBuffer) beginsRow(i int) bool { return b.repeats == nil || b.repeats[i] == 0 }
