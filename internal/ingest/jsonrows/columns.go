package jsonrows

import (
	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// kinds is a set of kinds of JSON values. null has none.
type kinds uint8

const (
	kindText kinds = 1 << iota
	kindWord       // text that is not just digits
	kindNumber
	kindBoolean
	kindList // an array that was written as a list
	kindJSON // another array or object
)

// member is a member of the records. One whose values are all objects has no column.
type member struct {
	column int   // from 1
	record int   // in which it occurred last
	value  span  // in that record
	kinds  kinds // of all its values
}

// enterMember returns the number of the member at r.path, which must not have occurred in the current record. Two members
// whose paths are displayed in the same way are two columns of the same name.
func (r *reader) enterMember() int {
	n, known := r.index[string(r.path)]
	if !known {
		n = r.addMember()
		r.index[string(r.path)] = n
		r.nameBytes += len(r.path)
	}
	switch {
	case r.members[n].record == r.record:
		r.fail("the member %q occurs twice; give each member once", r.memberName())
	case len(r.path) > rows.MaxName:
		r.fail("the name of the member %q has %d bytes; at most %d are possible", r.memberName(), len(r.path), rows.MaxName)
	case r.nameBytes > rows.MaxNames:
		r.fail("the names of the members of all records have more than %d bytes, the maximum", rows.MaxNames)
	}
	r.set(n, span{}, 0)
	return n
}

func (r *reader) addMember() int {
	r.members = append(r.members, member{})
	return len(r.members) - 1
}

// addColumn adds a column for a member.
func (r *reader) addColumn(n int, name string) {
	r.columns = append(r.columns, rows.Column{Name: name})
	r.cells = append(r.cells, nil)
	r.members[n].column = len(r.columns)
	if err := r.budget.Columns(len(r.columns)); err != nil {
		r.fail("%s; the member %q is one too many", err, name)
	}
}

// set sets the value of a member in the current record.
func (r *reader) set(n int, s span, k kinds) {
	m := &r.members[n]
	m.record, m.value, m.kinds = r.record, s, m.kinds|k
}

// row returns the values of the current record.
func (r *reader) row() [][]byte {
	for _, m := range r.members {
		if m.column == 0 {
			continue
		}
		cell := &r.cells[m.column-1]
		if *cell = nil; m.record == r.record {
			*cell = r.bytes(m.value)
		}
	}
	return r.cells
}

// declareTypes sets the types of the columns, after the last record. Digits in quotes are declared text if the table has
// numbers or booleans without quotes. Other text declares no type, because JSON has no way to write dates or amounts.
func (r *reader) declareTypes() {
	var all kinds
	for _, m := range r.members {
		all |= m.kinds
	}
	types := map[kinds]herb.Type{kindNumber: herb.TypeNumber, kindBoolean: herb.TypeBoolean, kindList: herb.TypeList}
	if all&(kindNumber|kindBoolean) != 0 {
		types[kindText] = herb.TypeText
	}
	for _, m := range r.members {
		if m.column > 0 {
			r.columns[m.column-1].Type = types[m.kinds]
		}
	}
}
