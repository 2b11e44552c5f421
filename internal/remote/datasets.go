package remote

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
	"herbarium/internal/versions"
)

// History returns the kept versions of a dataset, newest first, and the name of the live one.
func (c *Client) History(ctx context.Context, ref herb.Ref) (history []versions.Summary, live string, err error) {
	var body struct {
		Versions []versions.Summary `json:"versions"`
	}
	if err := c.get(ctx, datasetPath(ref)+"/versions", nil, &body); err != nil {
		return nil, "", err
	}
	i := slices.IndexFunc(body.Versions, func(v versions.Summary) bool { return v.Live })
	if i < 0 {
		return nil, "", herb.Errorf(herb.CodeInternal, "the server returned no live version of %s; is it Herbarium?", ref)
	}
	return body.Versions, body.Versions[i].Version, nil
}

// Report returns a version of a dataset with its import report; the live one if version is empty.
func (c *Client) Report(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error) {
	params := url.Values{}
	if version != "" {
		params.Set("_version", version)
	}
	var body publish.VersionReport
	err := c.get(ctx, datasetPath(ref)+"/report", params, &body)
	return herb.Dataset{
		Ref: ref, Version: body.Version, Published: body.Published, Records: body.Records,
		Details: herb.Details{Report: body.Report, PrimaryKey: body.PrimaryKey},
	}, err
}

// get decodes the body of a successful response.
func (c *Client) get(ctx context.Context, path string, params url.Values, into any) error {
	got, err := c.do(ctx, request{method: http.MethodGet, path: path, params: params})
	switch {
	case err != nil:
		return err
	case got.status != http.StatusOK:
		return got.failure()
	}
	return got.decode(into)
}

// Rollback makes a kept version live and returns it; the one before the live one if version is
// empty. The request names the live version, so that it changes nothing if it is sent again after
// its response was lost.
func (c *Client) Rollback(ctx context.Context, ref herb.Ref, version string, given ...herb.Consent) (string, error) {
	_, live, err := c.History(ctx, ref)
	if err != nil {
		return "", err
	}
	r := request{method: http.MethodPost, path: datasetPath(ref) + "/rollback", params: url.Values{}, header: ifMatch(live)}
	for _, c := range given {
		r.params.Set(c.Parameter(), "true")
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
func (c *Client) Remove(ctx context.Context, ref herb.Ref, live string) error {
	got, err := c.do(ctx, request{method: http.MethodDelete, path: datasetPath(ref), header: ifMatch(live)})
	if err == nil && got.status != http.StatusNoContent {
		err = got.failure()
	}
	return err
}

func ifMatch(live string) map[string]string { return map[string]string{"If-Match": `"` + live + `"`} }
