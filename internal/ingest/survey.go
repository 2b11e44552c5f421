package ingest

import (
	"herbarium/internal/herb"
)

// survey gathers what the rows that are published show about the columns.
type survey struct {
	columns  []string           // unique names
	profiles []*profile         // of the columns
	cells    []herb.ColumnCells // of the columns, with the numbers of records as rows
	records  int
	budget   int // elements of lists that may still be kept
}

func newSurvey() *survey { return &survey{budget: maxElements} }

// add adds a record. where locates it.
func (s *survey) add(cells [][]byte, where func() string) {
	s.grow(len(cells))
	for i, cell := range cells {
		s.profiles[i].observe(cell, &s.budget, where)
		s.cells[i].Add(s.records, cell)
	}
	s.records++
}

// grow adds columns.
func (s *survey) grow(columns int) {
	for len(s.profiles) < columns {
		s.profiles = append(s.profiles, newProfile())
		s.cells = append(s.cells, herb.ColumnCells{})
	}
}

// account assigns the non-empty cells of the source to what became of them.
func (s *survey) account(e exposure, total int, n *narrower) *herb.SourceCells {
	a := &herb.SourceCells{Total: total}
	if n != nil {
		a.Excluded, a.Missing = n.excludedCells, n.missingCells
	}
	exposed := make([]int, len(s.columns))
	for _, at := range e.pick {
		if at < len(exposed) {
			exposed[at]++
		}
	}
	for i, times := range exposed {
		if times == 0 {
			a.Hidden += s.cells[i].Filled
		} else {
			a.Repeated += (times - 1) * s.cells[i].Filled
		}
	}
	return a
}
