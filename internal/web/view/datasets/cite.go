package datasets

import (
	"herbarium/internal/herb"
	"herbarium/internal/web/view/citation"
)

// Cite returns the citations of a version of a dataset, as far as the visitor may see it. label is
// the version or its label, empty if rows are added one by one; permalink is its absolute address.
func Cite(d *herb.Dataset, label, permalink string) []citation.Citation {
	about := ReadDescriptor(d)
	s := citation.Source{Ref: d.Ref, Title: Title(d), Authors: about.Authors, Version: label, Published: d.Published,
		URL: permalink}
	if about.Publisher != nil {
		s.Publisher = about.Publisher.Name
	}
	if d.Report != nil {
		s.Hash = d.Report.Cells
	}
	return citation.All(s)
}
