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

// columns are the members of the records so far, in order of appearance, and the values of the current record. Two members
// whose paths are displayed in the same way are two columns of the same name.
type columns struct {
	record int            // number of the current record
	index  map[string]int // nodes by path
	bytes  int            // of the paths
	nodes  []node
	list   []rows.Column
	values []value // one per column
}

// node is a member. One whose values are all objects has no column.
type node struct {
	column int // from 1
	record int // in which it occurred last
}

// value is the last value of a column.
type value struct {
	span
	record int   // in which it occurred
	kinds  kinds // of all values of the column
}

// node returns the number of the member at a path, and whether the current record has it already.
func (c *columns) node(path []byte) (n int, repeated bool) {
	n, known := c.index[string(path)]
	if !known {
		n = len(c.nodes)
		c.bytes += len(path)
		c.index[string(path)] = n
		c.nodes = append(c.nodes, node{})
	}
	repeated = c.nodes[n].record == c.record
	c.nodes[n].record = c.record
	return n, repeated
}

// add appends a column.
func (c *columns) add(name string) {
	c.list = append(c.list, rows.Column{Name: name})
	c.values = append(c.values, value{})
}

// set sets the value of a column in the current record.
func (c *columns) set(column int, s span, k kinds) {
	v := &c.values[column]
	v.span, v.record, v.kinds = s, c.record, v.kinds|k
}

// appendCells appends the values of the current record, whose text is rec.
func (c *columns) appendCells(cells [][]byte, rec []byte) [][]byte {
	for _, v := range c.values {
		var cell []byte
		if v.record == c.record {
			cell = rec[v.start:v.end]
		}
		cells = append(cells, cell)
	}
	return cells
}

// declareTypes sets the types of the columns, after the last record. Digits in quotes are declared text if the table has
// numbers or booleans without quotes. Other text declares no type, because JSON has no way to write dates or amounts.
func (c *columns) declareTypes() {
	var all kinds
	for _, v := range c.values {
		all |= v.kinds
	}
	types := map[kinds]herb.Type{kindNumber: herb.TypeNumber, kindBoolean: herb.TypeBoolean, kindList: herb.TypeList}
	if all&(kindNumber|kindBoolean) != 0 {
		types[kindText] = herb.TypeText
	}
	for i, v := range c.values {
		c.list[i].Type = types[v.kinds]
	}
}
