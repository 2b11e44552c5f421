package agents

import (
	"net/http"
	"strings"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// toolCall is one call of a tool.
type toolCall struct {
	*Options
	w    *response.Writer
	r    *http.Request
	tool tool
	args arguments
}

// params returns the parameters of the request to the API that are arguments of the call.
func (c *toolCall) params() (params query.Params) {
	for _, in := range c.tool.inputs {
		params = append(params, in.params(c.args[in.name])...)
	}
	return params
}

// read opens the dataset that the call names, in the version that it names, for a request to the
// API with these parameters, and has fill write the result. path is that of the permalink, below
// the dataset.
func (c *toolCall) read(
	path string, params query.Params, fill func(gate.DatasetView, *block) error,
) (*block, error) {
	ref, err := herb.ParseRef(herb.Clip(c.args.text("dataset"), response.MaxShown))
	if err != nil {
		return nil, err
	}
	request := c.log(params.WithValue(query.ParamVersion, c.args.text("version")))
	view, err := c.Gate.OpenRecords(c.w, c.r, ref, request, gate.DenyAgent)
	if err != nil {
		return nil, err
	}
	defer view.Release()
	b := newBlock(c.permalink(view, path, params), versionOf(view))
	return b, fill(view, b)
}

// log has the log name the parameters of the request to the API, and returns its query string.
// They contain no key: checkMessage rejects it.
func (c *toolCall) log(params query.Params) query.String {
	c.w.Call.Query = query.Split(params.Encode())
	return c.w.Call.Query
}

// permalink returns the address of what a call has read: a path below the dataset with the
// parameters and the version. The key is never part of it.
func (c *toolCall) permalink(v gate.DatasetView, path string, params query.Params) string {
	return c.address("/"+v.Ref.String()+path, params.WithValue(query.ParamVersion, versionOf(v)))
}

// versionOf returns the version that repeats a result; empty for the plants, which have none.
func versionOf(v gate.DatasetView) string {
	if v.Ref == herb.PlantsRef {
		return ""
	}
	return v.Version
}

// address returns an address of the API. Those characters that addresses may have are not escaped,
// so that models and people can read them.
func (c *toolCall) address(path string, params query.Params) string {
	address := c.Origin(c.r) + "/api/v1" + path
	if len(params) == 0 {
		return address
	}
	readable := strings.NewReplacer("%5B", "[", "%5D", "]", "%2C", ",", "%3A", ":", "%2F", "/", "%3D", "=")
	return address + "?" + readable.Replace(params.Encode())
}

// wholeDataset notes the addresses of all records as a file.
func (c *toolCall) wholeDataset(b *block, v gate.DatasetView) {
	var files []string
	for _, f := range []string{"parquet", "csv"} { // the best for programs first
		path := "/data." + f
		if c.Serves("/api/v1/"+v.Ref.String()+path) && (f == "csv" || v.Ref != herb.PlantsRef) {
			files = append(files, c.permalink(v, path, nil))
		}
	}
	b.note("whole dataset as a file: %s", strings.Join(files, " "))
}

// addRecords adds a table of a page of records.
func (c *toolCall) addRecords(b *block, title string, v gate.DatasetView, found operations.Records) (added int,
	err error) {
	if found.Request.Matches {
		return b.addTable(title, append(found.Names(), columnMatches), c.rowsWithMatches(v, found))
	}
	return b.addTable(title, found.Names(), found.Rows(c.r.Context(), &v.View))
}
