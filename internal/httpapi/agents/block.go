package agents

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"herbarium/internal/export"
	"herbarium/internal/herb"
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

// table begins a table, unless the names of its columns do not fit. A table after another one is
// separated from it by a title.
func (b *block) table(title string, header []string) bool {
	before := b.rows.Len()
	if title != "" {
		b.rows.WriteString("\n" + title + "\n")
	}
	if export.AppendHeader(&b.rows, header); b.rows.Len() > b.room {
		b.rows.Truncate(before)
		return false
	}
	return true
}

// add adds a row as a whole, unless it does not fit. Cells that are too long are cut and marked.
func (b *block) add(header, row []string) bool {
	for i, cell := range row {
		short, cut := clipCell(cell, b.cellLimit)
		if row[i] = short; cut && !slices.Contains(b.longFields, header[i]) {
			b.longFields = append(b.longFields, header[i])
		}
	}
	before := b.rows.Len()
	if export.AppendRow(&b.rows, row); b.rows.Len() > b.room {
		b.rows.Truncate(before)
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

// cutCells says in the head line which cells were cut, if any.
func (b *block) cutCells(remedy string) {
	const most = 5
	if names := b.longFields; len(names) > 0 {
		if len(names) > most {
			names = append(names[:most:most], "…")
		}
		b.cuts = append(b.cuts, fmt.Sprintf("cells of %s were cut at %d characters, as marked: %s", strings.Join(names, ", "), b.cellLimit, remedy))
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
