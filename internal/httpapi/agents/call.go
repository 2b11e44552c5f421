package agents

import (
	"net/http"
	"net/url"
	"strings"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// toolCall is one call of a tool.
type toolCall struct {
	*Options
	w    *response.Writer
	r    *http.Request
	args *arguments
}

// open opens the dataset that the call names, in the version that it names, for a request to the
// API with these parameters. The caller must release the view.
func (c *toolCall) open(params query.Params) (gate.DatasetView, error) {
	ref, err := herb.ParseRef(herb.Clip(c.args.dataset, response.MaxShown))
	if err != nil {
		return gate.DatasetView{}, err
	}
	request := c.log(params.WithValue(query.ParamVersion, c.args.version))
	return c.Gate.OpenRecords(c.w, c.r, ref, request, gate.DenyAgent)
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
	return withQuery(c.Origin(c.r)+"/api/v1/"+v.Ref.String()+path, params.WithValue(query.ParamVersion, versionOf(v)))
}

// versionOf returns the version that repeats a result; empty for the plants, which have none.
func versionOf(v gate.DatasetView) string {
	if v.Ref == herb.PlantsRef {
		return ""
	}
	return v.Version
}

// withQuery returns an address with parameters. Those characters that addresses may have are not
// escaped, so that models and people can read them.
func withQuery(address string, params query.Params) string {
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
		if path := "/data." + f; c.Serves("/api/v1/"+v.Ref.String()+path) && (f == "csv" || v.Ref != herb.PlantsRef) {
			files = append(files, c.permalink(v, path, nil))
		}
	}
	b.note("whole dataset as a file: %s", strings.Join(files, " "))
}

// addRecords calls add with the fields and values of each record of a page, until it returns false.
func (c *toolCall) addRecords(v gate.DatasetView, req *query.Request, page query.Page, add func(names, row []string) bool) error {
	release, err := c.w.Reserve(c.r.Context(), export.RecordMemory(v.Dataset, req))
	if err != nil {
		return err
	}
	defer release()
	fields := req.Fields()
	names := fieldNames(fields)
	selected := req.SelectStream(query.Stream{Records: func(yield func([]byte, error) bool) {
		for _, record := range page.Records {
			if !yield(record, c.r.Context().Err()) {
				return
			}
		}
	}}, nil)
	decoder := herb.NewRecordDecoder(fields)
	for record, err := range selected.Records {
		row := make([]string, 0, len(fields))
		if err == nil {
			err = decoder.Decode(record, func(value []byte) { row = append(row, string(value)) })
		}
		if err != nil {
			return err
		}
		if !add(names, row) {
			return nil
		}
	}
	return nil
}

// keyPath returns the path of a record below its dataset.
func keyPath(key []string) string {
	var b strings.Builder
	b.WriteString("/data")
	for _, value := range key {
		b.WriteString("/" + url.PathEscape(value))
	}
	return b.String()
}

func fieldNames(fields []herb.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
