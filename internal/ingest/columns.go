package ingest

import (
	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// columnNames returns the names of columns.
func columnNames(columns []rows.Column) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// compareColumns fails if the columns of a part are not those of the first file. Columns without a name at the end are
// not compared: they come from rows that are wider than the header.
func (p *pass) compareColumns(columns []rows.Column) error {
	got, want, first := trimUnnamed(columnNames(columns)), trimUnnamed(columnNames(p.columns)), p.src.Name(0)
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return herb.Invalidf("column %d is %q, and %q in %s; all parts must have the same columns in the same order", i+1,
				rows.Clip(got[i]), rows.Clip(want[i]), first)
		}
	}
	if len(got) != len(want) {
		return herb.Invalidf("the file has %d columns, and %s has %d; all parts must have the same columns in the same order", len(got),
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
			if nth := p.namesakes[name]; nth < len(p.known[name]) {
				at = p.known[name][nth]
			}
			p.namesakes[name]++
		}
		if at == len(p.columns) {
			p.columns = append(p.columns, columns[k])
			p.raw = append(p.raw, herb.ColumnCells{})
			p.known[name] = append(p.known[name], at)
		}
		p.index = append(p.index, at)
	}
	if len(p.columns) > rows.MaxColumns {
		return herb.Invalidf("the files have more than %d columns together; at most %d are possible", rows.MaxColumns, rows.MaxColumns)
	}
	return nil
}

// mergeTypes takes over the types that a file declares. Types that differ between files are inferred.
func (p *pass) mergeTypes(columns []rows.Column, i int) {
	for k, c := range columns {
		switch t := &p.columns[p.index[k]].Type; {
		case i == 0:
			*t = c.Type
		case *t != c.Type:
			*t = ""
		}
	}
}
