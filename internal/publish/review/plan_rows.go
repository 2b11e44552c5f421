package review

import (
	"fmt"
	"maps"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// editRows applies the decisions of the publisher about rows: headerRows names the header, which
// keeps all rows with values below it, and commentRows lists those that are still no records.
// contents are those of an inspection without these decisions.
func (p *plan) editRows(e Edits, f *contents) error {
	if !e.editsRows() {
		return nil
	}
	if f.Unit == "" {
		return herb.Invalidf("the format of the file says which rows are records, so they cannot be kept or dropped")
	}
	header, isNamed := f.Header, e.HeaderRows != nil
	if isNamed {
		header = *e.HeaderRows
	}
	left := f.leftOut()
	for _, row := range e.Keep {
		reason, isLeft := left[row]
		switch {
		case !isLeft:
		case len(header) > 0 && row < header[0]:
			return herb.Invalidf("%s %d is above the header, so it cannot be a record; choose another header",
				f.Unit, row)
		case len(header) > 0 && reason == reasonRepeated && slices.Equal(header, f.Header):
			return herb.Invalidf("%s %d repeats the header, so it cannot be a record", f.Unit, row)
		default:
			isNamed = true
		}
	}
	return p.editDialect(func(o *rows.Options) {
		excluded := map[int]bool{}
		if isNamed {
			f.nameHeader(o, header, left, excluded)
			for _, row := range e.Keep {
				f.include(row, left, excluded)
			}
		} else {
			for _, row := range o.CommentRows {
				excluded[row] = true
			}
		}
		for _, row := range e.Drop {
			for line := row; line <= max(row, f.Spans[row]); line++ {
				excluded[line] = true
			}
		}
		o.CommentRows = slices.Sorted(maps.Keys(excluded))
	})
}

// nameHeader states the header in a dialect, and excludes what is left out below it.
func (f *contents) nameHeader(o *rows.Options, header []int, left map[int]string, excluded map[int]bool) {
	o.Skip, o.HeaderRows = 0, header
	first := 0
	o.Header = rows.HeaderDetect
	if len(header) == 0 {
		o.Header = rows.HeaderNone
	} else {
		first = header[0]
	}
	for _, row := range f.Comments {
		excluded[row] = row > first
	}
	for row := range left {
		excluded[row] = row > first
	}
	for _, row := range header {
		delete(excluded, row)
	}
	maps.DeleteFunc(excluded, func(_ int, is bool) bool { return !is })
}

// include removes the lines of a row from those that are excluded.
func (f *contents) include(row int, left map[int]string, excluded map[int]bool) {
	delete(excluded, row)
	for line := row + 1; excluded[line] && left[line] == ""; line++ {
		delete(excluded, line)
	}
}

// editExclude applies the decisions of the publisher about rows with certain values, which are
// conditions of the descriptor and hold for the next files. contents are those of an inspection
// without these decisions.
func (p *plan) editExclude(e Edits, f *contents) error {
	for _, x := range e.Exclude {
		if x.Column >= len(f.Columns) {
			return herb.Invalidf("the file has %d columns, so no value of column %d can leave out rows; undo all "+
				"changes", len(f.Columns), x.Column+1)
		}
		settings := member(p.Resource, own)
		conditions := member(settings, "exclude")
		column := f.conditionName(conditions, x.Column)
		values, isList := conditions[column].([]any)
		if v := conditions[column]; v != nil && !isList {
			values = []any{v}
		}
		values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return fmt.Sprint(v) == x.Value })
		if !x.Keep {
			values = append(values, x.Value)
		}
		conditions[column] = values
		if len(values) == 0 {
			delete(conditions, column)
		}
		if len(conditions) == 0 {
			prune(p.Resource, own, "exclude")
		}
	}
	return nil
}

// conditionName returns the name by which conditions refer to a column: its own, unless they have
// that of its field.
func (f *contents) conditionName(conditions object, position int) string {
	name := f.Columns[position]
	if _, ok := conditions[name]; ok {
		return name
	}
	for _, field := range f.Fields {
		if _, ok := conditions[field.Name]; ok && field.Column == position && !slices.Contains(f.Columns, field.Name) {
			return field.Name
		}
	}
	return name
}
