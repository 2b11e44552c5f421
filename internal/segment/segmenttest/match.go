package segmenttest

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Rule: docs/api.md, "Filters".
func meetsAll(fields []herb.Field, rec herb.Record, conditions []query.Condition) bool {
	return !slices.ContainsFunc(conditions,
		func(c query.Condition) bool { return !meets(fields[c.Field], rec[c.Field], c) })
}

// memoizedConditions returns whether a record meets the filters of a request: those of at least one
// field of each group, and all of the fields that are in no group. Records with the same value of a
// field meet a condition alike, so it examines each value once.
//
// Rule: docs/api.md, "Join filters by or".
func memoizedConditions(fields []herb.Field, r *query.Request) func(herb.Record) bool {
	all := make([]func(value string) bool, len(r.Conditions))
	for i, c := range r.Conditions {
		all[i] = memoize(func(value string) bool { return meets(fields[c.Field], value, c) })
	}
	isInGroup := func(field int) bool {
		return slices.ContainsFunc(r.Any, func(group []int) bool { return slices.Contains(group, field) })
	}
	return func(rec herb.Record) bool {
		failed := map[int]bool{} // by field
		for i, c := range r.Conditions {
			if !all[i](rec[c.Field]) {
				if !isInGroup(c.Field) {
					return false
				}
				failed[c.Field] = true
			}
		}
		return !slices.ContainsFunc(r.Any, func(group []int) bool {
			return !slices.ContainsFunc(group, func(field int) bool { return !failed[field] })
		})
	}
}

// memoize returns a function that calls f once for each value.
func memoize[Result any](f func(value string) Result) func(value string) Result {
	results := map[string]Result{}
	return func(value string) Result {
		r, ok := results[value]
		if !ok {
			r = f(value)
			results[value] = r
		}
		return r
	}
}

// meets reports whether any value of a condition matches, or for OpNe and OpINe whether none does.
//
// Rule: docs/api.md, "Filters".
func meets(f herb.Field, value string, c query.Condition) bool {
	matches := slices.ContainsFunc(c.Values, func(v query.Operand) bool {
		if c.Op == query.OpMatch {
			return contains([][]string{searchWords(&f, value)}, v.Search)
		}
		return fits(f, value, c.Op, v.Text)
	})
	return matches != (c.Op == query.OpNe || c.Op == query.OpINe)
}

// fits compares a record's value with one value of a condition. OpNe is treated as OpEq and OpINe
// as OpIEq here.
//
// Rule: docs/api.md, "Filters".
func fits(f herb.Field, value string, op query.Op, operand string) bool {
	if op == query.OpWhole {
		return value == operand
	}
	ignoresCase := op == query.OpIEq || op == query.OpINe
	equality := op == query.OpEq || op == query.OpNe || ignoresCase
	position, missing := missingPosition(f, value)
	operandPosition, ok := missingPosition(f, operand)
	if missing || equality && ok {
		return equality && missing && ok && position == operandPosition
	}
	f.Notation.Missing = nil // the end of a range is a value even if it is also a marker
	return slices.ContainsFunc(parts(f, value), func(part string) bool {
		switch {
		case ignoresCase:
			return slices.Equal(weights(part), weights(operand))
		case equality && !f.Type.IsScalar():
			return part == operand
		case equality && f.Type == herb.TypeDateTime && !strings.Contains(operand, ":"): // a day
			return parseValue(f, part).time.Format(time.DateOnly) == strings.TrimSpace(operand)
		case op == query.OpPrefix && f.Type == herb.TypeDate:
			return strings.HasPrefix(parseValue(f, part).time.Format(time.DateOnly), operand)
		case op == query.OpPrefix && f.Type == herb.TypeDateTime:
			return hasISOPrefix(parseValue(f, part).time, operand)
		case op == query.OpPrefix && f.Type == herb.TypeNumber:
			return strings.HasPrefix(wholePart(parseValue(f, part).number), operand)
		case op == query.OpPrefix && f.Type == herb.TypeTime:
			return hasTimePrefix(parseValue(f, part).number, operand)
		case op == query.OpPrefix:
			all, prefix := weights(part), weights(operand)
			return len(all) >= len(prefix) && slices.Equal(all[:len(prefix)], prefix)
		case op == query.OpContains:
			return containsText(part, operand)
		}
		order := parseValue(f, part).compare(parseValue(f, operand))
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
		panic(fmt.Sprintf("segmenttest: unknown operator %q", op))
	})
}

// wholePart returns the digits of a number before the decimal point, with its sign.
//
// Rule: docs/api.md, "Filters".
func wholePart(n *big.Rat) string {
	digits := new(big.Int).Quo(new(big.Int).Abs(n.Num()), n.Denom()).String()
	if n.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// hasISOPrefix reports whether a datetime can be written so that its text in ISO 8601 begins with a
// prefix. One with a zone is the whole text; any other is compared in UTC.
//
// Rule: docs/api.md, "Dates that start with a text".
func hasISOPrefix(t time.Time, prefix string) bool {
	prefix = strings.ReplaceAll(strings.ToUpper(prefix), ",", ".")
	for _, between := range []string{"T", " "} {
		for _, clock := range []string{"15:04", "15:04:05"} { // the latter also reads fractions
			for _, zone := range []string{"Z07:00", "Z0700", "Z07"} {
				if whole, err := time.Parse(time.DateOnly+between+clock+zone, prefix); err == nil {
					return whole.Equal(t)
				}
			}
		}
		if strings.HasPrefix(t.Format(time.DateOnly+between+"15:04:05.000000000"), prefix) {
			return true
		}
	}
	return false
}

// searchWords returns the words of a value, followed by those of its category label.
//
// Rule: docs/api.md, "Category labels".
func searchWords(f *herb.Field, value string) []string {
	words := text.AppendWords(nil, text.SearchText(f, value))
	_, missing := missingPosition(*f, value)
	for _, c := range f.Categories {
		isEqual := c.Value == value
		if !missing && f.Type.IsScalar() {
			isEqual = parseValue(*f, c.Value).compare(parseValue(*f, value)) == 0
		}
		if isEqual {
			words = text.AppendWords(words, c.Label)
		}
	}
	return words
}

// contains reports whether a record, given as the words of its searchable fields, matches a search.
//
// Rule: docs/api.md, "Search".
func contains(fields [][]string, s *query.Search) bool {
	for _, c := range s.Clauses {
		if found := occurrences(fields, c) > 0; found == c.Exclude {
			return false
		}
	}
	return len(s.Clauses) > 0
}

// occurrences counts the occurrences of a clause in the fields of a record. Its words must be
// adjacent in one field; occurrences may overlap.
//
// Rule: docs/api.md, "Search".
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

// Rule: docs/api.md, "Other forms of words".
func beginsWith(words []string, c query.Clause) bool {
	return beginsWithWords(words, c) || slices.Contains(c.Forms, words[0])
}

// Rule: docs/api.md, "Search".
func beginsWithWords(words []string, c query.Clause) bool {
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
