package store

import (
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"herbarium/internal/query"
	"herbarium/internal/text"
)

// fragment is an SQL fragment with its parameters.
type fragment struct {
	sql  string
	args []any
}

// prefixed returns the fragment after other SQL.
func (f fragment) prefixed(sql string) fragment { return fragment{sql + f.sql, f.args} }

// suffixed returns the fragment before other SQL with parameters.
func (f fragment) suffixed(sql string, args ...any) fragment {
	return fragment{f.sql + sql, slices.Concat(f.args, args)}
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
	least, most := []byte(c.Values[0].Key), []byte(c.Values[len(c.Values)-1].Key)
	switch c.Op {
	case query.OpEq:
		return oneOf(column, texts(c.Values))
	case query.OpNe:
		return noneOf(column, texts(c.Values))
	case query.OpGt:
		return fragment{column + "_key > ?", []any{least}}
	case query.OpGte:
		return fragment{column + "_key >= ?", []any{least}}
	case query.OpLt:
		return fragment{column + "_key < ?", []any{most}}
	case query.OpLte:
		return fragment{column + "_key <= ?", []any{most}}
	}
	var ranges []fragment // OpPrefix
	for _, v := range c.Values {
		ranges = append(ranges, keyPrefix(column+"_key", v.Key))
	}
	either := join(" OR ", ranges)
	return fragment{"(" + either.sql + ")", either.args}
}

// keyPrefix returns the condition that the sort key in a column has a prefix. Only an empty text has no key.
func keyPrefix(column, prefix string) fragment {
	if end, ok := text.KeyAfterPrefix(prefix); ok {
		return fragment{column + " >= ? AND " + column + " < ?", []any{[]byte(prefix), []byte(end)}}
	}
	return fragment{sql: column + " IS NOT NULL"}
}

// texts returns the operands that a text can equal. Plants contain no control characters, and PostgreSQL
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

// oneOf returns the condition that a column has one of the values.
func oneOf(column string, values []any) fragment {
	switch len(values) {
	case 0:
		return never
	case 1:
		return fragment{column + " = ?", values}
	}
	return fragment{column + " IN (" + strings.TrimSuffix(strings.Repeat("?,", len(values)), ",") + ")", values}
}

// noneOf returns the condition that a column, which is not NULL, has none of the values.
func noneOf(column string, values []any) fragment {
	if len(values) == 0 {
		return always
	}
	f := oneOf(column, values)
	return fragment{"NOT " + f.sql, f.args}
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
		for r++; r <= utf8.MaxRune; r++ {
			if utf8.ValidRune(r) { // a surrogate is not
				runes[i] = r
				return string(runes[:i+1]), true
			}
		}
	}
	return "", false
}

// floorCeil returns the floor and ceiling of a number in plain decimal notation. IDs are 64-bit integers, but an operand
// may have any number of digits before and after the decimal point.
func floorCeil(s string) (floor, ceil *big.Int) {
	integer, fraction, _ := strings.Cut(s, ".")
	n, _ := new(big.Int).SetString(integer, 10) // the request was validated: these are digits
	if strings.Trim(fraction, "0") == "" {
		return n, n
	}
	if strings.HasPrefix(s, "-") {
		return plus(n, -1), n
	}
	return n, plus(n, 1)
}

func plus(n *big.Int, d int64) *big.Int { return new(big.Int).Add(n, big.NewInt(d)) }

// idCondition translates a condition on the id.
func idCondition(c query.Condition) fragment {
	var ids []any
	switch c.Op {
	case query.OpEq, query.OpNe:
		for _, v := range c.Values {
			if v.Text == "" { // no id is empty
				continue
			}
			if floor, ceil := floorCeil(v.Text); floor.Cmp(ceil) == 0 && floor.IsInt64() {
				ids = append(ids, floor.Int64())
			}
		}
		if c.Op == query.OpNe {
			return noneOf("id", ids)
		}
		return oneOf("id", ids)
	case query.OpGt, query.OpGte:
		floor, ceil := floorCeil(c.Values[0].Text) // values are sorted and any of them may match, so the smallest decides
		if c.Op == query.OpGt {
			ceil = plus(floor, 1)
		}
		return idBound("id >= ?", ceil, always, never)
	default: // OpLt, OpLte; the parser rejects prefixes of numbers
		floor, ceil := floorCeil(c.Values[len(c.Values)-1].Text)
		if c.Op == query.OpLt {
			floor = plus(ceil, -1)
		}
		return idBound("id <= ?", floor, never, always)
	}
}

// idBound returns a comparison with n, or below or above if n is less or greater than all IDs.
func idBound(comparison string, n *big.Int, below, above fragment) fragment {
	switch {
	case n.IsInt64():
		return fragment{comparison, []any{n.Int64()}}
	case n.Sign() < 0:
		return below
	default:
		return above
	}
}
