package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"

	"herbarium/internal/changes"
	"herbarium/internal/herb"
)

// Changes yields the lines of changes.ndjson: how the records of two versions differ, for a query
// with filters. An empty to is the live version. A line is valid until the next one.
func (c *Client) Changes(ctx context.Context, ref herb.Ref, from, to, query string) iter.Seq2[[]byte, error] {
	params, err := url.ParseQuery(query)
	if err != nil {
		err = herb.Invalidf("%q is not a query: %v", query, err)
	} else {
		params.Add("_from", from)
		if to != "" {
			params.Add("_to", to)
		}
	}
	return func(yield func([]byte, error) bool) {
		if err != nil {
			yield(nil, err)
			return
		}
		body, err := c.stream(ctx, request{method: http.MethodGet, path: datasetPath(ref) + "/changes.ndjson",
			params: params})
		if err != nil {
			yield(nil, err)
			return
		}
		defer body.Close()
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, maxBody)
		var s changes.Summary
		n := 0
		for ; lines.Scan(); n++ {
			if n == 0 && json.Unmarshal(lines.Bytes(), &s) != nil {
				yield(nil, herb.Errorf(herb.CodeInternal, "the server returned unexpected changes; is it Herbarium?"))
				return
			}
			if !yield(lines.Bytes(), nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case err != nil:
			yield(nil, c.connectionError(ctx, err))
		case n != s.Total()+1:
			yield(nil, herb.Errorf(herb.CodeInternal, "the server returned %s, and announced %d",
				herb.Plural(max(n-1, 0), "change", "changes"), s.Total()))
		}
	}
}

// stream sends a request until the server responds to it, and returns the body of a successful
// response. The caller must close it.
func (c *Client) stream(ctx context.Context, r request) (body io.ReadCloser, err error) {
	got, err := c.retry(ctx, func() (reply, error) {
		resp, err := c.open(ctx, r)
		if err != nil {
			return reply{}, err
		}
		got := reply{status: resp.StatusCode, header: resp.Header}
		if got.status == http.StatusOK {
			body = resp.Body
			return got, nil
		}
		defer resp.Body.Close()
		got.body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody))
		if err != nil {
			return got, c.connectionError(ctx, err)
		}
		return got, nil
	})
	if err == nil && got.status != http.StatusOK {
		err = got.failure()
	}
	return body, err
}
