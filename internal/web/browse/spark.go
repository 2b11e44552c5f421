package browse

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/view/charts"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/maps"
	"herbarium/internal/web/view/state"
)

// paramSparkVersion in the URL of a spark makes it a different one for each version, so that
// browsers cache it.
const paramSparkVersion = "v"

// sparkLabel says what the small picture of a dataset shows; it is empty if there is none.
func sparkLabel(d *columns.Dataset) string {
	if len(d.Pairs) > 0 {
		return "map"
	}
	return charts.FirstLabel(d)
}

// spark serves the small picture of a dataset in the catalogue: a map or the first chart. It is an
// image that browsers load when it comes into view, so that the catalogue opens no datasets itself.
func (p *pictures) spark(w *httpapi.Page, r *http.Request, v datasetView) error {
	if v.Denied != nil {
		return v.Denied
	}
	_, err := v.Query.OnlyOfPage(query.ParamVersion, paramSparkVersion)
	if err != nil {
		return err
	}
	h := w.Header()
	v.cacheImage(h, v.Query.Get(paramSparkVersion))
	if len(v.columns.Pairs) > 0 {
		h.Set("Content-Type", "image/svg+xml")
		h.Set("Content-Security-Policy", "default-src 'none'")
		image, err := v.sparkDots(r.Context(), v.columns.Pairs[0])
		if err != nil {
			return err
		}
		return p.Execute(w, "catalogue", "sparkmap", image)
	}
	s, _, err := state.ParseState(p.DatasetPath(v.Ref), query.Split(""), v.columns)
	if err != nil {
		return err
	}
	s.Small = v.Version
	return p.drawChart(w, r, v, &s)
}

// sparkDots returns the small map of all rows.
func (v datasetView) sparkDots(ctx context.Context, pair columns.Pair) (dots maps.SparkDots, err error) {
	all, err := selectRows(nil, v.Fields)
	if err != nil {
		return dots, err
	}
	fit, err := v.fitMap(ctx, &state.State{}, pair, all, maps.SparkColumns)
	if err != nil {
		return dots, err
	}
	grid, err := v.Grid(ctx, fit.Grid)
	return maps.NewSparkDots(fit.Grid, grid), err
}

// cacheImage lets caches store an image without revalidation if its URL names the version that it
// shows, until its filters move with time, unless the image required a key.
func (v datasetView) cacheImage(h http.Header, version string) {
	if version == v.Version && !v.Access.NeedsKey() {
		age := 24 * time.Hour
		if at := v.Query.MovesAt(time.Now()); !at.IsZero() {
			age = min(age, time.Until(at))
		}
		h.Set("Cache-Control", "public, max-age="+strconv.Itoa(int(age.Seconds())))
	}
}
