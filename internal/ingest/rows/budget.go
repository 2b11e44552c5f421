package rows

import (
	"cmp"
	"context"
	"io"
	"os"
	"sync/atomic"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
)

// The default limits.
const (
	MaxRecord       = 8 << 20 // bytes of one row
	MaxColumns      = herb.MaxFields
	MaxAllColumns   = 500_000 // of all tables of a file; each takes time to index, however short the table
	MaxName         = herb.MaxFieldName
	MaxNames        = herb.MaxFieldNames
	MaxDepth        = 100 // levels of nested values
	stepsPerContext = 4_096
	bytesPerStep    = 256 // so that few long rows are read after the context has ended
)

// Limits for each byte of the stored file, and the minimum limits of small files. They bound time
// and disk space.
const (
	cellsPerByte    = 16 // tables of zeros or missing values compress well
	elementsPerByte = 4
	bytesPerByte    = 64 // large files of real data have less than half of it
	freeCells       = 2 << 20
	freeElements    = 1 << 20
	freeBytes       = 64 << 20
	cellsOfRow      = 2 // that a row counts for in addition to its own
)

// Limits bound what may be made of a file. Zero values mean the defaults.
type Limits struct {
	Record  int // bytes of one row, as written
	Columns int
	Depth   int
	Temp    string // folder of temporary files; empty: that of the system
	Usage   *Usage // shared by all tables of the file; nil if the file is one table
}

// Usage counts what was made of a file, so that one with a thousand tables does not expand a
// thousand times. It is safe for concurrent use.
type Usage struct{ columns, cells, bytes, unpacked, elements atomic.Int64 }

// Budget enforces the limits of one file for all formats. Formats charge it for what they hold
// before a row is complete; Limit charges it for every row. It is used by one goroutine.
type Budget struct {
	ctx    context.Context
	limits Limits // Usage is not nil
	stored int64
	steps  int
}

// NewBudget returns a budget for a file of a stored size.
func NewBudget(ctx context.Context, stored int64, l Limits) *Budget {
	l.Record = cmp.Or(l.Record, MaxRecord)
	l.Columns = cmp.Or(l.Columns, MaxColumns)
	l.Depth = cmp.Or(l.Depth, MaxDepth)
	if l.Usage == nil {
		l.Usage = new(Usage)
	}
	return &Budget{ctx: ctx, limits: l, stored: stored}
}

// MaxRecord returns the number of bytes that one row may have.
func (b *Budget) MaxRecord() int { return b.limits.Record }

// Trial returns a budget for reading rows that are charged when they are read again.
func (b *Budget) Trial() *Budget {
	trial := *b
	trial.limits.Usage = new(Usage)
	trial.limits.Usage.cells.Store(b.limits.Usage.cells.Load())
	trial.limits.Usage.bytes.Store(b.limits.Usage.bytes.Load())
	trial.limits.Usage.unpacked.Store(b.limits.Usage.unpacked.Load())
	return &trial
}

// Elements charges for n elements of a format that are parsed and may not become values, such as
// tags and attributes. It includes Step.
func (b *Budget) Elements(n int) error {
	return cmp.Or(b.Step(), checkExpansion(b.limits.Usage.elements.Add(int64(n)), b.stored, freeElements,
		elementsPerByte, "elements"))
}

// Unpack charges for n bytes that are unpacked. It fails if they are more than a file of this size
// can reasonably hold.
func (b *Budget) Unpack(n int64) error {
	return CheckUnpacked(b.limits.Usage.unpacked.Add(n), b.stored)
}

// CheckUnpacked fails if n bytes are too many to be unpacked from a number of stored bytes.
func CheckUnpacked(n, stored int64) error {
	return checkExpansion(n, stored, freeBytes, bytesPerByte, "unpacked bytes")
}

func checkExpansion(n, stored, free, perByte int64, what string) error {
	if limit := max(free, stored*perByte); n > limit {
		return herb.Invalidf("the file has more than %d %s, which is too much for its size of %d bytes; save the "+
			"data as CSV without compression",
			limit, what, stored)
	}
	return nil
}

