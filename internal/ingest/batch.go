package ingest

import (
	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// rowBatch is a number of rows of one file.
type rowBatch struct {
	file      int
	rows      []byte // see appendRow
	positions []rows.Position
	cells     [][]byte
}

// maxBatch is the maximum number of rows in a batch.
const maxBatch = 4096

// empty returns a batch for reuse, or a new one if it had to grow for a long row.
func (b *rowBatch) empty() *rowBatch {
	if cap(b.rows) > 4*spillChunk {
		return &rowBatch{}
	}
	b.rows, b.positions = b.rows[:0], b.positions[:0]
	return b
}

// profile profiles and spills the rows of a batch.
func (p *pass) profile(b *rowBatch) (err error) {
	defer herb.Recover(&err)
	rest := b.rows
	for i := 0; len(rest) > 0 && p.view != nil; i++ {
		b.cells, rest = cutRow(b.cells[:0], rest)
		if e := p.view.exposure; e != nil && len(b.cells) > len(e.columns) {
			p.view = nil // a row added columns, which settings may be about
			break
		}
		p.view.add(b.cells, func() string {
			if b.file > 0 {
				return p.src.Name(b.file) + ", " + b.positions[i].String()
			}
			return b.positions[i].String()
		})
	}
	return p.spill.add(b.rows)
}
