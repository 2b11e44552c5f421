package parquetrows

import (
	"bytes"
	"encoding/json"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// nestedWriter writes the cells of lists, maps and repeated fields.
type nestedWriter struct{ budget *rows.Budget }

// appendCell appends the cell of a nested column from the values of its leaves in one row. A list of scalars is written
// with commas, unless an element is empty or has a comma; everything else is compact JSON. A missing or empty list is an
// empty cell.
func (w nestedWriter) appendCell(b []byte, n *node, leaves [][]value) ([]byte, error) {
	repeated := n
	if !n.repeated {
		repeated = n.children[0]
	}
	if !present(n, leaves) || !present(repeated, leaves) {
		return b, nil
	}
	element := n.scalarElement()
	if element == nil {
		return w.appendJSON(b, n, leaves)
	}
	start := len(b)
	for i, v := range leaves[0] {
		if i > 0 {
			b = append(b, ',')
		}
		from := len(b)
		if !v.isNull() {
			var err error
			if b, err = element.leaf.appendText(b, v); err != nil {
				return b, err
			}
		}
		if len(b) == from || bytes.IndexByte(b[from:], ',') >= 0 {
			n.asJSON = true
			return w.appendJSON(b[:start], n, leaves)
		}
		if err := w.check(b); err != nil {
			return b, err
		}
	}
	return b, nil
}

// check charges the budget for an unfinished row.
func (w nestedWriter) check(b []byte) error {
	if err := w.budget.Step(); err != nil {
		return err
	}
	return w.budget.Record(len(b))
}

// present reports whether a node is present. All leaves below agree, so the first one decides.
func present(n *node, leaves [][]value) bool {
	return int(leaves[0][0].def) >= n.def
}

// appendJSON appends a node as compact JSON.
func (w nestedWriter) appendJSON(b []byte, n *node, leaves [][]value) ([]byte, error) {
	if n.repeated {
		return w.appendArray(b, n, leaves, w.appendOne)
	}
	return w.appendOne(b, n, leaves)
}

// appendOne appends a node, or one of its repetitions.
func (w nestedWriter) appendOne(b []byte, n *node, leaves [][]value) ([]byte, error) {
	if n.optional && !present(n, leaves) {
		return append(b, "null"...), nil
	}
	switch n.shape {
	case shapeLeaf:
		return appendScalar(b, &n.leaf, leaves[0][0])
	case shapeList:
		element := n.element()
		return w.appendArray(b, n.children[0], leaves, func(b []byte, _ *node, leaves [][]value) ([]byte, error) {
			return w.appendOne(b, element, leaves)
		})
	case shapeMap:
		b, err := w.appendRepetitions(append(b, '{'), n.children[0], leaves, w.appendPair)
		return append(b, '}'), err
	}
	b = append(b, '{')
	separate := false
	for _, c := range n.children {
		if c.leaves == 0 {
			continue
		}
		if separate {
			b = append(b, ',')
		}
		separate = true
		b = append(herb.AppendJSONString(b, c.name), ':')
		var err error
		if b, err = w.appendJSON(b, c, leavesOf(c, n, leaves)); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

func (w nestedWriter) appendArray(b []byte, n *node, leaves [][]value, one appendFunc) ([]byte, error) {
	b, err := w.appendRepetitions(append(b, '['), n, leaves, one)
	return append(b, ']'), err
}

// appendPair appends a key and its value.
func (w nestedWriter) appendPair(b []byte, pair *node, leaves [][]value) ([]byte, error) {
	k, v := pair.children[0], pair.children[1]
	key, err := w.appendJSON(nil, k, leavesOf(k, pair, leaves))
	if err != nil {
		return b, err
	}
	if key[0] == '"' {
		b = append(b, key...)
	} else {
		b = herb.AppendJSONString(b, string(key))
	}
	return w.appendJSON(append(b, ':'), v, leavesOf(v, pair, leaves))
}

// leavesOf returns the part of the leaves of a node that belongs to one of its children.
func leavesOf(child, n *node, leaves [][]value) [][]value {
	return leaves[child.first-n.first:][:child.leaves]
}

type appendFunc func(b []byte, n *node, leaves [][]value) ([]byte, error)

// appendRepetitions appends the repetitions of a repeated node, with commas between them.
func (w nestedWriter) appendRepetitions(b []byte, n *node, leaves [][]value, one appendFunc) ([]byte, error) {
	if !present(n, leaves) {
		return b, nil
	}
	rest := append([][]value(nil), leaves...)
	part := make([][]value, len(leaves))
	for more := true; more; {
		for i, values := range rest {
			end := 1
			for end < len(values) && int(values[end].rep) > n.rep {
				end++
			}
			part[i], rest[i] = values[:end], values[end:]
			if left := len(rest[i]) > 0; i == 0 {
				more = left
			} else if more != left {
				return b, errLevels
			}
		}
		var err error
		if b, err = one(b, n, part); err == nil {
			err = w.check(b)
		}
		if err != nil {
			return b, err
		}
		if more {
			b = append(b, ',')
		}
	}
	return b, nil
}

// appendScalar appends a value as JSON: numbers and booleans as they are, everything else in quotes.
func appendScalar(b []byte, l *leafType, v value) ([]byte, error) {
	if v.isNull() {
		return append(b, "null"...), nil
	}
	start := len(b)
	b, err := l.appendText(b, v)
	if err != nil || l.kind == leafBoolean || l.isNumber() && json.Valid(b[start:]) {
		return b, err
	}
	return herb.AppendJSONString(b[:start], string(b[start:])), nil
}
