package ingest

import (
	"io"

	"herbarium/internal/herb"
)

// survey is what one pass over all records tells of the columns.
type survey struct {
	columns  []string
	profiles []*profile         // of the columns, and of cells beyond them if a reader is at fault
	cells    []herb.ColumnCells // the same
	records  int
}

// newSurvey reads all records.
func newSurvey(rows rowReader) (*survey, error) {
	s, budget := &survey{}, maxElements
	for {
		cells, err := rows.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		s.grow(len(cells))
		for i, cell := range cells {
			s.profiles[i].observe(cell, &budget, rows.position)
			s.cells[i].Add(s.records, cell)
		}
		s.records++
	}
	s.columns = nameColumns(rows.columns())
	s.grow(len(s.columns))
	return s, nil
}

// grow makes room for so many columns.
func (s *survey) grow(columns int) {
	for len(s.profiles) < columns {
		s.profiles = append(s.profiles, newProfile())
		s.cells = append(s.cells, herb.ColumnCells{})
	}
}

// account says where the non-empty cells went that the reader of the file yielded, total in number. Only columns with a
// name count as hidden: a cell that has none was lost, and must not be accounted for.
func (s *survey) account(e exposure, total int, left leftOut) *herb.SourceCells {
	a := &herb.SourceCells{Total: total, Excluded: left.cells, Missing: left.missing}
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
