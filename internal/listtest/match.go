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

// meetsAll reports whether a record meets every condition.
func meetsAll(fields []herb.Field, rec herb.Record, conditions []query.Condition) bool {
	for _, c := range conditions {
		if !meets(fields[c.Field].Type, rec[c.Field], c) {
			return false
		}
	}
	return true
}

// meets reports whether any value of a condition fits, or none for OpNe.
func meets(t herb.Type, value string, c query.Condition) bool {
	for _, v := range c.Values {
		if fits(t, value, c.Op, v.Text) {
			return c.Op != query.OpNe
		}
	}
	return c.Op == query.OpNe
}

// fits compares a record's value with one value of a condition. OpNe is judged as OpEq here.
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
		order := place(t, part).compare(place(t, operand))
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
		panic(fmt.Sprintf("the oracle does not know the operator %q", op))
	})
}

// placed is a value as it stands in the order of its field. It does without the keys of numbers and dates, so that it
// checks them.
type placed struct {
	empty  bool
	number *big.Rat // nil: not a number
	date   time.Time
	text   string
}

// place reads a value of a field. A value that does not fit the type is a fault of the test.
func place(t herb.Type, value string) placed {
	if value == "" {
		return placed{empty: true}
	}
	switch t {
	case herb.TypeNumber:
		n, ok := new(big.Rat).SetString(value)
		if !ok {
			panic(fmt.Sprintf("the oracle was given %q as a number", value))
		}
		return placed{number: n}
	case herb.TypeDate:
		d, err := time.Parse(time.DateOnly, value)
		if err != nil {
			panic(fmt.Sprintf("the oracle was given %q as a date: %v", value, err))
		}
		return placed{date: d}
	default:
		return placed{text: text.CollationKey(value)}
	}
}

// compare compares two values of one field, neither of them empty.
func (p placed) compare(q placed) int {
	if p.number != nil {
		return p.number.Cmp(q.number)
	}
	return cmp.Or(p.date.Compare(q.date), strings.Compare(p.text, q.text))
}

// compareForSort puts empty values last whichever way the order runs.
func compareForSort(p, q placed, desc bool) int {
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

// contains reports whether a record, given as the words of its searchable fields, meets a search.
func contains(fields [][]string, s *query.Search) bool {
	for _, c := range s.Clauses {
		if found := occurrences(fields, c) > 0; found == c.Exclude {
			return false
		}
	}
	return len(s.Clauses) > 0
}

// occurrences counts how often a clause occurs in the fields of a record. Its words must follow each other in one field;
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
