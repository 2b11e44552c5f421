package parquet

import "encoding/binary"

// Types of the compact protocol of Thrift, in which the metadata of a Parquet file is encoded.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// thrift encodes a structure. Fields must be added in the order of their numbers.
type thrift struct {
	b    []byte
	last []int // number of the last field, of each open structure
}

func newThrift() *thrift { return &thrift{last: []int{0}} }

// field begins a field of the innermost structure.
func (t *thrift) field(id, kind int) {
	last := &t.last[len(t.last)-1]
	t.b = append(t.b, byte((id-*last)<<4|kind))
	*last = id
}

func (t *thrift) i16(id int, v int16) { t.integer(id, thriftI16, int64(v)) }
func (t *thrift) i32(id int, v int)   { t.integer(id, thriftI32, int64(v)) }
func (t *thrift) i64(id int, v int64) { t.integer(id, thriftI64, v) }

func (t *thrift) integer(id, kind int, v int64) {
	t.field(id, kind)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) boolean(id int, v bool) {
	if v {
		t.field(id, thriftTrue)
	} else {
		t.field(id, thriftFalse)
	}
}

func (t *thrift) binary(id int, v []byte) {
	t.field(id, thriftBinary)
	t.element(v)
}

func (t *thrift) text(id int, v string) { t.binary(id, []byte(v)) }

// list begins a list of n elements, which follow as elements or structures.
func (t *thrift) list(id, kind, n int) {
	t.field(id, thriftList)
	t.listHeader(kind, n)
}

func (t *thrift) listHeader(kind, n int) {
	const short = 15
	if n < short {
		t.b = append(t.b, byte(n<<4|kind))
		return
	}
	t.b = binary.AppendUvarint(append(t.b, byte(short<<4|kind)), uint64(n))
}

// element appends an element of a list of texts or bytes.
func (t *thrift) element(v []byte) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(v))), v...)
}

// begin begins a structure that is a field. end ends it.
func (t *thrift) begin(id int) {
	t.field(id, thriftStruct)
	t.beginElement()
}

// beginElement begins a structure that is an element of a list. end ends it.
func (t *thrift) beginElement() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

// finish ends the outermost structure and returns the encoding.
func (t *thrift) finish() []byte {
	t.end()
	return t.b
}
