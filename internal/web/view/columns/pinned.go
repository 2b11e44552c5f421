package columns

import (
	"encoding/json"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// pinnedCharts returns the questions in the descriptor of a dataset. Malformed ones are ignored.
func pinnedCharts(d *herb.Dataset) (all []query.Params) {
	var parts struct {
		Resource struct {
			Herbarium struct {
				Charts []struct {
					By      json.RawMessage
					Measure string
				}
			}
		}
	}
	if json.Unmarshal(d.Descriptor, &parts) != nil {
		return nil
	}
	for _, c := range parts.Resource.Herbarium.Charts {
		by, one := []string(nil), ""
		if json.Unmarshal(c.By, &one) == nil {
			by = []string{one}
		} else {
			_ = json.Unmarshal(c.By, &by)
		}
		var ps query.Params
		for _, b := range by {
			ps = ps.WithValue(query.ParamBy, b)
		}
		if ps = ps.WithValue(query.ParamMeasure, c.Measure); len(ps) > 0 {
			all = append(all, ps)
		}
	}
	return all
}
