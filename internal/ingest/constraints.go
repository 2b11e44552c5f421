package ingest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/pattern"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/value"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// checkConstraints reads the rows again and fails if values violate the constraints of their
// fields. The error names the first ones. Values compare as in listings, so the types must be
// known.
func (v *view) checkConstraints(ctx context.Context, p *pass, fields []herb.Field) error {
	var checks []*fieldCheck
	budget := pattern.NewBudget()
	instructions := 0
	for i, f := range v.fields {
		c, err := v.newFieldCheck(f, &fields[i], &budget)
		if err == nil && c.pattern != nil {
			instructions += c.pattern.Size()
			if instructions > pattern.MaxInstructions {
				err = herb.Invalidf("the patterns of the schema compile to more than %s instructions; write fewer or "+
					"shorter ones", herb.Count(pattern.MaxInstructions))
			}
		}
		if err != nil {
			return herb.AtField(f.Name, err)
		}
		if len(c.conditions) > 0 {
			checks = append(checks, c)
		}
	}
	if len(checks) == 0 {
		return nil
	}
	var violations []string
	var row [][]byte
	for stored, err := range p.spill.rows(ctx, nil) {
		if err != nil {
			return err
		}
		narrowed, ok := v.narrow(row[:0], stored.cells)
		if !ok {
			continue
		}
		if v.missing != nil {
			row = narrowed
		}
		for _, c := range checks {
			var value string
			if c.column < len(narrowed) {
				value = string(narrowed[c.column])
			}
			broken := c.check(value)
			if budget.Exceeded() {
				return herb.AtField(c.field.Name, pattern.ErrSteps(c.expression))
			}
			if broken != "" {
				violations = append(violations,
					fmt.Sprintf("%s: field %q %s", p.locate(stored), rows.Clip(c.field.Name), broken))
			}
		}
		if len(violations) >= value.MaxMisfits {
			violations = append(violations[:value.MaxMisfits], "and perhaps more")
			break
		}
	}
	if len(violations) == 0 {
		return nil
	}
	return herb.Invalidf("values violate the constraints of the schema: %s; correct the values or the constraints",
		strings.Join(violations, "; "))
}

// fieldCheck checks the values of a field.
type fieldCheck struct {
	field      *herb.Field
	column     int
	conditions []func(value string) (broken string)
	required   bool
	pattern    *pattern.Pattern // nil: none
	expression string           // of the pattern
}

// check returns what is wrong with a value; empty if nothing is.
func (c *fieldCheck) check(value string) string {
	if text.MissingPosition(c.field, value) >= 0 {
		if c.required {
			return "is required and has no value"
		}
		return ""
	}
	for _, condition := range c.conditions {
		if broken := condition(value); broken != "" {
			return fmt.Sprintf("is %q, %s", rows.Clip(value), broken)
		}
	}
	return ""
}

