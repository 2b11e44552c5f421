package browse

import (
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/citation"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/state"
)

// cite returns the citations of the version that a page shows.
func (p *datasetPages) cite(r *http.Request, v datasetView) []citation.Citation {
	version := v.Version
	if v.Ref == herb.PlantsRef { // of which there are no versions
		version = ""
	}
	permalink := state.Join(p.Origin(r)+site.PathDatasets+v.Ref.String(),
		query.Params{}.WithValue(query.ParamVersion, version).Encode())
	return datasets.Cite(&v.Dataset, version, permalink)
}
