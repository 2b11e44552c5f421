package memory

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// meets reports whether a record's value meets a condition on the field.
func (c *column) meets(record int, cond query.Condition) bool {
	anyFits := slices.ContainsFunc(cond.Values, func(o query.Operand) bool { return c.fits(record, cond.Op, o) })
	if cond.Op == query.OpNe {
		return !anyFits
	}
	return anyFits
}

// fits compares with one operand. For OpNe it tells whether the value equals the operand.
func (c *column) fits(record int, op query.Op, o query.Operand) bool {
	value := c.values[record]
	if value == "" || o.Text == "" {
		return value == o.Text && (op == query.OpEq || op == query.OpNe)
	}
	if c.field.Type == herb.TypeList {
		return slices.ContainsFunc(c.elements[record], func(e string) bool {
			return compare(op, e, func() string { return text.CollationKey(e) }, o)
		})
	}
	if o.Key != "" && (op == query.OpEq || op == query.OpNe) {
		return c.keys[record] == o.Key
	}
	return compare(op, value, func() string { return c.keys[record] }, o)
}

func compare(op query.Op, value string, key func() string, o query.Operand) bool {
	switch op {
	case query.OpPrefix:
		return strings.HasPrefix(value, o.Text)
	case query.OpGt:
		return key() > o.Key
	case query.OpGte:
		return key() >= o.Key
	case query.OpLt:
		return key() < o.Key
	case query.OpLte:
		return key() <= o.Key
	default:
		return value == o.Text
	}
}