// TempFile returns a temporary file without a name, so that a killed process leaves nothing behind.
func (b *Budget) TempFile() (*os.File, error) { return filesystem.TempFile(b.limits.Temp) }

// Step returns the reason why reading must stop, if the context has ended. It is cheap enough for
// every row, value or nested element.
func (b *Budget) Step() error { return b.addSteps(1) }

func (b *Budget) addSteps(n int) error {
	b.steps += n
	if b.steps < stepsPerContext {
		return nil
	}
	b.steps = 0
	return context.Cause(b.ctx)
}

// Locate returns the error for what is wrong in a file, with its place, or the reason why the
// context has ended.
func (b *Budget) Locate(err error, where string, args ...any) error {
	if ended := context.Cause(b.ctx); ended != nil {
		return ended
	}
	return Damaged(err, where, args...)
}

// Record fails if n bytes are too many for one row.
func (b *Budget) Record(n int) error {
	return checkSize(n, b.limits.Record, "the row is")
}

// Columns fails if n columns are too many.
func (b *Budget) Columns(n int) error {
	return checkLimit(n, b.limits.Columns, "there are more than %d columns")
}

// Depth fails if n levels are too many.
func (b *Budget) Depth(n int) error {
	return checkLimit(n, b.limits.Depth, "values are nested more than %d levels deep")
}

func checkLimit(n, limit int, excess string) error {
	if n > limit {
		return herb.Invalidf(excess+"; at most %d are possible", limit, limit)
	}
	return nil
}

func checkSize(n, limit int, subject string) error {
	if n > limit {
		return herb.Invalidf("%s longer than %s, the maximum", subject, herb.FormatBytes(int64(limit)))
	}
	return nil
}

// Row charges for a row of a table with a number of columns; cells that the row lacks count,
// because every record has all columns. It fails if the row is too large, or if the rows are more
// than a file of this size can reasonably hold: a small file that expands without end is an attack.
func (b *Budget) Row(cells [][]byte, columns int) error {
	size := 0
	for _, c := range cells {
		size += len(c)
	}
	return b.values(columns+cellsOfRow, size)
}

// Cell charges for a cell of size bytes that is read before its row.
func (b *Budget) Cell(size int) error { return b.values(1, size) }

func (b *Budget) values(cells, size int) error {
	used := b.limits.Usage
	return cmp.Or(b.addSteps(1+size/bytesPerStep), b.Record(size),
		checkExpansion(used.cells.Add(int64(cells)), b.stored, freeCells, cellsPerByte,
			"values, including missing ones"),
		checkExpansion(used.bytes.Add(int64(size)), b.stored, freeBytes, bytesPerByte, "bytes of values"),
	)
}

// Limit returns rows that are charged to a budget.
func Limit(r Rows, b *Budget) Rows { return &limited{Rows: r, budget: b} }

type limited struct {
	Rows
	budget *Budget
	seen   int // columns whose names were checked
	names  int // bytes of their names
}

func (l *limited) Next() ([][]byte, error) {
	cells, err := l.Rows.Next()
	if err == nil || err == io.EOF {
		err = cmp.Or(l.checkColumns(), err)
	}
	if err != nil {
		return nil, err
	}
	if len(cells) > l.seen {
		return nil, herb.Invalidf("the row has %d values, but there are %d columns", len(cells), l.seen)
	}
	return cells, l.budget.Row(cells, l.seen)
}

func (l *limited) checkColumns() error {
	columns := l.Columns()
	if err := l.budget.Columns(len(columns)); err != nil {
		return err
	}
	for ; l.seen < len(columns); l.seen++ {
		name := columns[l.seen].Name
		if len(name) > MaxName {
			return herb.Invalidf("the name of column %d, %.60q, has %d bytes; at most %d are possible; shorten it, "+
				"or read the file with header=none and name the fields in a descriptor",
				l.seen+1, name, len(name), MaxName)
		}
		l.names += len(name)
		if err := checkSize(l.names, MaxNames, "the names of the columns are"); err != nil {
			return err
		}
		total := int(l.budget.limits.Usage.columns.Add(1))
		if err := checkLimit(total, MaxAllColumns,
			"the tables of the file have more than %d columns together"); err != nil {
			return err
		}
	}
	return nil
}
