package ingest

import (
	"fmt"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/profile"
)

// view applies the settings of a source to its rows and profiles the records that remain.
type view struct {
	survey   *profile.Survey
	exposure *exposure // nil: every column, those that are not known yet too
	narrower *narrower // nil: every row is a record

	row    int                // rows of the source
	kept   []herb.ColumnCells // what the narrower kept, with the numbers of source rows
	listed []herb.ColumnCells // the same with the numbers of records; without a narrower, that is the source itself
}

// newView resolves the settings of a source against its columns.
func newView(src Source, columns []string, keyed bool) (v *view, err error) {
	v = &view{survey: profile.New(), kept: make([]herb.ColumnCells, len(columns)), listed: make([]herb.ColumnCells, len(columns))}
	if v.exposure, err = newExposure(src, columns, keyed, v.survey); err != nil {
		return nil, err
	}
	if v.narrower, err = newNarrower(src, columns, keyed); err != nil {
		return nil, err
	}
	return v, nil
}

// add adds a row of the source.
func (v *view) add(cells [][]byte, where func() string) {
	row := v.row
	v.row++
	cells, ok := v.narrower.apply(cells)
	if !ok {
		return
	}
	if v.narrower != nil {
		for i, c := range cells {
			v.kept[i].Add(row, c)
			v.listed[i].Add(v.survey.Rows(), c)
		}
	}
	v.survey.Observe(cells, where)
}

// certify compares the records with what the formats yielded: only cells that the settings exclude may be missing.
func (v *view) certify(source []herb.ColumnCells) error {
	if v.narrower == nil {
		v.listed = source
		return nil
	}
	for i, c := range source {
		if v.kept[i].Plus(v.narrower.removed[i]) != c {
			return fmt.Errorf("applying include and missing values changed column %d", i+1)
		}
	}
	return nil
}
