package parquet

import (
	"herbarium/internal/typed"
)

// Physical types.
const (
	physicalBoolean = 0
	physicalInt32   = 1
	physicalInt64   = 2
	physicalDouble  = 5
	physicalBytes   = 6
	physicalFixed   = 7
)

// Repetition types of a node of the schema.
const (
	required = 0
	optional = 1
	repeated = 2
)

// Converted types, which programs read that do not know logical types.
const (
	convertedUTF8      = 0
	convertedList      = 3
	convertedDecimal   = 5
	convertedDate      = 6
	convertedTimeMicro = 8
	convertedTimestamp = 10 // microseconds, in UTC
)

// Members of the union of logical types.
const (
	logicalText      = 1
	logicalList      = 3
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
)

// fixedDecimal is the number of bytes of decimals that do not fit 64 bits.
const fixedDecimal = 16

// int64Digits is the number of digits that fit 64 bits, whatever they are.
const int64Digits = 18

// physical returns the physical type of the values of a column, and their size in bytes; 0 if it
// varies.
func physical(c typed.Column) (kind, size int) {
	switch c.Kind {
	case typed.Boolean:
		return physicalBoolean, 1 // while they are collected
	case typed.Date:
		return physicalInt32, 4
	case typed.Double:
		return physicalDouble, 8
	case typed.Decimal:
		if c.Precision > int64Digits {
			return physicalFixed, fixedDecimal
		}
		return physicalInt64, 8
	case typed.Int64, typed.Timestamp, typed.Time:
		return physicalInt64, 8
	}
	return physicalBytes, 0
}

// appendSchema appends the nodes of the schema: the root, and one or, for a list, three for each
// field.
func (w *Writer) appendSchema(t *thrift, id int) {
	nodes := 1 + len(w.columns)
	for _, c := range w.columns {
		if c.isList() {
			nodes += 2
		}
	}
	t.list(id, thriftStruct, nodes)
	t.beginElement()
	t.text(4, "schema")
	t.i32(5, len(w.columns))
	t.end()
	for i, c := range w.columns {
		repetition := optional
		if c.required {
			repetition = required
		}
		if c.isList() {
			appendNode(t, node{name: c.name, repetition: repetition, children: 1, id: i + 1, converted: convertedList, logical: func() { emptyMember(t, logicalList) }})
			appendNode(t, node{name: "list", repetition: repeated, children: 1, converted: -1})
			appendNode(t, node{name: "element", repetition: required, physical: physicalBytes, converted: convertedUTF8, logical: func() { emptyMember(t, logicalText) }})
			continue
		}
		n := node{name: c.name, repetition: repetition, physical: c.physical, id: i + 1, converted: -1, column: c.Column}
		n.setLogical(t)
		appendNode(t, n)
	}
}

// node is an element of the schema.
type node struct {
	name       string
	repetition int
	children   int // 0: a leaf
	physical   int // of a leaf
	id         int // 0: none
	converted  int // -1: none
	column     typed.Column
	logical    func() // appends the member of the union; nil: none
}

// setLogical sets the logical type of a leaf.
func (n *node) setLogical(t *thrift) {
	switch c := n.column; c.Kind {
	case typed.Text:
		n.converted, n.logical = convertedUTF8, func() { emptyMember(t, logicalText) }
	case typed.Date:
		n.converted, n.logical = convertedDate, func() { emptyMember(t, logicalDate) }
	case typed.Decimal:
		n.converted, n.logical = convertedDecimal, func() {
			t.begin(logicalDecimal)
			t.i32(1, c.Scale)
			t.i32(2, c.Precision)
			t.end()
		}
	case typed.Time:
		n.logical = func() { appendClock(t, logicalTime, false, c.Nanos) }
	case typed.Timestamp:
		if c.Zoned && !c.Nanos {
			n.converted = convertedTimestamp
		}
		n.logical = func() { appendClock(t, logicalTimestamp, c.Zoned, c.Nanos) }
	}
}

func appendNode(t *thrift, n node) {
	t.beginElement()
	if n.children == 0 {
		t.i32(1, n.physical)
		if n.physical == physicalFixed {
			t.i32(2, fixedDecimal)
		}
	}
	t.i32(3, n.repetition)
	t.text(4, n.name)
	if n.children > 0 {
		t.i32(5, n.children)
	}
	if n.converted >= 0 {
		t.i32(6, n.converted)
	}
	if n.converted == convertedDecimal {
		t.i32(7, n.column.Scale)
		t.i32(8, n.column.Precision)
	}
	if n.id > 0 {
		t.i32(9, n.id)
	}
	if n.logical != nil {
		t.begin(10)
		n.logical()
		t.end()
	}
	t.end()
}

// emptyMember appends a member of a union that has no members itself.
func emptyMember(t *thrift, id int) {
	t.begin(id)
	t.end()
}

// appendClock appends the logical type of a time of day or a datetime.
func appendClock(t *thrift, member int, utc, nanos bool) {
	const micros, nanoseconds = 2, 3
	unit := micros
	if nanos {
		unit = nanoseconds
	}
	t.begin(member)
	t.boolean(1, utc)
	t.begin(2)
	emptyMember(t, unit)
	t.end()
	t.end()
}
