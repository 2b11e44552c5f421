package ingest

import (
	"bytes"
	"errors"
)

// errLevels says that the values of a nested column do not fit together.
var errLevels = errors.New("the values of a nested column do not fit together")

// appendNested writes the cell of a list, a map or a repeated field from the values of its leaves in one row. What is
// missing and what is empty is an empty cell.
func appendNested(b []byte, n *parquetNode, leaves [][]parquetValue) ([]byte, error) {
	if !present(n, leaves) {
		return b, nil
	}
	repeated, element := n, n
	if !n.repeated {
		repeated, element = n.children[0], n.element()
	}
	if !present(repeated, leaves) {
		return b, nil
	}
	if n.shape == shapeMap && !n.repeated || element.shape != shapeLeaf {
		return appendNestedJSON(b, n, leaves)
	}
	start := len(b)
	for i, v := range leaves[0] {
		from := len(b)
		if i > 0 {
			b = append(b, ',')
			from++
		}
		var err error
		if !v.isNull() {
			if b, err = element.leaf.appendText(b, v); err != nil {
				return b, err
			}
		}
		if !standsInList(b[from:]) {
			return appendNestedJSON(b[:start], n, leaves)
		}
	}
	return b, nil
}

// present reports whether a node is there. Every leaf below tells, so the first is asked.
func present(n *parquetNode, leaves [][]parquetValue) bool {
	return int(leaves[0][0].def) >= n.def
}

// appendNestedJSON writes a node as compact JSON.
func appendNestedJSON(b []byte, n *parquetNode, leaves [][]parquetValue) ([]byte, error) {
	if n.repeated {
		return appendArray(b, n, leaves, appendOne)
	}
	return appendOne(b, n, leaves)
}

// appendOne writes a node, or one of its repetitions.
func appendOne(b []byte, n *parquetNode, leaves [][]parquetValue) ([]byte, error) {
	if n.optional && !present(n, leaves) {
		return append(b, "null"...), nil
	}
	switch n.shape {
	case shapeLeaf:
		return appendScalar(b, &n.leaf, leaves[0][0])
	case shapeList:
		element := n.element()
		return appendArray(b, n.children[0], leaves, func(b []byte, _ *parquetNode, leaves [][]parquetValue) ([]byte, error) {
			return appendOne(b, element, leaves)
		})
	case shapeMap:
		b = append(b, '{')
		b, err := eachRepetition(b, n.children[0], leaves, appendPair)
		return append(b, '}'), err
	}
	b = append(b, '{')
	for i, c := range n.children {
		if c.leaves == 0 {
			continue
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendQuoted(b, []byte(c.name)), ':')
		var err error
		if b, err = appendNestedJSON(b, c, below(c, n, leaves)); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

func appendArray(b []byte, n *parquetNode, leaves [][]parquetValue, one appendFunc) ([]byte, error) {
	b, err := eachRepetition(append(b, '['), n, leaves, one)
	return append(b, ']'), err
}

// appendPair writes a key and its value.
func appendPair(b []byte, pair *parquetNode, leaves [][]parquetValue) ([]byte, error) {
	key, value := pair.children[0], pair.children[1]
	text, err := appendNestedJSON(nil, key, below(key, pair, leaves))
	if err != nil {
		return b, err
	}
	if text[0] == '"' {
		b = append(b, text...)
	} else {
		b = appendQuoted(b, text)
	}
	return appendNestedJSON(append(b, ':'), value, below(value, pair, leaves))
}

// below is the part of the leaves of a node that belongs to one of its children.
func below(child, n *parquetNode, leaves [][]parquetValue) [][]parquetValue {
	return leaves[child.first-n.first:][:child.leaves]
}

type appendFunc func(b []byte, n *parquetNode, leaves [][]parquetValue) ([]byte, error)

// eachRepetition writes the repetitions of a repeated node, with commas between them.
func eachRepetition(b []byte, n *parquetNode, leaves [][]parquetValue, one appendFunc) ([]byte, error) {
	if !present(n, leaves) {
		return b, nil
	}
	rest := append([][]parquetValue(nil), leaves...)
	part := make([][]parquetValue, len(leaves))
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
		if b, err = one(b, n, part); err != nil {
			return b, err
		}
		if more {
			b = append(b, ',')
		}
	}
	return b, nil
}

// appendScalar writes one value as JSON: numbers and booleans as they are, everything else in quotes.
func appendScalar(b []byte, l *parquetLeaf, v parquetValue) ([]byte, error) {
	if v.isNull() {
		return append(b, "null"...), nil
	}
	start := len(b)
	b, err := l.appendText(b, v)
	if err != nil || l.kind == leafBoolean || l.isNumber() && isJSONNumber(b[start:]) {
		return b, err
	}
	text := bytes.Clone(b[start:])
	return appendQuoted(b[:start], text), nil
}

// appendQuoted writes text in quotes, with no more escapes than JSON needs.
func appendQuoted(b, text []byte) []byte {
	b = append(b, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ':
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
