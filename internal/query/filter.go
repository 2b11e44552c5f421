package query

import (
	"cmp"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Condition is a constraint on the value of a field. The package comment describes how its values
// combine.
type Condition struct {
	Field  int // position of the field
	Op     Op
	Values []Operand // at least one; sorted, without duplicates
}

// Operand is one value of a condition.
type Operand struct {
	// Text is the value; for scalar types its canonical form as text.Localize writes it, or a
	// marker of missing values. For OpPrefix and OpContains it is the value as given.
	Text string
	// Key is the sort key of the value; for OpPrefix the beginning of the sort keys that match, for
	// OpIEq and OpINe their primary key and for OpContains a part of it, which may be empty. It is
	// empty for exact equality of texts and list elements, and for missing values.
	Key string
	// Day means equality with a day, for datetimes: Key is the beginning of their sort keys.
	Day bool
	// Search is the parsed value of OpMatch; Text is its canonical form. It is nil for other
	// operators.
	Search *Search
}

// filterParser collects the conditions of a request.
type filterParser struct {
	fields []herb.Field
	kind   Kind // of the request
	groups []Condition
	values int
	words  int   // of the search and of OpMatch
	exact  bool  // no other forms of words are searched
	empty  []int // fields for which [empty] is given
	moving *movingDates
}

func (fp *filterParser) add(p Param) error {
	inFilter := p.Name == ParamFilter
	if inFilter {
		if p.Value == "" {
			return nil
		}
		expanded, ok := ExpandFilter(p.Value, fp.fields)
		if !ok {
			return herb.Invalidf("%s is %q; write field=value or field[operator]=value", ParamFilter, clip(p.Value))
		}
		p = expanded
	}
	field, op, err := fp.resolve(p.Name, inFilter)
	if err != nil {
		return err
	}
	values := []string{p.Value}
	switch op {
	case OpIn:
		op, values = OpEq, strings.Split(p.Value, ",")
	case OpEmpty:
		if slices.Contains(fp.empty, field) {
			return givenTwice(p.Name)
		}
		fp.empty = append(fp.empty, field)
		if err := checkChoice(p, "true", "false"); err != nil {
			return err
		}
		op = OpEq
		if p.Value == "false" {
			op = OpNe
		}
		values = append([]string{""}, fp.fields[field].Notation.Missing...)
	case OpMatch:
		if strings.TrimSpace(p.Value) == "" {
			return nil // as a blank search
		}
	}
	fp.values += len(values)
	if fp.values > MaxFilterValues {
		return herb.Invalidf("the filters have more than %d values; give at most %d", MaxFilterValues, MaxFilterValues)
	}
	i := slices.IndexFunc(fp.groups, func(c Condition) bool { return c.Field == field && c.Op == op })
	if i < 0 {
		i = len(fp.groups)
		fp.groups = append(fp.groups, Condition{Field: field, Op: op})
	}
	for _, v := range values {
		o, err := fp.operand(fp.fields[field], op, v)
		if err != nil {
			return err
		}
		fp.groups[i].Values = append(fp.groups[i].Values, o)
	}
	return nil
}

// resolve returns the field and the operator of a parameter, or of a value of ParamFilter, which
// can only be a filter.
func (fp *filterParser) resolve(param string, inFilter bool) (field int, op Op, err error) {
	if field, op, ok := resolveFilter(param, fp.fields); ok {
		use := fieldUse{allows: isFilterable, disallowed: "is not filterable", choices: "filterable fields"}
		if op == OpMatch {
			use = fieldUse{allows: isSearchable, disallowed: "is not searchable", choices: "searchable fields"}
		}
		_, err := resolveField(fp.fields, fp.fields[field].Name, use)
		return field, op, err
	}
	name, written := splitOperator(param)
	if i := herb.FieldIndex(fp.fields, name); i >= 0 && !slices.Contains(Ops(), written) {
		return 0, "", herb.Invalidf("unknown operator %q in %q%s valid operators: %s", clip(string(written)),
			clip(param),
			suggestion(clip(string(written)), opNames(FieldOps(fp.fields[i]))), strings.Join(opNames(Ops()), ", "))
	}
	choices := fieldNames(fp.fields, isFilterable)
	if inFilter {
		return 0, "", herb.Invalidf("unknown field %q in %q%s filterable fields: %s", clip(name), ParamFilter,
			text.Suggestion(clip(name), choices), joinNames(choices))
	}
	reserved := fp.kind.Parameters()
	return 0, "", herb.Invalidf("unknown parameter %q%s valid parameters: %s; filterable fields: %s", clip(param),
		suggestion(clip(name), slices.Concat(reserved, choices)), strings.Join(reserved, ", "), joinNames(choices))
}

func isSearchable(f herb.Field) bool { return f.Searchable }

// search parses a full-text query: that of ParamSearch, or of OpMatch.
func (fp *filterParser) search(value string) (*Search, error) {
	s, words := parseSearch(value, fp.exact)
	fp.words += words
	if fp.words > MaxSearchWords {
		return nil, herb.Invalidf("the search has more than %d words, including those of [match]; give at most %d",
			MaxSearchWords, MaxSearchWords)
	}
	return s, nil
}

// operand validates a value for the operator and the type of the field.
func (fp *filterParser) operand(f herb.Field, op Op, value string) (Operand, error) {
	if op == OpMatch {
		s, err := fp.search(value)
		if err != nil {
			return Operand{}, err
		}
		return Operand{Text: s.String(), Search: s}, nil
	}
	o := Operand{Text: value}
	equality := op.IsEquality()
	switch {
	case value == "" && !equality:
		return o, herb.Invalidf("%s[%s] needs a value; use %s[empty]=true to find empty values", f.Name, op, f.Name)
	case !op.appliesTo(f.Type):
		remedy := "gte and lt for a range"
		if op.IgnoresCase() {
			remedy = "eq or ne"
		}
		return o, herb.Invalidf("%s[%s] does not apply: %q is a %s field; use %s", f.Name, op, f.Name, f.Type, remedy)
	case op == OpPrefix && f.Type == herb.TypeNumber:
		if !text.IsNumberPrefix(value) {
			return o, herb.Invalidf(
				"%s is a number field and numbers cannot begin with %q; give their first digits, such as %s[%s]=12",
				f.Name, clip(value), f.Name, op)
		}
		return o, nil
	case op == OpPrefix && (f.Type == herb.TypeDate || f.Type == herb.TypeDateTime) && IsMoving(value):
		return o, herb.Invalidf("%s[%s] compares texts, and %q moves with time; use gte and lt for a range", f.Name, op,
			clip(value))
	case op == OpPrefix:
		o.Key = text.PrefixKey(f.Type, value)
		return o, nil
	case op == OpContains:
		o.Key = text.PrimaryKey(value)
		return o, nil
	case op.IgnoresCase():
		o.Key = text.PrimaryKey(value)
		return o, nil
	case value == "", equality && !f.Type.IsScalar():
		return o, nil
	}
	parse := text.Bound
	if equality {
		parse = text.Operand
	}
	canonical, status := parse(&f, value)
	switch {
	case status == text.Valid:
		o = newOperand(&f, canonical)
		if day := strings.TrimSpace(value); equality && f.Type == herb.TypeDateTime && text.IsDate(day) {
			o = Operand{Text: day, Key: text.PrefixKey(f.Type, day), Day: true}
		}
	case status == text.Missing && equality:
		o.Text = strings.TrimSpace(value)
	case (f.Type == herb.TypeDate || f.Type == herb.TypeDateTime) && IsMoving(value):
		return fp.moving.operand(&f, op, value)
	default:
		return o, herb.Invalidf("%s is a %s field and %q is not a %s; write it %s", f.Name, f.Type, clip(value), f.Type,
			text.Example(&f))
	}
	return o, nil
}

// newOperand returns the operand for a scalar value in canonical form.
func newOperand(f *herb.Field, canonical string) Operand {
	key, _ := text.Key(f.Type, canonical)
	return Operand{Text: text.Localize(f, canonical), Key: key}
}

// conditions returns the collected conditions, sorted by field and operator.
func (fp *filterParser) conditions() []Condition {
	opIndex := func(o Op) int { return slices.Index(Ops(), o) }
	slices.SortFunc(fp.groups, func(a, b Condition) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(opIndex(a.Op), opIndex(b.Op)))
	})
	for i := range fp.groups {
		c := &fp.groups[i]
		slices.SortFunc(c.Values, func(a, b Operand) int {
			return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Text, b.Text))
		})
		c.Values = slices.CompactFunc(c.Values, func(a, b Operand) bool {
			return a.Text == b.Text || a.Key != "" && a.Key == b.Key
		})
	}
	return fp.groups
}
