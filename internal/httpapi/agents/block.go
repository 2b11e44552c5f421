package agents

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Limits of a result. A client refuses results that are too long as a whole, and a model reads
// every part of it.
const (
	maxResult   = 20 << 10 // bytes
	maxRows     = 100
	defaultRows = "50"
	maxCell     = 500 // characters
	// headRoom is the part of maxResult for the head line without the permalink, and for notes.
	headRoom = 1 << 10
)

// facts are what a program needs to know of a result.
type facts struct {
	Total     int    `json:"total"`
	From      int    `json:"from,omitempty"` // number of the first row; 0: none
	To        int    `json:"to,omitempty"`
	Version   string `json:"version,omitempty"`
	Permalink string `json:"permalink"`
	Cut       string `json:"cut,omitempty"`
	CSV       string `json:"csv,omitempty"`

	Suggestions []query.Suggestion `json:"suggestions,omitempty"`
}

// block is the result of a tool call: a head line, notes and rows of CSV.
type block struct {
	facts
	head  string   // first part of the head line: what the rows are
	notes []string // lines below the head line
	cuts  []string // parts of the head line: what is missing, and how to get it

	partial    bool // Total may be too low
	rows       bytes.Buffer
	room       int // bytes that the rows may have
	added      int // rows, without the names of the columns
	cellLimit  int
	longFields []string // in which cells were cut
}

// newBlock returns a block without rows. maxCell limits cells.
func newBlock(permalink, version string) *block {
	b := &block{facts: facts{Permalink: permalink, Version: version}, cellLimit: maxCell}
	b.room = max(maxResult-headRoom-len(permalink), maxResult/4) // a permalink has up to 8 KiB
	return b
}

// note adds a line below the head line, which takes room from the rows.
func (b *block) note(format string, args ...any) {
	line := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	b.room -= len(line)
	b.notes = append(b.notes, line)
}

// noteWords says which other forms of words were searched.
func (b *block) noteWords(words query.Words) {
	for _, word := range slices.Sorted(maps.Keys(words)) {
		b.note("%s also finds %s", word, strings.Join(words[word][1:], ", "))
	}
}

// addTable adds a table, as many of its rows as fit, and returns their number. A title separates a
// table from the one before it.
func (b *block) addTable(title string, header []string, rows iter.Seq2[[]string, error]) (added int, err error) {
	if !b.startTable(title, header) {
		return 0, nil
	}
	for row, err := range rows {
		if err != nil || !b.add(header, row) {
			return added, err
		}
		added++
	}
	return added, nil
}

// rowsOf yields the rows of a list.
func rowsOf[T any](list []T, row func(T) []string) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for _, element := range list {
			if !yield(row(element), nil) {
				return
			}
		}
	}
}

// startTable begins a table, unless the names of its columns do not fit.
func (b *block) startTable(title string, header []string) bool {
	before := b.rows.Len()
	if title != "" {
		b.rows.WriteString("\n" + title + "\n")
	}
	export.AppendHeader(&b.rows, header)
	return b.fits(before)
}

// fits reports whether the rows fit, and removes what was added after a length otherwise.
func (b *block) fits(before int) bool {
	if b.rows.Len() > b.room {
		b.rows.Truncate(before)
		return false
	}
	return true
}

// add adds a row as a whole, unless it does not fit. Cells that are too long are cut and marked.
func (b *block) add(header, row []string) bool {
	for i, cell := range row {
		short, cut := clipCell(cell, b.cellLimit)
		row[i] = short
		if cut && !slices.Contains(b.longFields, header[i]) {
			b.longFields = append(b.longFields, header[i])
		}
	}
	before := b.rows.Len()
	export.AppendRow(&b.rows, row)
	if !b.fits(before) {
		return false
	}
	b.added++
	return true
}

// clipCell returns a cell of at most limit characters, and whether it was cut.
func clipCell(cell string, limit int) (short string, cut bool) {
	if len(cell) <= limit {
		return cell, false
	}
	n := 0
	for i := range cell {
		if n == limit {
			return fmt.Sprintf("%s…[+%s characters]", cell[:i], herb.Count(utf8.RuneCountInString(cell[i:]))), true
		}
		n++
	}
	return cell, false
}

// describeRows sets the numbers of the rows of a page of n rows, and says which rows are missing.
func (b *block) describeRows(rows string, req *query.Request, n int) {
	exact := herb.Count(b.Total)
	if !b.partial {
		exact += " (exact)"
	}
	meta := req.Meta(b.Total)
	for operand, instant := range meta.Resolved {
		b.note("%s is %s", operand, instant)
	}
	switch {
	case b.Total == 0:
		b.head = "no " + rows + ": " + exact
	case n == 0:
		b.head = fmt.Sprintf("no %s on page %s, the last one is %s: %s", rows, herb.Count(meta.Page),
			herb.Count(meta.TotalPages), exact)
	case b.added == 0:
		b.head = fmt.Sprintf("no %s of %s fit", rows, exact)
		b.cuts = append(b.cuts, fmt.Sprintf("the first of them alone is larger than %s: name fewer %s",
			herb.FormatBytes(maxResult), columnsOf(rows)))
	default:
		b.From = req.Offset() + 1
		b.To = req.Offset() + b.added
		b.head = fmt.Sprintf("%s %s–%s of %s", rows, herb.Count(b.From), herb.Count(b.To), exact)
		b.describeRest(rows, req, n, meta)
	}
}

// describeRest says how to get the rows after those of a block, of which a page has n.
func (b *block) describeRest(rows string, req *query.Request, n int, meta query.Meta) {
	if b.added == n {
		if meta.HasNext {
			b.head += fmt.Sprintf(", next page %d of %s", req.Page+1, herb.Count(meta.TotalPages))
		}
		return
	}
	// The page of this length that has the first missing row may begin a few rows before it.
	page := b.To/b.added + 1
	advice := fmt.Sprintf("repeat with page %d and per_page %d", page, b.added)
	if rows != "datasets" && rows != "fields" {
		advice += ", or name fewer " + columnsOf(rows)
	}
	b.cuts = append(b.cuts, fmt.Sprintf("%s %s–%s are missing, because a result has at most %s: %s",
		rows, herb.Count(b.To+1), herb.Count(req.Offset()+n), herb.FormatBytes(maxResult), advice))
}

// columnsOf returns which argument determines the columns of rows.
func columnsOf(rows string) string {
	if rows == "groups" {
		return "measures"
	}
	return "fields"
}

// cutCells says in the head line which cells were cut, if any.
func (b *block) cutCells(remedy string) {
	const most = 5
	if names := b.longFields; len(names) > 0 {
		if len(names) > most {
			names = append(names[:most:most], "…")
		}
		b.cuts = append(b.cuts, fmt.Sprintf("cells of %s were cut at %d characters, as marked: %s",
			strings.Join(names, ", "), b.cellLimit, remedy))
	}
}

// result renders a block. Clients that hand only the structured content to the model get the rows
// there; nobody gets them twice.
func (b *block) result(structured bool) *mcp.CallToolResult {
	parts := []string{b.head}
	if b.Version != "" {
		parts = append(parts, "version "+b.Version)
	}
	b.Cut = strings.Join(b.cuts, "; ")
	parts = append(append(parts, b.Permalink), b.cuts...)
	head := strings.Join(parts, "; ")
	rows := strings.Join(append(slices.Clone(b.notes), b.rows.String()), "\n")
	text := head + "\n" + rows
	if structured {
		text, b.CSV = head, rows
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: b.facts}
}
