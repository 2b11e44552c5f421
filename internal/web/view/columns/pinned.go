package columns

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// pinnedCharts returns the questions in the descriptor of a dataset.
func pinnedCharts(d *herb.Dataset) (all []query.Params) {
	if d.Descriptor == nil {
		return nil
	}
	for _, c := range d.Descriptor.Charts {
		var ps query.Params
		for _, by := range c.By {
			ps = ps.WithValue(query.ParamBy, by)
		}
		all = append(all, ps.WithValue(query.ParamMeasure, c.Measure))
	}
	return all
}
