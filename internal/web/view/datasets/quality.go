package datasets

import (
	"cmp"
	"slices"

	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// Quality summarizes the publish report of a dataset.
type Quality struct {
	Complete int          // columns without empty values
	Sparse   []state.Link // the columns with the most empty values, and their share
	Notes    []state.Link // about the values of columns
}

// NewQuality summarizes the publish report; nil if there is none.
func NewQuality(d *columns.Dataset) *Quality {
	const maxSparse, maxNotes = 8, 50
	if d.Report == nil {
		return nil
	}
	var q Quality
	var sparse []int
	for i, f := range d.Fields {
		c := d.Meanings[i].Report
		if c == nil {
			continue
		}
		if c.Empty > 0 {
			sparse = append(sparse, i)
		} else {
			q.Complete++
		}
		for _, note := range c.Notes {
			q.Notes = append(q.Notes, state.Link{Label: columns.Heading(f), Detail: note})
		}
	}
	slices.SortStableFunc(sparse, func(a, b int) int {
		return cmp.Compare(d.Meanings[b].Report.Empty, d.Meanings[a].Report.Empty)
	})
	for _, i := range sparse[:min(len(sparse), maxSparse)] {
		q.Sparse = append(q.Sparse,
			state.Link{Label: columns.Heading(d.Fields[i]),
				Detail: format.Percent(d.Meanings[i].Report.Empty, d.Records)})
	}
	q.Notes = q.Notes[:min(len(q.Notes), maxNotes)]
	return &q
}
