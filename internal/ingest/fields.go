package ingest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// nameColumns gives every column a name of its own: column_3 where the third has none, name_2, name_3 … where a name is
// repeated. A name that a column has from the file is never given to another.
func nameColumns(names []string) []string {
	used := make(map[string]bool, len(names)) // by the file, or given here
	for _, n := range names {
		used[n] = true
	}
	out := make([]string, len(names))
	kept := make(map[string]bool, len(names)) // names from the file that their first column has got
	count := map[string]int{}                 // where the numbering of a repeated name has got to
	for i, name := range names {
		if name != "" && !kept[name] {
			kept[name] = true
			out[i] = name
			continue
		}
		base := name
		if base == "" {
			base = "column_" + strconv.Itoa(i+1)
			if !used[base] {
				used[base] = true
				out[i] = base
				continue
			}
		}
		n := max(count[base]+1, 2)
		for used[base+"_"+strconv.Itoa(n)] {
			n++
		}
		count[base] = n
		out[i] = base + "_" + strconv.Itoa(n)
		used[out[i]] = true
	}
	return out
}

// exposure is how the columns of a file become the fields of a dataset.
type exposure struct {
	fields   []herb.Field
	pick     []int // the column of each field
	warnings []string
}

// expose decides which columns are exposed and how their values compare.
func expose(src Source, columns []string, profiles []*profile) (exposure, error) {
	var e exposure
	if len(src.Fields) == 0 {
		for i, name := range columns {
			e.add(FieldSetting{Name: name, From: name}, profiles[i], i)
		}
		return e, nil
	}
	position := make(map[string]int, len(columns))
	for i, name := range columns {
		position[name] = i
	}
	for _, s := range src.Fields {
		i, ok := position[s.From]
		switch {
		case ok:
			e.add(s, profiles[i], i)
		case len(columns) == 0: // no record, so that nothing says what the columns are
			e.add(s, newProfile(), math.MaxInt)
		default:
			return exposure{}, missingColumn(s, columns)
		}
	}
	return e, nil
}

func (e *exposure) add(s FieldSetting, p *profile, column int) {
	inferred, address := p.infer(s.From)
	f := herb.Field{Name: s.Name, Type: s.Type, Title: s.Title, Description: s.Description, Filterable: true, Sortable: true}
	switch {
	case s.Type == "":
		f.Type = inferred
	case s.Type == herb.TypeNumber && p.notNumber != nil:
		f.Type = e.fallBack(s, *p.notNumber, "plain decimal notation such as -3, 25 or 12.50")
	case s.Type == herb.TypeDate && p.notDate != nil:
		f.Type = e.fallBack(s, *p.notDate, "a date such as 2024-02-29")
	}
	f.Searchable = f.Type == herb.TypeList || f.Type == herb.TypeText && !address
	for _, flag := range []struct{ to, from *bool }{
		{&f.Searchable, s.Searchable}, {&f.Filterable, s.Filterable}, {&f.Sortable, s.Sortable},
	} {
		if flag.from != nil {
			*flag.to = *flag.from
		}
	}
	e.fields = append(e.fields, f)
	e.pick = append(e.pick, column)
}

// fallBack keeps the reason why a field is text although another type was asked for.
func (e *exposure) fallBack(s FieldSetting, m misfit, right string) herb.Type {
	e.warnings = append(e.warnings, fmt.Sprintf("field %q is published as text, not as %s: %q (%s) is not %s",
		s.Name, s.Type, m.value, m.where, right))
	return herb.TypeText
}

func missingColumn(s FieldSetting, columns []string) error {
	hint := ";"
	if c, ok := text.Closest(s.From, columns); ok {
		hint = fmt.Sprintf("; did you mean %q?", c)
	}
	const most = 50
	names := slices.Clone(columns[:min(len(columns), most)])
	if more := len(columns) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return herb.Invalidf("field %q: there is no column %q%s columns: %s", s.Name, s.From, hint, strings.Join(names, ", "))
}