// newFieldCheck compiles the constraints of a field. The budget is for all patterns.
func (v *view) newFieldCheck(f exposedField, field *herb.Field, budget *pattern.Budget) (*fieldCheck, error) {
	set := f.Constraints
	c := &fieldCheck{field: field, column: f.column, required: set.Required}
	add := func(condition func(string) string) { c.conditions = append(c.conditions, condition) }
	if set.Required {
		add(func(string) string { return "" })
	}
	for _, bound := range []struct {
		name, value string
		is          func(order int) bool
		broken      string
	}{
		{"minimum", set.Minimum, func(order int) bool { return order >= 0 }, "less than the minimum"},
		{"maximum", set.Maximum, func(order int) bool { return order <= 0 }, "more than the maximum"},
		{"exclusiveMinimum", set.ExclusiveMinimum, func(order int) bool { return order > 0 },
			"not more than the exclusive minimum"},
		{"exclusiveMaximum", set.ExclusiveMaximum, func(order int) bool { return order < 0 },
			"not less than the exclusive maximum"},
	} {
		if bound.value == "" {
			continue
		}
		if !field.Type.IsScalar() {
			v.notes = append(v.notes,
				fmt.Sprintf("field %q: the constraint %s is not checked, because the values compare as %s", field.Name,
					bound.name, field.Type))
			continue
		}
		value, shown := bound.value, bound.value
		resolved, moves, err := query.ResolveBound(field.Type, value, time.Now())
		if err != nil {
			return nil, herb.Invalidf("the constraint %s: %s", bound.name, herb.MessageOf(err))
		}
		if moves {
			value, shown = resolved, value+", "+resolved
		}
		limit, err := boundKey(field, "constraint "+bound.name, value)
		if err != nil {
			return nil, err
		}
		add(func(value string) string {
			if key, status := text.FieldKey(field, value); status == text.Valid && bound.is(cmp.Compare(key, limit)) {
				return ""
			}
			return bound.broken + " " + shown
		})
	}
	if set.MinLength > 0 || set.MaxLength != nil {
		add(func(value string) string { return lengthProblem(field, set, value) })
	}
	if set.Pattern != "" {
		compiled, err := pattern.Compile(set.Pattern)
		if err != nil {
			return nil, herb.Invalidf("the pattern %v", err)
		}
		c.pattern, c.expression = compiled, set.Pattern
		add(func(value string) string {
			if compiled.Match(value, budget) {
				return ""
			}
			return fmt.Sprintf("which does not match the pattern %q", rows.Clip(set.Pattern))
		})
	}
	allowed, err := valueSet(field, "constraint enum", set.Enum)
	if err != nil {
		return nil, err
	}
	if allowed != nil {
		add(func(value string) string {
			if allowed[text.CategoryKey(field, value)] {
				return ""
			}
			return "which is none of " + rows.JoinNames(set.Enum)
		})
	}
	return c, c.addCategories(f, add)
}

// addCategories adds the condition that a value is one of the categories.
func (c *fieldCheck) addCategories(f exposedField, add func(func(value string) string)) error {
	values := make([]string, len(f.Categories))
	for i := range values {
		values[i] = f.Categories[i].Value
	}
	known, err := valueSet(c.field, "category", values)
	if err != nil || known == nil {
		return err
	}
	if len(known) < len(values) {
		return herb.Invalidf("two of its categories are the same number, such as 1 and 1.0; list each value once")
	}
	for _, value := range f.Constraints.Enum {
		if !known[text.CategoryKey(c.field, value)] {
			return herb.Invalidf("the constraint enum has %q, which is none of the categories; remove it, or list it in "+
				"categories", rows.Clip(value))
		}
	}
	add(func(value string) string {
		if known[text.CategoryKey(c.field, value)] {
			return ""
		}
		return "which is none of the categories " + rows.JoinNames(values)
	})
	return nil
}

// boundKey returns the key of a value in a descriptor, such as a bound.
func boundKey(f *herb.Field, name, value string) (string, error) {
	key, ok := text.DeclaredKey(f, value)
	if !ok {
		return "", herb.Invalidf("the %s is %q, which is not a %s; write it %s", name, rows.Clip(value),
			f.Type, text.Example(f))
	}
	return key, nil
}

// lengthProblem returns what is wrong with the length of a value: characters, or elements of a
// list.
func lengthProblem(f *herb.Field, set descriptor.Constraints, value string) string {
	n, unit := utf8.RuneCountInString(value), "characters"
	if f.Type == herb.TypeList {
		n, unit = len(text.Elements(f, value)), "elements"
	}
	switch {
	case n < set.MinLength:
		return fmt.Sprintf("which has %d %s; the minimum is %d", n, unit, set.MinLength)
	case set.MaxLength != nil && n > *set.MaxLength:
		return fmt.Sprintf("which has %d %s; the maximum is %d", n, unit, *set.MaxLength)
	}
	return ""
}

// valueSet returns the values of a list in a descriptor by text.CategoryKey; nil if it is empty.
func valueSet(f *herb.Field, name string, values []string) (map[string]bool, error) {
	if len(values) == 0 {
		return nil, nil
	}
	keys := make(map[string]bool, len(values))
	for _, value := range values {
		key, err := boundKey(f, name, value)
		if err != nil {
			return nil, err
		}
		keys[key] = true
	}
	return keys, nil
}
