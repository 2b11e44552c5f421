package browse

import (
	"context"
	"net/http"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/maps"
	"herbarium/internal/web/view/state"
)

func (p *Pages) browseMap(w *httpapi.Page, r *http.Request, v datasetView) error {
	if v.Denied != nil { // the description without values may have no coordinates
		return p.RequestKey(w, r, &v.DatasetView, r.URL.RawQuery, v.Denied)
	}
	pairs := v.columns.Pairs
	if len(pairs) == 0 {
		return herb.Errorf(herb.CodeNotFound, "dataset %s has no map, because it has no fields with latitudes and longitudes", v.Ref)
	}
	return p.serveRows(w, r, v, pairs)
}

// setMap counts the rows of a listing in the cells of a map that shows all of them.
func (p *Pages) setMap(ctx context.Context, page *rowsPage, v datasetView, req *query.Request, pairs []columns.Pair) error {
	at := maps.PairIndex(page.State, pairs)
	q, err := v.mapRequest(ctx, page.State, pairs[at], req, maps.MapColumns)
	if err != nil {
		return err
	}
	grid, err := v.mapGrid(ctx, pairs[at], q)
	if err != nil {
		return err
	}
	page.Map = maps.NewMap(page.State, pairs, at, q, grid, page.Head.Path, p.places())
	return nil
}

// mapRequest returns the request for the cells of a map that shows all rows of a listing, or the
// part that the state names.
func (v datasetView) mapRequest(ctx context.Context, s *state.State, pair columns.Pair, req *query.Request, columns int) (*query.GridRequest, error) {
	latitude, longitude, err := v.mapRanges(ctx, pair, req)
	if err != nil {
		return nil, err
	}
	return maps.NewMapRequest(v.columns, pair, latitude, longitude, req, columns, s.Bounds), nil
}

// mapRanges returns the ranges of the latitudes and longitudes of the rows of a listing.
func (v datasetView) mapRanges(ctx context.Context, pair columns.Pair, req *query.Request) (latitude, longitude query.Facet, err error) {
	if !pair.WKT {
		found, err := v.Facets(ctx, &query.FacetRequest{Request: req, Fields: []int{pair.Latitude, pair.Longitude}})
		if err != nil {
			return latitude, longitude, err
		}
		return found.Fields[0], found.Fields[1], nil
	}
	var low, high [2]float64
	n := 0
	_, err = v.geometries(ctx, pair.Latitude, req, func(x, y float64) {
		for axis, value := range [2]float64{x, y} {
			if n == 0 {
				low[axis], high[axis] = value, value
			}
			low[axis], high[axis] = min(low[axis], value), max(high[axis], value)
		}
		n++
	})
	if n > 0 {
		format := func(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }
		longitude.Min, longitude.Max = format(low[0]), format(high[0])
		latitude.Min, latitude.Max = format(low[1]), format(high[1])
	}
	return latitude, longitude, err
}

// mapGrid counts the rows of a listing in the cells of a map.
func (v datasetView) mapGrid(ctx context.Context, pair columns.Pair, q *query.GridRequest) (grid query.Grid, err error) {
	if !pair.WKT {
		return v.Grid(ctx, q)
	}
	counts := make([]int, q.Columns*q.Rows)
	grid.Total, err = v.geometries(ctx, pair.Latitude, q.Request, func(x, y float64) {
		if column, row, ok := q.CellOf(x, y); ok {
			counts[row*q.Columns+column]++
		}
	})
	grid.SetCells(q, counts)
	return grid, err
}
