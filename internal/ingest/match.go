package ingest

import (
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
)

// match finds the column of each field, -1 where there is none. A column that is called exactly so comes first, then one
// that differs in blanks around its name, then one that differs in case. If fields stand in the order of the columns, as
// many of both, and those that were found are in their places, the place tells the column of the others.
func match(src Source, columns []string, keyed bool) (pick []int, notes []string, err error) {
	pick = make([]int, len(src.Fields))
	taken := make([]bool, len(columns))
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for step, key := range []func(string) string{
		func(s string) string { return s }, trimmed, func(s string) string { return strings.ToLower(trimmed(s)) },
	} {
		position := make(map[string]int, len(columns))
		for i, name := range columns {
			if taken[i] {
				continue
			}
			k := key(name)
			if _, twice := position[k]; twice {
				i = -1 // which one is meant cannot be told
			}
			position[k] = i
		}
		for k, f := range src.Fields {
			if step > 0 && pick[k] >= 0 {
				continue
			}
			i, ok := position[key(f.Column())]
			if !ok {
				i = -1
			}
			if pick[k] = i; step == 2 && i >= 0 {
				note("field %q is column %q, which differs in upper and lower case", f.Name, columns[i])
			}
		}
		for _, i := range pick {
			if i >= 0 {
				taken[i] = true
			}
		}
	}
	if byPlace(src, columns, pick, keyed) {
		for k, f := range src.Fields {
			if pick[k] < 0 {
				pick[k] = k
				if src.Dialect.Header != rows.HeaderNone {
					note("field %q is column %q by its place, because no column has its name", f.Name, columns[k])
				}
			}
		}
	}
	return pick, slices.Concat(notes, absent(src, columns, pick), hidden(src, columns, pick)), refuse(src, columns, pick)
}

// trimmed is a name without what programs leave around it.
func trimmed(s string) string { return strings.TrimSpace(strings.TrimPrefix(s, "\uFEFF")) }

// byPlace reports whether fields without a column of their name are those in the same place. Keyed formats have no places.
func byPlace(src Source, columns []string, pick []int, keyed bool) bool {
	unnamed := src.Dialect.Header == rows.HeaderNone
	sameCount := len(src.Fields) == len(columns) || unnamed && len(src.Fields) <= len(columns)
	if !src.ByPosition && !unnamed || !sameCount || keyed {
		return false
	}
	for k, i := range pick {
		if i >= 0 && i != k || src.Fields[k].Column() != src.Fields[k].Name {
			return false
		}
	}
	return true
}

// absent tells of fields that are left out.
func absent(src Source, columns []string, pick []int) []string {
	var names []string
	for k, i := range pick {
		if i < 0 && src.Fields[k].Optional && len(columns) > 0 {
			names = append(names, src.Fields[k].Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"no column was found for what the schema describes as " + enumerate(names) + "; it is left out"}
}

// hidden tells of columns that are not exposed, unless somebody chose the fields for us: schemas that were written for
// other programs may lack columns by mistake.
func hidden(src Source, columns []string, pick []int) []string {
	shown := make([]bool, len(columns))
	for _, i := range pick {
		if i >= 0 {
			shown[i] = true
		}
	}
	var names []string
	for i, name := range columns {
		if !shown[i] {
			names = append(names, name)
		}
	}
	if len(names) == 0 || slices.ContainsFunc(src.Fields, func(f FieldSetting) bool { return !f.Optional }) {
		return nil
	}
	return []string{"not exposed, because the schema does not list it: " + enumerate(names)}
}

// refuse says which field must have a column and has none. If no field has one, the schema is that of another file.
func refuse(src Source, columns []string, pick []int) error {
	if len(columns) == 0 {
		return nil
	}
	none := !slices.ContainsFunc(pick, func(i int) bool { return i >= 0 })
	for k, i := range pick {
		if i < 0 && (none || !src.Fields[k].Optional) {
			return missingColumn(src.Fields[k], columns)
		}
	}
	return nil
}

// enumerate joins names for a message, which ten thousand of them must not blow up.
func enumerate(names []string) string {
	const most = 50
	shown := slices.Clone(names[:min(len(names), most)])
	for i, n := range shown {
		shown[i] = rows.Clip(n)
	}
	if more := len(names) - most; more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}

func missingColumn(s FieldSetting, columns []string) error {
	hint := ";"
	if c, ok := text.Closest(s.Column(), columns); ok {
		hint = fmt.Sprintf("; did you mean %q?", c)
	}
	return herb.Invalidf("field %q: there is no column %q%s columns: %s", s.Name, s.Column(), hint, enumerate(columns))
}
