package query

import (
	"fmt"
	"slices"

	"herbarium/internal/herb"
)

// Op is a comparison operator.
type Op string

// Operators of conditions.
const (
	OpEq       Op = "eq"
	OpNe       Op = "ne"
	OpIEq      Op = "ieq"
	OpINe      Op = "ine"
	OpGt       Op = "gt"
	OpGte      Op = "gte"
	OpLt       Op = "lt"
	OpLte      Op = "lte"
	OpPrefix   Op = "prefix"
	OpContains Op = "contains"
	OpMatch    Op = "match"
)

// OpWhole is OpEq for the whole value of a list as written. It is not in query strings; see
// Request.MatchWholeValues.
const OpWhole Op = "whole"

// Operators of the query string only; Parse rewrites them to OpEq and OpNe.
const (
	OpIn    Op = "in"
	OpEmpty Op = "empty"
)

// Ops returns the operators of the query string.
func Ops() []Op {
	return []Op{OpEq, OpNe, OpIEq, OpINe, OpGt, OpGte, OpLt, OpLte, OpIn, OpPrefix, OpContains, OpMatch, OpEmpty}
}

// Describe says which records a filter with the operator on a field finds, for documentation.
func (o Op) Describe(field string) string {
	about := map[Op]string{
		OpEq:       "Records whose %s is this value. If repeated, any of the values.",
		OpNe:       "Records whose %s is not this value. If repeated, none of the values.",
		OpIEq:      "Records whose %s is this value, ignoring case and accents. If repeated, any of the values.",
		OpINe:      "Records whose %s is not this value, ignoring case and accents. If repeated, none of the values.",
		OpGt:       "Records whose %s is greater than this value.",
		OpGte:      "Records whose %s is greater than or equal to this value.",
		OpLt:       "Records whose %s is less than this value.",
		OpLte:      "Records whose %s is less than or equal to this value.",
		OpIn:       "Records whose %s is one of these comma-separated values.",
		OpPrefix:   "Records whose %s begins with this value.",
		OpContains: "Records whose %s contains this text, ignoring case and accents.",
		OpMatch:    "Records whose %s contains these words, in the syntax of search.",
		OpEmpty:    "true: records whose %s is missing; false: those with a value.",
	}
	return fmt.Sprintf(about[o], field)
}

// FieldOps returns the operators of the query string that a field has.
func FieldOps(f herb.Field) []Op {
	return slices.DeleteFunc(Ops(), func(o Op) bool {
		if o == OpMatch {
			return !f.Searchable
		}
		return !f.Filterable || !o.appliesTo(f.Type)
	})
}

// appliesTo reports whether an operator compares values of a type.
func (o Op) appliesTo(t herb.Type) bool {
	switch o {
	case OpPrefix:
		return t != herb.TypeBoolean && t != herb.TypeDuration
	case OpContains, OpIEq, OpINe:
		return !t.IsScalar()
	}
	return true
}

// RangeOps returns the operators that bound a range of values.
func RangeOps() []Op {
	return slices.DeleteFunc(Ops(), func(o Op) bool { return !o.IsLower() && !o.IsUpper() })
}

// IsLower reports whether an operator bounds a range from below.
func (o Op) IsLower() bool { return o == OpGt || o == OpGte }

// IsUpper reports whether an operator bounds a range from above.
func (o Op) IsUpper() bool { return o == OpLt || o == OpLte }

// AcceptsEmpty reports whether an operator accepts an empty value.
func (o Op) AcceptsEmpty() bool { return o == OpIn || o.IsEquality() }

// IsEquality reports whether an operator compares values for equality, including missing ones.
func (o Op) IsEquality() bool { return o == OpEq || o == OpNe || o == OpWhole || o.IgnoresCase() }

// IgnoresCase reports whether an operator compares values for equality by their primary keys.
func (o Op) IgnoresCase() bool { return o == OpIEq || o == OpINe }

// Excludes reports whether a condition with the operator holds if none of its values matches.
func (o Op) Excludes() bool { return o == OpNe || o == OpINe }

func opNames(ops []Op) []string {
	names := make([]string, len(ops))
	for i, o := range ops {
		names[i] = string(o)
	}
	return names
}
