package browse

import (
	"context"
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/maps"
	"herbarium/internal/web/view/state"
)

func (p *rowsPages) browseMap(w *httpapi.Page, r *http.Request, v datasetView) error {
	if v.Denied != nil { // the description without values may have no coordinates
		return p.RequestKey(w, r, &v.DatasetView, r.URL.RawQuery, v.Denied)
	}
	pairs := v.columns.Pairs
	if len(pairs) == 0 {
		return herb.Errorf(herb.CodeNotFound,
			"dataset %s has no map, because it has no fields with latitudes and longitudes", v.Ref)
	}
	return p.serveRows(w, r, v, pairs)
}

// setMap counts the rows of a listing in the cells of a map that shows most of them.
func (p *rowsPages) setMap(ctx context.Context, page *rowsPage, v datasetView, req *query.Request,
	pairs []columns.Pair) error {
	at := maps.PairIndex(page.State, pairs)
	fit, err := v.fitMap(ctx, page.State, pairs[at], req, maps.MapColumns)
	if err != nil {
		return err
	}
	grid, err := v.Grid(ctx, fit.Grid)
	if err != nil {
		return err
	}
	if fit.All != nil {
		all := query.GridRequest{Request: fit.Grid.Request, X: fit.Grid.X, Y: fit.Grid.Y, Columns: 1, Rows: 1,
			Bounds: *fit.All}
		counted, err := v.Grid(ctx, &all)
		if err != nil {
			return err
		}
		fit.InAll = counted.Inside
	}
	scales, err := v.mapScales(ctx, page.State, grid.Total)
	if err != nil {
		return err
	}
	page.Map = maps.NewMap(page.State, pairs, at, fit, grid, scales, page.Head.Path, p.places())
	return nil
}

// mapScales returns the scales of the points of a map of a number of rows.
func (v datasetView) mapScales(ctx context.Context, s *state.State, rows int) (scales maps.Scales, err error) {
	all, err := selectRows(nil, v.Fields)
	if err != nil {
		return scales, err
	}
	q := maps.ScaleRequest(s, all)
	if q == nil {
		return scales, nil
	}
	found, err := v.Facets(ctx, q)
	if err != nil {
		return scales, err
	}
	var classes query.Aggregate
	if q := maps.ClassRequest(s, all); q != nil {
		classes, err = v.Aggregate(ctx, q)
	}
	return maps.NewScales(s, found, classes, rows), err
}

// fitMap returns the part of the world that shows the rows of a listing, or the part that the state
// names.
func (v datasetView) fitMap(ctx context.Context, s *state.State, pair columns.Pair, req *query.Request,
	columns int) (maps.Fit, error) {
	measure := v.measureCoordinates
	if pair.IsOneField() {
		measure = v.measurePositions
	}
	latitude, longitude, err := measure(ctx, pair, req)
	return maps.NewFit(v.columns, pair, latitude, longitude, req, columns, s.Bounds), err
}

// measureCoordinates returns the distributions of the latitudes and longitudes of the rows of a
// listing.
func (v datasetView) measureCoordinates(ctx context.Context, pair columns.Pair, req *query.Request) (latitude,
	longitude maps.Spread, err error) {
	fields := []int{pair.Latitude, pair.Longitude}
	found, err := v.Facets(ctx, &query.FacetRequest{Request: req, Fields: fields, Buckets: query.MaxBuckets})
	if err != nil {
		return latitude, longitude, err
	}
	for i, s := range []*maps.Spread{&latitude, &longitude} {
		*s = maps.NewSpread(&v.Fields[fields[i]], found.Fields[i])
		q := s.CutRequest(req, fields[i])
		if q == nil {
			continue
		}
		grid, err := v.Grid(ctx, q)
		if err != nil {
			return latitude, longitude, err
		}
		s.Cut(q, grid)
	}
	return latitude, longitude, nil
}

// measurePositions returns the distributions of the positions of the rows of a listing. Each
// request counts them in strips of the part of the world that the one before has found.
func (v datasetView) measurePositions(ctx context.Context, pair columns.Pair, req *query.Request) (latitude,
	longitude maps.Spread, err error) {
	at := maps.RequestOf(pair, req)
	for axis, s := range map[maps.Axis]*maps.Spread{maps.Latitudes: &latitude, maps.Longitudes: &longitude} {
		const most = 4 // requests: strips of the last one are narrower than positions
		q := axis.WorldRequest(at)
		for i := 0; q != nil && i < most; i++ {
			grid, err := v.Grid(ctx, q)
			if err != nil {
				return latitude, longitude, err
			}
			*s, q = maps.NewPositionSpread(axis, q, grid)
		}
		q = s.CutPositions(axis, at)
		if q != nil {
			grid, err := v.Grid(ctx, q)
			if err != nil {
				return latitude, longitude, err
			}
			s.Cut(q, grid)
		}
	}
	return latitude, longitude, nil
}
