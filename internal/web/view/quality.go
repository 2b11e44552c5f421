package view

import (
	"cmp"
	"slices"

	"herbarium/internal/herb"
)

// Quality summarizes the publish report of a dataset.
type Quality struct {
	Complete int      // columns without empty values
	Sparse   []Sparse // the columns with the most empty values
	Notes    []Note   // for the publisher
}

// Sparse is a column with empty values.
type Sparse struct{ Heading, Empty string }

// Note is a note of the publish report. Heading is that of the column; empty: it is about the whole file.
type Note struct{ Heading, Text string }

// NewQuality summarizes the publish report; nil if there is none.
func NewQuality(d *herb.Dataset) *Quality {
	const maxSparse, maxNotes = 8, 50
	if d.Report == nil {
		return nil
	}
	var q Quality
	for _, note := range d.Report.Notes {
		q.Notes = append(q.Notes, Note{"", note})
	}
	var sparse []int
	for i, f := range d.Fields {
		c := ColumnReport(d, i)
		if c == nil {
			continue
		}
		if c.Empty > 0 {
			sparse = append(sparse, i)
		} else {
			q.Complete++
		}
		for _, note := range c.Notes {
			q.Notes = append(q.Notes, Note{Heading(f), note})
		}
	}
	slices.SortStableFunc(sparse, func(a, b int) int { return cmp.Compare(ColumnReport(d, b).Empty, ColumnReport(d, a).Empty) })
	for _, i := range sparse[:min(len(sparse), maxSparse)] {
		q.Sparse = append(q.Sparse, Sparse{Heading(d.Fields[i]), Percent(ColumnReport(d, i).Empty, d.Records)})
	}
	q.Notes = q.Notes[:min(len(q.Notes), maxNotes)]
	return &q
}
