package cli

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/telemetry"
	"herbarium/internal/versions"
)

// writeReport writes the import report of a version as text.
func writeReport(w io.Writer, rep *herb.Report, primaryKey []string, inferred bool) {
	fmt.Fprintf(w, "  source: %s; %s rows", cmp.Or(rep.Format, "unknown"), herb.Count(rep.Rows))
	if rep.Excluded > 0 {
		fmt.Fprintf(w, ", %s of them excluded", herb.Count(rep.Excluded))
	}
	fmt.Fprintf(w, "\n  content hash: %s, equal in source and listing\n", rep.Cells)
	if n := rep.Layout.NotRecords(); rep.Layout.Unit != "" {
		fmt.Fprintf(w, "  %ss of the file that are not records: %s (%s header, %s left out)\n", rep.Layout.Unit,
			herb.Count(n),
			herb.Count(len(rep.Layout.Header)), herb.Count(rep.Layout.LeftOut))
	}
	for _, r := range rep.Layout.Rows {
		fmt.Fprintf(w, "    left out: %s %s\n", rep.Layout.Unit, printable(r.String()))
	}
	if more := rep.Layout.LeftOut - len(rep.Layout.Rows); more > 0 {
		fmt.Fprintf(w, "    left out: %s more\n", herb.Count(more))
	}
	if s := rep.SourceCells; s != nil && s.Listed() != s.Total {
		fmt.Fprintf(w, "  non-empty cells in the source: %s, not listed: %s (%s in hidden columns, %s in excluded "+
			"rows, "+
			"%s declared missing)\n", herb.Count(s.Total), herb.Count(s.Hidden+s.Excluded+s.Missing),
			herb.Count(s.Hidden), herb.Count(s.Excluded), herb.Count(s.Missing))
	}
	if len(primaryKey) > 0 {
		how := ""
		if inferred {
			how = ", inferred: its values differ in all records"
		}
		fmt.Fprintf(w, "  primary key: %s%s\n", printable(strings.Join(primaryKey, ", ")), how)
	}
	if len(rep.Hidden) > 0 {
		fmt.Fprintf(w, "  hidden columns: %s\n", printable(strings.Join(rep.Hidden, ", ")))
	}
	fmt.Fprintln(w)
	_ = writeTable(w, "  FIELD\tFILLED\tEMPTY\tDISTINCT\tMIN\tMAX\tLENGTH\tTYPE AND EVIDENCE", rep.Columns,
		func(c herb.ColumnReport) []any {
			name := "  " + printable(c.Field)
			if c.Column != "" && c.Column != c.Field {
				name += " (" + printable(c.Column) + ")"
			}
			length := strconv.Itoa(c.Shortest)
			if c.Longest != c.Shortest {
				length += "-" + strconv.Itoa(c.Longest)
			}
			return []any{name, herb.Count(c.Filled), herb.Count(c.Empty), herb.Count(c.Distinct),
				herb.Clip(printable(c.Min), 24), herb.Clip(printable(c.Max), 24),
				length, cmp.Or(c.Evidence, string(c.Type))}
		})
}

// reportNotes returns the notes of a report, including those of its columns.
func reportNotes(rep *herb.Report) (all []string) {
	if rep == nil {
		return nil
	}
	for _, n := range rep.Layout.Notes() {
		all = append(all, printable(n))
	}
	for _, n := range rep.RowNotes() {
		all = append(all, printable(n))
	}
	all = append(all, rep.Notes...)
	for _, c := range rep.Columns {
		for _, n := range c.Notes {
			all = append(all, printable(c.Field)+": "+n)
		}
	}
	return all
}

func writeNotes(w io.Writer, notes []string) {
	for _, n := range notes {
		fmt.Fprintf(w, "  note: %s\n", escapeText(n))
	}
}

// firstOf returns the first items, and if there are more, their number with a suffix.
func firstOf(items []string, limit int, suffix string) []string {
	if len(items) <= limit {
		return items
	}
	return append(items[:limit:limit], herb.Count(len(items)-limit)+" more"+suffix)
}

// writeChanges writes how a version differs from the live one. "-" marks breaking changes.
func (r *runner) writeChanges(p versions.Result) {
	switch {
	case p.Replaces == "":
		fmt.Fprintln(r.Out, "  new dataset: no live version to compare with")
	case len(p.Changes) == 0:
		fmt.Fprintf(r.Out, "  no changes from version %s\n", p.Replaces)
	default:
		fmt.Fprintf(r.Out, "  changes from version %s:\n", p.Replaces)
	}
	for _, c := range p.Changes {
		mark, color := "~", ""
		switch {
		case c.Breaking:
			mark, color = "-", red
		case c.Kind == versions.FieldAdded || c.Kind == versions.FlagGained:
			mark, color = "+", green
		}
		fmt.Fprintf(r.Out, "  %s\n", r.paint(color, mark+" "+escapeText(c.Message)))
	}
}

// Colors on a terminal.
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
)

// paint colors s if the output is a terminal and NO_COLOR is not set.
func (r *runner) paint(color, s string) string {
	if no, _ := r.Env("NO_COLOR"); color == "" || no != "" || !telemetry.IsTerminal(r.Out) {
		return s
	}
	return color + s + "\x1b[0m"
}
