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

// History returns the versions of a dataset, and the name of the live one.
func (c *Client) History(ctx context.Context, ref herb.Ref) (list versions.SummaryList, live string, err error) {
	if err := c.get(ctx, datasetPath(ref)+"/versions", nil, &list); err != nil {
		return list, "", err
	}
	i := slices.IndexFunc(list.Versions, func(v versions.Summary) bool { return v.Live })
	if i < 0 {
		return list, "", herb.Errorf(herb.CodeInternal, "the server returned no live version of %s; is it Herbarium?",
			ref)
	}
	return list, list.Versions[i].Version, nil
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
		Details: herb.Details{Report: body.Report, PrimaryKey: body.PrimaryKey, InferredKey: body.Inferred},
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
	r := request{method: http.MethodPost, path: datasetPath(ref) + "/rollback", params: url.Values{},
		header: ifMatch(live)}
	for _, c := range given {
		r.params.Set(c.Parameter(), "true")
	}
	if version != "" {
		body, _ := json.Marshal(map[string]string{"to": version}) // a string can be encoded
		r.header["Content-Type"] = "application/json"
		r.body, r.size = func() io.Reader { return strings.NewReader(string(body)) }, int64(len(body))
	}
	return c.changeVersion(ctx, r)
}

// changeVersion sends a request that changes which version is live or what it is called, and
// returns the name of the version.
func (c *Client) changeVersion(ctx context.Context, r request) (string, error) {
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

// Label gives a label to a version, which is named by its name or another label, and returns the
// name of the version.
func (c *Client) Label(ctx context.Context, ref herb.Ref, version, label string) (string, error) {
	return c.changeVersion(ctx, request{method: http.MethodPut, path: labelPath(ref, version, label)})
}

// Unlabel removes a label from a version.
func (c *Client) Unlabel(ctx context.Context, ref herb.Ref, version, label string) error {
	return c.delete(ctx, request{path: labelPath(ref, version, label)})
}

// Withdraw deletes a version that must not be read any more, unless another version than live is
// live.
func (c *Client) Withdraw(ctx context.Context, ref herb.Ref, version, live string) error {
	return c.delete(ctx, request{path: versionPath(ref, version), header: ifMatch(live)})
}

// Remove removes a dataset with all its versions, unless another version than live is live.
func (c *Client) Remove(ctx context.Context, ref herb.Ref, live string) error {
	return c.delete(ctx, request{path: datasetPath(ref), header: ifMatch(live)})
}

// delete sends a request that removes something.
func (c *Client) delete(ctx context.Context, r request) error {
	r.method = http.MethodDelete
	got, err := c.do(ctx, r)
	if err == nil && got.status != http.StatusNoContent {
		err = got.failure()
	}
	return err
}

func versionPath(ref herb.Ref, version string) string {
	return datasetPath(ref) + "/versions/" + url.PathEscape(version)
}

func labelPath(ref herb.Ref, version, label string) string {
	return versionPath(ref, version) + "/labels/" + url.PathEscape(label)
}

func ifMatch(live string) map[string]string { return map[string]string{"If-Match": `"` + live + `"`} }
