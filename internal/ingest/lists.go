package ingest

import (
	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// listColumn collects how the arrays of a column can be written. Formats yield them as JSON, and so
// they are spilled, because one element at the end of the last file may need JSON.
type listColumn struct {
	cells     herb.ColumnCells // the arrays, written with commas
	needsJSON bool             // some element does not allow commas
}

// addList adds an array of a column.
func (p *pass) addList(column int, array []byte) {
	for len(p.lists) <= column {
		p.lists = append(p.lists, listColumn{})
	}
	l := &p.lists[column]
	if l.needsJSON {
		return
	}
	list, ok := text.AppendList(p.listBuf[:0], array)
	l.needsJSON = !ok
	l.cells.Add(p.count, list)
	p.listBuf = list
}

// writeLists decides, after the last row, which columns of lists are written with commas, and has
// the spill file write them so. In the others, all lists are JSON.
func (p *pass) writeLists() {
	for i, c := range p.columns {
		if i < len(p.lists) && c.Type == herb.TypeList && !p.lists[i].needsJSON {
			p.raw[i] = p.lists[i].cells
			p.spill.lists = append(p.spill.lists, i)
		}
	}
}
