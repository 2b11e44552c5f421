package ingest

import (
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
)

func columnNames(columns []rows.Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// compareColumns fails if the columns of a part are not those of the first file. Columns without a
// name at the end are not compared: they come from rows that are wider than the header.
func (p *pass) compareColumns(columns []rows.Column) error {
	got, want, first := trimUnnamed(columnNames(columns)), trimUnnamed(columnNames(p.columns)), p.src.Name(0)
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return herb.Invalidf("column %d is %q, and %q in %s; all parts must have the same columns in the same order", i+1,
				rows.Clip(got[i]), rows.Clip(want[i]), first)
		}
	}
	if len(got) != len(want) {
		return herb.Invalidf("the file has %d columns, and %s has %d; all parts must have the same columns in the "+
			"same order", len(got),
			first, len(want))
	}
	return nil
}

// trimUnnamed returns names without the empty ones at the end.
func trimUnnamed(names []string) []string {
	for len(names) > 0 && names[len(names)-1] == "" {
		names = names[:len(names)-1]
	}
	return names
}

// align assigns positions to the columns of the current file that are new since the last call.
func (p *pass) align(columns []rows.Column) error {
	for k := len(p.index); k < len(columns); k++ {
		name, at := columns[k].Name, k
		if p.format.Keyed {
			at = len(p.columns)
			if nth := p.occurrences[name]; nth < len(p.known[name]) {
				at = p.known[name][nth]
			}
			p.occurrences[name]++
		}
		if at == len(p.columns) {
			p.columns = append(p.columns, columns[k])
			p.raw = append(p.raw, herb.ColumnCells{})
			p.known[name] = append(p.known[name], at)
		}
		p.index = append(p.index, at)
	}
	if len(p.columns) > rows.MaxColumns {
		return herb.Invalidf("the files have more than %d columns together; at most %d are possible", rows.MaxColumns,
			rows.MaxColumns)
	}
	return nil
}

// mergeTypes takes over the types that a file declares. Types that differ between files are
// inferred.
func (p *pass) mergeTypes(columns []rows.Column, i int) {
	for k, c := range columns {
		merged := &p.columns[p.index[k]]
		merged.Numbers = i > 0 && merged.Numbers || c.Numbers
		switch t := &merged.Type; {
		case p.index[k] >= p.earlier:
			*t = c.Type
		case *t != c.Type:
			*t = ""
		}
	}
}

// match returns the column of each field, -1 if there is none. A column of exactly that name takes
// precedence, then one that differs in surrounding blanks, then one that differs in case. Fields
// are matched by position only if the file does not name its columns: otherwise a column that is
// gone would be replaced by another one, which may be meant to stay hidden.
func match(src Source, columns []string, keyed bool) (pick, added []int, notes []string, err error) {
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
			if i, ok := position[key(f.Column())]; ok && i >= 0 && pick[k] < 0 {
				pick[k], taken[i] = i, true
			}
		}
	}
	byPosition := matchesByPosition(src, columns, pick, keyed)
	for k, f := range src.Fields {
		switch i := pick[k]; {
		case i >= 0 && trimName(columns[i]) != trimName(f.Column()):
			notes = append(notes, fmt.Sprintf("field %q is column %q, which differs in upper and lower case", f.Name,
				columns[i]))
		case i < 0 && byPosition:
			pick[k], taken[k] = k, true
		}
	}
	for _, i := range newColumns(src, columns, taken) {
		taken[i], added = true, append(added, i)
		notes = append(notes, fmt.Sprintf("column %q is new and is published; to hide it, publish the file with a "+
			"descriptor that does not list it", columns[i]))
	}
	unmatched, err := checkUnmatched(src, columns, pick, taken)
	return pick, added, append(notes, unmatched...), err
}

