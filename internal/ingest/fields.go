package ingest

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"herbarium/internal/herb"
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
func expose(src Source, columns []string, profiles []*profile, keyed bool) (exposure, error) {
	e := exposure{warnings: slices.Clone(src.Notes)}
	if len(src.Fields) == 0 {
		for i, name := range columns {
			e.add(FieldSetting{Name: name, From: name}, profiles[i], i)
		}
		return e, nil
	}
	pick, notes, err := match(src, columns, keyed)
	if err != nil {
		return exposure{}, err
	}
	e.warnings = append(e.warnings, notes...)
	for k, s := range src.Fields {
		switch i := pick[k]; {
		case i >= 0:
			e.add(s, profiles[i], i)
		case len(columns) == 0: // no record, so that nothing says what the columns are
			e.add(s, newProfile(), math.MaxInt)
		}
	}
	return e, nil
}

func (e *exposure) add(s FieldSetting, p *profile, column int) {
	inferred, address := p.infer(s.From)
	f := herb.Field{
		Name: s.Name, Type: s.Type, Title: s.Title, Description: s.Description, Filterable: true, Sortable: true, Weight: s.Weight,
	}
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
	if f.Weight > 0 && !f.Searchable {
		e.warnings = append(e.warnings, fmt.Sprintf("field %q has a weight that has no effect, because it is not searchable", f.Name))
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
