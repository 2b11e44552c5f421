package remote

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"herbarium/internal/herb"
)

// Describe returns the live version of a dataset. Its report is nil if the key may not read the
// records.
func (c *Client) Describe(ctx context.Context, ref herb.Ref) (herb.Dataset, error) {
	got, err := c.do(ctx, request{method: http.MethodGet, path: datasetPath(ref)})
	if err != nil {
		return herb.Dataset{}, err
	}
	if got.status != http.StatusOK {
		return herb.Dataset{}, got.failure()
	}
	var body struct {
		Access  herb.Access `json:"access"`
		Records int         `json:"records"`
		Version string      `json:"version"`
		herb.Details
	}
	err = got.decode(&body)
	return herb.Dataset{Ref: ref, Access: body.Access, Records: body.Records, Version: body.Version, Details: body.Details}, err
}

// Rollback makes a kept version live and returns it; the one before the live one if version is
// empty. The request names the live version, so that it changes nothing if it is sent again after
// its response was lost.
func (c *Client) Rollback(ctx context.Context, ref herb.Ref, version string, allowBreaking bool) (string, error) {
	live, err := c.Describe(ctx, ref)
	if err != nil {
		return "", err
	}
	r := request{method: http.MethodPost, path: datasetPath(ref) + "/rollback", params: url.Values{}, header: ifMatch(live)}
	if allowBreaking {
		r.params.Set("_allow_breaking", "true")
	}
	if version != "" {
		body, _ := json.Marshal(map[string]string{"to": version}) // a string can be encoded
		r.header["Content-Type"] = "application/json"
		r.body, r.size = func() io.Reader { return strings.NewReader(string(body)) }, int64(len(body))
	}
	got, err := c.do(ctx, r)
	if err != nil {
		return "", err
	}
	if got.status != http.StatusOK {
		return "", got.failure()
	}
	var body struct{ Version string }
	err = got.decode(&body)
	return body.Version, err
}

// Remove removes a dataset with all its versions, unless another version than live is live.
func (c *Client) Remove(ctx context.Context, live herb.Dataset) error {
	got, err := c.do(ctx, request{method: http.MethodDelete, path: datasetPath(live.Ref), header: ifMatch(live)})
	if err == nil && got.status != http.StatusNoContent {
		err = got.failure()
	}
	return err
}

func ifMatch(live herb.Dataset) map[string]string {
	return map[string]string{"If-Match": `"` + live.Version + `"`}
}