// newColumns returns the columns without a field that neither the fields nor the hidden columns of
// the live version name, if its settings apply. Columns without a name stay hidden.
func newColumns(src Source, columns []string, taken []bool) (added []int) {
	if src.Inherited == nil || len(src.Fields) == 0 || src.Dialect.Header == rows.HeaderNone {
		return nil
	}
	known := map[string]bool{}
	for _, name := range src.Inherited.Hidden {
		known[herb.FoldColumn(name)] = true
	}
	for _, f := range src.Fields {
		known[herb.FoldColumn(f.Name)], known[herb.FoldColumn(f.Column())] = true, true
	}
	for i, name := range columns {
		if isUnnamed := name == fmt.Sprintf("column_%d", i+1); !taken[i] && !isUnnamed &&
			!known[herb.FoldColumn(name)] {
			known[herb.FoldColumn(name)] = true
			added = append(added, i)
		}
	}
	return added
}

// trimName removes from a name what programs leave around it.
func trimName(s string) string { return strings.TrimSpace(strings.TrimPrefix(s, "\uFEFF")) }

func foldName(s string) string { return strings.ToLower(trimName(s)) }

// matchesByPosition reports whether fields are matched by position, because the columns have no
// names. Keyed formats have no positions.
func matchesByPosition(src Source, columns []string, pick []int, keyed bool) bool {
	if src.Dialect.Header != rows.HeaderNone || len(src.Fields) > len(columns) || keyed {
		return false
	}
	for k, i := range pick {
		if i >= 0 && i != k || src.Fields[k].Column() != src.Fields[k].Name {
			return false
		}
	}
	return true
}

// checkUnmatched returns notes about fields and columns without a match. It fails if a required
// field has none, or if no field has one, because the schema is then that of another file. It also
// fails if the schema has as many fields as the file has columns and states that they are the same.
func checkUnmatched(src Source, columns []string, pick []int, taken []bool) (notes []string, err error) {
	fields := src.Fields
	if len(columns) == 0 {
		return nil, nil
	}
	isExact := src.ByPosition && len(fields) == len(columns)
	none, optional := true, true
	for k, f := range fields {
		none, optional = none && pick[k] < 0, optional && f.Optional
	}
	var absent, hidden []string
	for k, f := range fields {
		if pick[k] >= 0 {
			continue
		}
		if none || isExact || !f.Optional {
			return nil, herb.AtField(f.Name, noSuch("column", f.Column(), columns))
		}
		absent = append(absent, f.Name)
	}
	for i, name := range columns {
		if !taken[i] {
			hidden = append(hidden, name)
		}
	}
	if len(absent) > 0 {
		notes = append(notes, "no column was found for what the schema describes as "+rows.JoinNames(absent)+
			"; it is left out"+
			similarColumns(absent, hidden))
	}
	if len(hidden) > 0 && optional { // a schema written for other programs may lack columns by mistake
		notes = append(notes, "not exposed, because the schema does not list it: "+rows.JoinNames(hidden))
	}
	return notes, nil
}

// similarColumns returns a hint for fields without a column whose name is similar to that of a
// column without a field. It compares few fields and only the start of their names: comparing
// thousands of long names with each other takes hours.
func similarColumns(absent, hidden []string) (hint string) {
	const maxHints = 50
	for _, name := range absent[:min(len(absent), maxHints)] {
		name = rows.Clip(name)
		if c, ok := text.Closest(name, hidden); ok {
			hint += fmt.Sprintf("; is %q the column %q?", name, c)
		}
	}
	return hint
}

// noSuch returns an error about a setting that names a column or field that does not exist, or is
// of another kind.
func noSuch(kind, name string, names []string) error {
	name = rows.Clip(name)
	problem := fmt.Sprintf("no such %s %q", kind, name)
	return &herb.Error{
		Code: herb.CodeInvalid, Problem: problem,
		Message: fmt.Sprintf("%s%s %ss: %s", problem, text.Suggestion(name, names), kind, rows.JoinNames(names)),
	}
}
