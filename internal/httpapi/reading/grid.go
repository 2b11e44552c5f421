package reading

import (
	"encoding/json"
	"net/http"
	"strconv"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/query"
)

func (h *Handlers) Grid(w *response.Writer, r *http.Request, view gate.DatasetView) error {
	req, err := view.Query.Grid(view.Fields)
	if err != nil || w.NotModified(r, response.EntityTag(w.Path, "?"+req.Request.ResultKey(), view.Version,
		response.ContentJSON)) {
		return err
	}
	found, release, err := operations.Grid(r.Context(), &view.View, req)
	if err != nil {
		return err
	}
	defer release()
	words, err := view.Words(req.Request)
	if err != nil {
		return err
	}
	body := w.NewBuffer(r.Context())
	defer body.Free()
	if err := writeGrid(body, found, req, words); err != nil {
		return err
	}
	release()
	w.Send(r, http.StatusOK, response.ContentJSON, body.Bytes())
	return nil
}

// gridMeta is the member meta of the response to a grid request.
type gridMeta struct {
	Total    int               `json:"total"`
	Inside   int               `json:"inside"`
	Columns  int               `json:"columns"`
	Rows     int               `json:"rows"`
	Bounds   [4]float64        `json:"bounds"`
	Levels   []int             `json:"levels"`
	Resolved map[string]string `json:"resolved,omitempty"`
	Words    query.Words       `json:"words,omitempty"`
}

// writeGrid writes the response to a grid request: column, row and count of each cell that is not
// empty, and meta. There may be tens of thousands of cells, so they are not encoded as a whole.
func writeGrid(out *response.Buffer, found query.Grid, req *query.GridRequest, words query.Words) error {
	b := req.Bounds
	meta, err := json.Marshal(gridMeta{found.Total, found.Inside, req.Columns, req.Rows,
		[4]float64{b.MinX, b.MinY, b.MaxX, b.MaxY}, found.Levels(), req.Request.Resolved(), words})
	if err == nil {
		_, err = out.WriteString(`{"data":[`)
	}
	var cell []byte
	for i, c := range found.Cells {
		cell = cell[:0]
		if i > 0 {
			cell = append(cell, ',')
		}
		cell = strconv.AppendInt(append(cell, '['), int64(c.Column), 10)
		cell = strconv.AppendInt(append(cell, ','), int64(c.Row), 10)
		cell = append(strconv.AppendInt(append(cell, ','), int64(c.Count), 10), ']')
		if err == nil {
			_, err = out.Write(cell)
		}
	}
	if err == nil {
		_, err = out.WriteString(`],"meta":`)
	}
	if err == nil {
		_, err = out.Write(append(meta, '}'))
	}
	return err
}
