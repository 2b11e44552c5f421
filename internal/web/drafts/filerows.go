package drafts

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/publish/review"
)

// fileRow is a row of the file as the page shows it.
type fileRow struct {
	Class         string
	Number, Count int
	Label         string // what the row is; empty: a record
	Do, Hint      string // edit that the label offers, and what it does; empty: none
	Header        string // edit that makes it the header, or a part of it; empty: none
	Joins         bool   // it would be a part
	Text          string // of a row that is left out
	Values        []fileCell
}

type fileCell struct{ Class, Text string }

func (page *reviewPage) newRow(row review.Row) fileRow {
	r := fileRow{Number: row.Number, Count: row.Count}
	if row.Kind == review.RowHeader && isEmptyRow(row) { // of a header of several rows
		row.Kind = review.RowLeftOut
	}
	switch row.Kind {
	case review.RowGap:
		r.Class = "gap"
		return r
	case review.RowHeader:
		r.Class, r.Label = "header", "header"
		if row.Number > 0 {
			r.Do, r.Hint = action(doHeader, 0), "the file has no header"
			if len(headerRows(page.Rows)) > 1 {
				r.Do, r.Hint = action(doJoin, row.Number), "this row has no names of columns"
			}
		}
	case review.RowLeftOut:
		r.Class, r.Label, r.Text = "left-out", "left out", plainRow(row.Text)
		if row.Reason != "" {
			r.Label += ": " + row.Reason
		}
		switch {
		case row.Number == 0 || row.ByValue: // the settings have the values
		case row.Number < page.header(): // records follow the header
			r.Do, r.Hint = action(doHeader, row.Number), "use this row as the header"
		default:
			r.Do, r.Hint = action(doKeep, row.Number), "keep this row as a record"
		}
		if row.Edited && !row.ByValue {
			r.Label = "left out by you"
		}
		if r.Text == "" && row.Cells == nil {
			r.Text = "\u00a0"
		}
	default:
		if row.Number > 0 {
			r.Label, r.Do, r.Hint = "leave out", action(doDrop, row.Number), "leave this row out"
			r.Header = action(doHeader, row.Number)
			if page.joinsHeader(row.Number) {
				r.Header, r.Joins = action(doJoin, row.Number), true
			}
		}
		if row.Edited {
			r.Class, r.Label = "kept", "kept by you"
		}
	}
	if r.Text == "" {
		r.Values = page.cells(row)
	}
	return r
}

func isEmptyRow(r review.Row) bool {
	return !slices.ContainsFunc(r.Cells, func(cell string) bool { return cell != "" })
}

// plainRow returns the text of a row that is left out without the delimiters of its empty cells.
func plainRow(s string) string {
	s = strings.TrimRight(s, ",;|\t ")
	if inner, ok := strings.CutPrefix(s, `"`); ok && strings.Count(s, `"`) == 2 {
		s = strings.TrimSuffix(inner, `"`)
	}
	return s
}

// header returns the number of the first row with the names of columns; 0 if there is none.
func (page *reviewPage) header() int {
	i := slices.IndexFunc(page.Rows, func(r review.Row) bool { return r.Kind == review.RowHeader && !isEmptyRow(r) })
	if i < 0 {
		return 0
	}
	return page.Rows[i].Number
}

// joinsHeader reports whether a row follows the rows with the names of the columns, which may
// continue in it.
func (page *reviewPage) joinsHeader(number int) bool {
	header := headerRows(page.Rows)
	return len(header) > 0 && number == header[len(header)-1]+1
}

// cells returns the cells of the shown columns.
func (page *reviewPage) cells(row review.Row) (all []fileCell) {
	for _, c := range page.Shown {
		var cell fileCell
		var classes []string
		if c.Position < len(row.Cells) {
			cell.Text = row.Cells[c.Position]
		}
		if c.Hidden() {
			classes = append(classes, "off")
		}
		if row.Kind == review.RowRecord && (c.Type == herb.TypeNumber || c.Almost == herb.TypeNumber) {
			classes = append(classes, "n")
		}
		if c.Position < len(row.Marked) && row.Marked[c.Position] {
			classes = append(classes, "marked")
		}
		if c.Position < len(row.Missing) && row.Missing[c.Position] {
			classes = append(classes, "missing")
		}
		cell.Class = strings.Join(classes, " ")
		all = append(all, cell)
	}
	return all
}
