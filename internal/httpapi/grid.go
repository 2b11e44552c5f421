package httpapi

import (
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

const gridPattern = "/api/v1/{namespace}/{dataset}/grid"

// gridBody is the response to a grid request.
type gridBody struct {
	Data [][3]int `json:"data"` // column, row and count of each cell that is not empty
	Meta gridMeta `json:"meta"`
}

type gridMeta struct {
	Total   int        `json:"total"`
	Inside  int        `json:"inside"`
	Columns int        `json:"columns"`
	Rows    int        `json:"rows"`
	Bounds  [4]float64 `json:"bounds"`
}

// grid handles grid requests.
func (a *API) grid(w *response, r *http.Request) error {
	view, req, err := openRequest(a, w, r, r.URL.RawQuery, gridPattern, func(raw string, d herb.Dataset) (*query.GridRequest, error) {
		return query.ParseGrid(raw, d.Fields)
	})
	if err != nil {
		return err
	}
	defer view.Release()
	found, err := view.Grid(r.Context(), req)
	if err != nil {
		return err
	}
	b := req.Bounds
	body := gridBody{
		Data: make([][3]int, len(found.Cells)),
		Meta: gridMeta{found.Total, found.Inside, req.Columns, req.Rows, [4]float64{b.MinX, b.MinY, b.MaxX, b.MaxY}},
	}
	for i, c := range found.Cells {
		body.Data[i] = [3]int{c.Column, c.Row, c.Count}
	}
	return w.sendJSON(r, body)
}
