package ingest

import (
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
)

// match returns the column of each field, -1 if there is none. A column of exactly that name takes precedence, then one
// that differs in surrounding blanks, then one that differs in case. If there are as many fields as columns and those that
// were matched are in the same positions, the other fields are matched by position.
func match(src Source, columns []string, keyed bool) (pick []int, notes []string, err error) {
	pick = slices.Repeat([]int{-1}, len(src.Fields))
	taken := make([]bool, len(columns))
	for _, key := range []func(string) string{func(s string) string { return s }, trimName, foldName} {
		position := make(map[string]int, len(columns))
		for i, name := range columns {
			if taken[i] {
				continue
			}
			if _, ambiguous := position[key(name)]; ambiguous {
				i = -1
			}
			position[key(name)] = i
		}
		for k, f := range src.Fields {
			if i, ok := position[key(f.Column())]; ok && pick[k] < 0 {
				pick[k] = i
			}
		}
		for _, i := range pick {
			if i >= 0 {
				taken[i] = true
			}
		}
	}
	byPosition := matchesByPosition(src, columns, pick, keyed)
	for k, f := range src.Fields {
		switch i := pick[k]; {
		case i >= 0 && trimName(columns[i]) != trimName(f.Column()):
			notes = append(notes, fmt.Sprintf("field %q is column %q, which differs in upper and lower case", f.Name, columns[i]))
		case i < 0 && byPosition:
			pick[k], taken[k] = k, true
			if src.Dialect.Header != rows.HeaderNone {
				notes = append(notes, fmt.Sprintf("field %q is column %q by its place, because no column has its name", f.Name, columns[k]))
			}
		}
	}
	unmatched, err := checkUnmatched(src.Fields, columns, pick, taken)
	return pick, append(notes, unmatched...), err
}

// trimName removes from a name what programs leave around it.
func trimName(s string) string { return strings.TrimSpace(strings.TrimPrefix(s, "\uFEFF")) }

func foldName(s string) string { return strings.ToLower(trimName(s)) }

// matchesByPosition reports whether fields without a column of their name are those in the same position. Keyed formats
// have no positions.
func matchesByPosition(src Source, columns []string, pick []int, keyed bool) bool {
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

// checkUnmatched returns notes about fields and columns without a match. It fails if a required field has none, or if no
// field has one, because the schema is then that of another file.
func checkUnmatched(fields []FieldSetting, columns []string, pick []int, taken []bool) (notes []string, err error) {
	if len(columns) == 0 {
		return nil, nil
	}
	none, optional := true, true
	for k, f := range fields {
		none, optional = none && pick[k] < 0, optional && f.Optional
	}
	var absent, hidden []string
	for k, f := range fields {
		if pick[k] >= 0 {
			continue
		}
		if none || !f.Optional {
			return nil, noSuch(fmt.Sprintf("field %q", f.Name), "column", f.Column(), columns)
		}
		absent = append(absent, f.Name)
	}
	for i, name := range columns {
		if !taken[i] {
			hidden = append(hidden, name)
		}
	}
	if len(absent) > 0 {
		notes = append(notes, "no column was found for what the schema describes as "+rows.JoinNames(absent)+"; it is left out"+
			similarColumns(absent, hidden))
	}
	if len(hidden) > 0 && optional { // a schema written for other programs may lack columns by mistake
		notes = append(notes, "not exposed, because the schema does not list it: "+rows.JoinNames(hidden))
	}
	return notes, nil
}

// similarColumns returns a hint for fields without a column whose name is similar to that of a column without a field.
func similarColumns(absent, hidden []string) (hint string) {
	for _, name := range absent {
		if c, ok := text.Closest(name, hidden); ok {
			hint += fmt.Sprintf("; is %q the column %q?", name, c)
		}
	}
	return hint
}

// noSuch returns an error about a setting that names a column or field that does not exist, or is of another kind.
func noSuch(setting, kind, name string, names []string) error {
	name = rows.Clip(name)
	return herb.Invalidf("%s: there is no %s %q%s %ss: %s", setting, kind, name, text.Suggestion(name, names), kind, rows.JoinNames(names))
}
