package store

import (
	"math/big"
	"strings"

	"herbarium/internal/query"
)

// IDs are 64-bit integers, but an operand may have any number of digits before and after the decimal point. Operands are
// converted exactly to the nearest integers before they reach the database.

// floorCeil returns the floor and ceiling of a number in plain decimal notation.
func floorCeil(s string) (floor, ceil *big.Int) {
	whole, fraction, _ := strings.Cut(s, ".")
	n, _ := new(big.Int).SetString(whole, 10) // the request was validated: these are digits
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
	switch c.Op {
	case query.OpEq:
		return oneOf("id", integers(c.Values))
	case query.OpNe:
		return noneOf("id", integers(c.Values))
	case query.OpGt:
		floor, _ := floorCeil(c.Values[0].Text) // values are sorted and any of them may match, so the smallest decides
		return idAtLeast(plus(floor, 1))
	case query.OpGte:
		_, ceil := floorCeil(c.Values[0].Text)
		return idAtLeast(ceil)
	case query.OpLt:
		_, ceil := floorCeil(c.Values[len(c.Values)-1].Text)
		return idAtMost(plus(ceil, -1))
	default: // OpLte; the parser rejects prefixes of numbers
		floor, _ := floorCeil(c.Values[len(c.Values)-1].Text)
		return idAtMost(floor)
	}
}

// integers returns the operands that an ID can equal.
func integers(values []query.Operand) []any {
	var ids []any
	for _, v := range values {
		if v.Text == "" { // no id is empty
			continue
		}
		if floor, ceil := floorCeil(v.Text); floor.Cmp(ceil) == 0 && floor.IsInt64() {
			ids = append(ids, floor.Int64())
		}
	}
	return ids
}

func idAtLeast(n *big.Int) fragment {
	switch {
	case n.IsInt64():
		return fragment{"id >= ?", []any{n.Int64()}}
	case n.Sign() < 0:
		return always
	default:
		return never
	}
}

func idAtMost(n *big.Int) fragment {
	switch {
	case n.IsInt64():
		return fragment{"id <= ?", []any{n.Int64()}}
	case n.Sign() < 0:
		return never
	default:
		return always
	}
}
