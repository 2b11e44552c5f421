package review

import (
	"strings"

	"herbarium/internal/ingest/rows"
)

// join states which tables of the file are one dataset.
func (p *plan) join(e Edits) error {
	if len(p.joined()) > 0 && (e.Table != "" || e.Tables != nil) {
		delete(p.Resource, "innerpath")
	}
	if e.Table != "" || e.Tables == nil || len(*e.Tables) == 0 {
		return nil
	}
	list := make([]any, len(*e.Tables))
	for i, table := range *e.Tables {
		list[i] = table
	}
	p.table, p.Resource["innerpath"] = "", list
	return p.editDialect(func(o *rows.Options) { o.Table, o.TableNo = "", 0 })
}

// joined returns the tables of the file that are one dataset; empty: the dataset is one table.
func (p *plan) joined() (tables []string) {
	list, _ := p.Resource["innerpath"].([]any)
	for _, item := range list {
		table, _ := item.(string)
		tables = append(tables, table)
	}
	return tables
}

// setTable states which table of the file is published. contents are those of an inspection of it.
func (p *plan) setTable(f *contents) error {
	if p.table == "" {
		return nil
	}
	p.statesTable = true
	table := p.table
	if _, isArchive := p.Resource["innerpath"]; isArchive || f.Entry != "" {
		p.Resource["innerpath"], table, _ = strings.Cut(table, "#")
	}
	if table == "" {
		return nil
	}
	return p.editDialect(func(o *rows.Options) { o.Table, o.TableNo = table, 0 })
}

// tableMembers returns the members of a dialect that select a table.
func tableMembers() []string {
	return []string{"table", "property", "sheetName", "sheet", "sheetNumber"}
}
