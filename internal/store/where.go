package store

import (
	"slices"
	"strings"
	"unicode/utf8"

	"herbarium/internal/query"
)

// fragment is an SQL fragment with its parameters.
type fragment struct {
	sql  string
	args []any
}

// Conditions that match all rows and none.
var (
	always = fragment{sql: "1 = 1"}
	never  = fragment{sql: "1 = 0"}
)

// and joins conditions. Without conditions it returns always.
func and(conditions ...fragment) fragment { return join(" AND ", conditions) }

func join(with string, conditions []fragment) fragment {
	var sql []string
	var args []any
	for _, c := range conditions {
		if c.sql == always.sql {
			continue
		}
		sql = append(sql, c.sql)
		args = append(args, c.args...)
	}
	if len(sql) == 0 {
		return always
	}
	return fragment{strings.Join(sql, with), args}
}

// filter translates the conditions of a request.
func filter(conditions []query.Condition) fragment {
	parts := make([]fragment, len(conditions))
	for i, c := range conditions {
		switch c.Field {
		case fieldID:
			parts[i] = idCondition(c)
		case fieldName:
			parts[i] = textCondition("name", c)
		default:
			parts[i] = textCondition("tag", c)
		}
	}
	return and(parts...)
}

// textCondition translates a condition on a text column. The sort key of an empty text is NULL, which no comparison matches.
func textCondition(column string, c query.Condition) fragment {
	// Values are sorted and any of them may match, so the least restrictive bound decides.
	least, most := c.Values[0], c.Values[len(c.Values)-1]
	switch c.Op {
	case query.OpEq:
		return oneOf(column, texts(c.Values))
	case query.OpNe:
		return noneOf(column, texts(c.Values))
	case query.OpGt:
		return fragment{column + "_key > ?", []any{[]byte(least.Key)}}
	case query.OpGte:
		return fragment{column + "_key >= ?", []any{[]byte(least.Key)}}
	case query.OpLt:
		return fragment{column + "_key < ?", []any{[]byte(most.Key)}}
	case query.OpLte:
		return fragment{column + "_key <= ?", []any{[]byte(most.Key)}}
	default: // OpPrefix
		var ranges []fragment
		for _, prefix := range texts(c.Values) {
			ranges = append(ranges, startsWith(column, prefix.(string)))
		}
		if len(ranges) == 0 {
			return never
		}
		either := join(" OR ", ranges)
		return fragment{"(" + either.sql + ")", either.args}
	}
}

// texts returns the operands that a text can equal or begin with. Plants contain no control characters, and PostgreSQL
// rejects NUL.
func texts(values []query.Operand) []any {
	var out []any
	for _, v := range values {
		if !strings.Contains(v.Text, "\x00") {
			out = append(out, v.Text)
		}
	}
	return out
}

func oneOf(column string, values []any) fragment {
	switch len(values) {
	case 0:
		return never
	case 1:
		return fragment{column + " = ?", values}
	default:
		return fragment{column + " IN (" + placeholders(len(values)) + ")", values}
	}
}

func noneOf(column string, values []any) fragment {
	switch len(values) {
	case 0:
		return always
	case 1:
		return fragment{column + " <> ?", values}
	default:
		return fragment{column + " NOT IN (" + placeholders(len(values)) + ")", values}
	}
}

// placeholders returns "?,?,…".
func placeholders(n int) string {
	return strings.TrimSuffix(strings.Repeat("?,", n), ",")
}

// startsWith returns the condition that a text column, compared bytewise, has a non-empty prefix. Unlike LIKE it takes every
// character literally and can always use an index.
func startsWith(column, prefix string) fragment {
	if end, ok := after(prefix); ok {
		return fragment{column + " >= ? AND " + column + " < ?", []any{prefix, end}}
	}
	return fragment{column + " >= ?", []any{prefix}}
}

// after returns the smallest text greater than all texts with the prefix; ok is false if there is none. It increments
// characters, because some databases accept valid UTF-8 only; bytes compare in the same order.
func after(prefix string) (end string, ok bool) {
	runes := []rune(prefix)
	for i, r := range slices.Backward(runes) {
		if r < utf8.MaxRune {
			if r++; r == surrogateMin {
				r = surrogateMax + 1
			}
			runes[i] = r
			return string(runes[:i+1]), true
		}
	}
	return "", false
}

// The surrogate code points, which are not characters.
const (
	surrogateMin = 0xD800
	surrogateMax = 0xDFFF
)
