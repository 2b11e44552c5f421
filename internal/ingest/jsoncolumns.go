package ingest

import (
	"bytes"
)

// pathSeparator stands between the names that lead to a member. No text of JSON has it, because it is not UTF-8, so that
// the member b of a and a member called a.b are told apart.
const pathSeparator = 0xFF

// shownPath is a path as it names a column.
func shownPath(path []byte) string {
	return string(bytes.ReplaceAll(path, []byte{pathSeparator}, []byte(".")))
}

// jsonColumns are the members that the records so far have had, in order of appearance, and the values of the record
// being read. Two members whose paths look alike are two columns of the same name; nameColumns tells them apart.
type jsonColumns struct {
	record int            // number of the record being read, over all files
	index  map[string]int // of the nodes, by path
	bytes  int            // of the paths
	nodes  []jsonNode
	names  []string
	spans  []span // value of each column
	seenIn []int  // the record in which each column was seen last
}

// jsonNode is a member that was seen. One whose values are objects alone has no column.
type jsonNode struct {
	column int // from 1
	seenIn int // the record in which it was seen last
}

func newJSONColumns() *jsonColumns { return &jsonColumns{index: map[string]int{}} }

// node returns the number of the member at a path, and whether the record has had it already.
func (c *jsonColumns) node(path []byte) (n int, repeated bool) {
	n, known := c.index[string(path)]
	if !known {
		n = len(c.nodes)
		c.bytes += len(path)
		c.index[string(path)] = n
		c.nodes = append(c.nodes, jsonNode{})
	}
	repeated = c.nodes[n].seenIn == c.record
	c.nodes[n].seenIn = c.record
	return n, repeated
}

// set gives a member of the record its value. It returns false if that makes too many columns.
func (c *jsonColumns) set(node int, path []byte, s span) bool {
	n := &c.nodes[node]
	if n.column == 0 {
		if len(c.names) == MaxColumns {
			return false
		}
		c.names = append(c.names, shownPath(path))
		c.spans = append(c.spans, span{})
		c.seenIn = append(c.seenIn, 0)
		n.column = len(c.names)
	}
	c.spans[n.column-1], c.seenIn[n.column-1] = s, c.record
	return true
}

// appendCells appends the values of the record, whose text is given.
func (c *jsonColumns) appendCells(cells [][]byte, rec []byte) [][]byte {
	for i, s := range c.spans {
		if c.seenIn[i] != c.record {
			s = span{}
		}
		cells = append(cells, rec[s.start:s.end])
	}
	return cells
}
