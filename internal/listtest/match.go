package listtest

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// meetsAll reports whether a record meets all conditions.
func meetsAll(fields []herb.Field, rec herb.Record, conditions []query.Condition) bool {
	for _, c := range conditions {
		if !meets(fields[c.Field].Type, rec[c.Field], c) {
			return false
		}
	}
	return true
}

// meets reports whether any value of a condition matches, or for OpNe whether none does.
func meets(t herb.Type, value string, c query.Condition) bool {
	for _, v := range c.Values {
		if fits(t, value, c.Op, v.Text) {
			return c.Op != query.OpNe
		}
	}
	return c.Op == query.OpNe
}

// fits compares a record's value with one value of a condition. OpNe is treated as OpEq here.
func fits(t herb.Type, value string, op query.Op, operand string) bool {
	equality := op == query.OpEq || op == query.OpNe
	if value == "" || operand == "" {
		return equality && value == operand
	}
	parts := []string{value}
	if t == herb.TypeList {
		parts = text.Elements(value)
	}
	return slices.ContainsFunc(parts, func(part string) bool {
		switch {
		case equality && (t == herb.TypeText || t == herb.TypeList):
			return part == operand
		case op == query.OpPrefix:
			return strings.HasPrefix(part, operand)
		}
		order := parseValue(t, part).compare(parseValue(t, operand))
		switch op {
		case query.OpEq, query.OpNe:
			return order == 0
		case query.OpGt:
			return order > 0
		case query.OpGte:
			return order >= 0
		case query.OpLt:
			return order < 0
		case query.OpLte:
			return order <= 0
		}
		panic(fmt.Sprintf("listtest: unknown operator %q", op))
	})
}

// parsedValue is a parsed value that can be compared with others of its field. It does not use the sort keys of numbers
// and dates, so that it checks them.
type parsedValue struct {
	empty  bool
	number *big.Rat // nil if not a number
	date   time.Time
	text   string
}

// parseValue parses a value of a field. It panics on a value that is not valid for the type, which is an error in the
// test.
func parseValue(t herb.Type, value string) parsedValue {
	if value == "" {
		return parsedValue{empty: true}
	}
	switch t {
	case herb.TypeNumber:
		n, ok := new(big.Rat).SetString(value)
		if !ok {
			panic(fmt.Sprintf("listtest: %q is not a number", value))
		}
		return parsedValue{number: n}
	case herb.TypeDate:
		d, err := time.Parse(time.DateOnly, value)
		if err != nil {
			panic(fmt.Sprintf("listtest: %q is not a date: %v", value, err))
		}
		return parsedValue{date: d}
	default:
		return parsedValue{text: text.CollationKey(value)}
	}
}

// compare compares two non-empty values of one field.
func (p parsedValue) compare(q parsedValue) int {
	if p.number != nil {
		return p.number.Cmp(q.number)
	}
	return cmp.Or(p.date.Compare(q.date), strings.Compare(p.text, q.text))
}

// compareForSort compares two values of one field, either of which may be empty. Empty values sort last in both
// directions.
func compareForSort(p, q parsedValue, desc bool) int {
	switch {
	case p.empty && q.empty:
		return 0
	case p.empty:
		return 1
	case q.empty:
		return -1
	case desc:
		return q.compare(p)
	default:
		return p.compare(q)
	}
}

// contains reports whether a record, given as the words of its searchable fields, matches a search.
func contains(fields [][]string, s *query.Search) bool {
	for _, c := range s.Clauses {
		if found := occurrences(fields, c) > 0; found == c.Exclude {
			return false
		}
	}
	return len(s.Clauses) > 0
}

// occurrences counts the occurrences of a clause in the fields of a record. Its words must be adjacent in one field;
// occurrences may overlap.
func occurrences(fields [][]string, c query.Clause) int {
	n := 0
	for _, words := range fields {
		for start := range words {
			if beginsWith(words[start:], c) {
				n++
			}
		}
	}
	return n
}

func beginsWith(words []string, c query.Clause) bool {
	if len(words) < len(c.Words) {
		return false
	}
	for i, want := range c.Words {
		last := i == len(c.Words)-1
		if words[i] != want && !(last && c.Prefix && strings.HasPrefix(words[i], want)) {
			return false
		}
	}
	return true
}
