package column

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// Records contains the JSON of every record.
type Records struct {
	Data       []byte    // of all records
	Starts     file.U64s // start of each record in Data, and end of the last
	labelSizes []int     // by field, length of its name as encoded in a record, including quotes and colon

	longest atomic.Int64 // see Longest; 0 until it is known
}

// OpenRecords returns the records of a file.
func OpenRecords(f *file.File) (*Records, error) {
	r := &Records{Data: f.Section(file.TagRecords, file.NoField),
		Starts: f.Section(file.TagRecordOffsets, file.NoField)}
	if r.Len() != f.Meta.Records {
		return nil, fmt.Errorf("%w: %d records start, of %d", guard.ErrCorrupt, r.Len(), f.Meta.Records)
	}
	for _, field := range f.Meta.Fields {
		r.labelSizes = append(r.labelSizes, len(herb.AppendJSONString(nil, field.Name))+1)
	}
	return r, nil
}

// Longest returns the size of the longest record in bytes. The first call reads where all records
// start.
func (r *Records) Longest(st *guard.Steps) int {
	if known := r.longest.Load(); known > 0 {
		return int(known)
	}
	longest := int64(0)
	st.Blocks(0, r.Len(), func(from, to int) {
		for i := from; i < to; i++ {
			longest = max(longest, int64(r.Starts.At(i+1)-r.Starts.At(i)))
		}
	})
	r.longest.Store(longest)
	return int(longest)
}

// Len returns the number of records.
func (r *Records) Len() int { return r.Starts.Len() - 1 }

// JSON returns the JSON of a record.
func (r *Records) JSON(n uint32) []byte { return r.Data[r.Starts.At(int(n)):r.Starts.At(int(n)+1)] }

// Value returns the value of a field of a record.
func (r *Records) Value(n uint32, field int) string { return r.ValueOf(r.JSON(n), field) }

// ValueOf returns the value of a field of a record in JSON.
func (r *Records) ValueOf(record []byte, field int) string { return Unescape(r.Raw(record, field)) }

func (r *Records) appendValue(dst []byte, n uint32, field int) []byte {
	raw := r.Raw(r.JSON(n), field)
	if bytes.IndexByte(raw, '\\') < 0 {
		return append(dst, raw...)
	}
	return append(dst, Unescape(raw)...)
}

// Raw returns the value of a field within the JSON of a record, without its quotes and still
// escaped.
func (r *Records) Raw(record []byte, field int) []byte {
	at := r.valueAt(record, field)
	return record[at:closingQuote(record, at)]
}

// valueAt returns the index in a record after the opening quote of the value of a field.
func (r *Records) valueAt(record []byte, field int) int {
	at := 1 // after the brace
	for i := 0; ; i++ {
		at += r.labelSizes[i] + 1 // after the opening quote of the value
		if i == field {
			return at
		}
		at = closingQuote(record, at) + 2 // after the closing quote and the comma
	}
}

// AppendRaw appends the values of all fields of a record as Raw returns them.
func (r *Records) AppendRaw(dst [][]byte, record []byte) [][]byte {
	at := 1
	for _, label := range r.labelSizes {
		at += label + 1
		end := closingQuote(record, at)
		dst = append(dst, record[at:end])
		at = end + 2
	}
	return dst
}

// ValuePrefix returns the value of a field of a record, or at least size bytes of a longer one.
// Reading all of a value can take a thousand times as long.
func (r *Records) ValuePrefix(n uint32, field, size int) string {
	const longestEscape = len(`\u0000`)
	record := r.JSON(n)
	raw := record[r.valueAt(record, field):]
	at := 0
	for at < size*longestEscape && raw[at] != '"' {
		switch {
		case raw[at] != '\\':
			at++
		case raw[at+1] == 'u':
			at += longestEscape
		default:
			at += 2
		}
	}
	return Unescape(raw[:at])
}

// closingQuote returns the index of the quote that ends the JSON string whose opening quote is
// before an index of a record.
func closingQuote(record []byte, at int) int {
	end := herb.JSONStringEnd(record, at-1)
	if end < 0 {
		guard.Corrupt("a value has no end")
	}
	return end - 1
}

// Unescape returns the value of which Raw has returned the bytes.
func Unescape(raw []byte) string {
	s, err := herb.UnescapeJSON(raw)
	if err != nil {
		guard.Corrupt("a value: %v", err)
	}
	return s
}
