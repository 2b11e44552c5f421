package remote

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/versions"
)

// File is a file to be published.
type File struct {
	Ref        herb.Ref
	Content    *io.SectionReader
	Name       string            // whose extension helps to detect the format; may be empty
	Descriptor []byte            // in JSON or YAML; nil: that of the live version applies
	Params     map[string]string // of the request, such as _header
}

// Phases of a publish before those of the server.
const (
	phaseHash = "computing the digest"
	phaseSend = "uploading"
)

const (
	// waitForResult is how long the server holds the response to a file: long enough for small
	// files, and short, because the progress of larger ones is shown by their state.
	waitForResult = "wait=2"
	// pollInterval is the time between two requests for the state of a publish.
	pollInterval = time.Second
)

// Publish sends a file and waits until the server has published it. The result and the error are
// those of a publish on the machine of the server: herb.CodeRejected means that it was rejected.
func (c *Client) Publish(ctx context.Context, f File, report func(progress.Progress)) (versions.Result, error) {
	steps := progress.New(report)
	body, contentType := f.body()
	digest, err := body.digest(steps.Bytes(phaseHash))
	if err != nil {
		return versions.Result{}, err
	}
	r := request{
		method: http.MethodPut, path: datasetPath(f.Ref) + "/source", params: url.Values{}, size: body.size(),
		header: map[string]string{"Content-Digest": "sha-256=:" + digest + ":", "Prefer": waitForResult,
			"Content-Type": contentType},
		body: func() io.Reader { return body.reader(steps.Bytes(phaseSend)) },
	}
	if f.Descriptor == nil && f.Name != "" { // a form has the name
		r.header["Content-Disposition"] = mime.FormatMediaType("attachment", map[string]string{"filename": f.Name})
	}
	for name, value := range f.Params {
		r.params.Set(name, value)
	}
	got, err := c.retry(ctx, func() (reply, error) { // also if the server stops during the publish
		got, err := c.send(ctx, r)
		if err == nil && got.status == http.StatusAccepted {
			return c.follow(ctx, got, steps)
		}
		return got, err
	})
	if err != nil {
		return versions.Result{}, err
	}
	return resultOf(got)
}

// datasetPath returns the path of a dataset in the API.
func datasetPath(ref herb.Ref) string { return "/api/v1/" + ref.String() }

// follow waits for the end of a publish and returns the reply that its request would have had.
func (c *Client) follow(ctx context.Context, got reply, steps *progress.Reporter) (reply, error) {
	for {
		var state struct {
			ID       string             `json:"id"`
			Status   int                `json:"status"`
			Progress *progress.Progress `json:"progress"`
			Result   json.RawMessage    `json:"result"`
		}
		if err := got.decode(&state); err != nil {
			return got, err
		}
		if state.Status != 0 {
			return reply{status: state.Status, header: got.header, body: state.Result}, nil
		}
		if p := state.Progress; p != nil {
			steps.Update(p.Phase, func(a *progress.Progress) {
				a.Step, a.Steps, a.Done, a.Total, a.Records = p.Step, p.Steps, p.Done, p.Total, p.Records
			})
		}
		// The address is built from the identifier: that in Location may be of another host, which
		// must not get the key.
		path := "/api/v1/" + herb.PublishesNamespace + "/" + url.PathEscape(state.ID)
		err := c.opts.Pause(ctx, pollInterval)
		if err == nil {
			got, err = c.do(ctx, request{method: http.MethodGet, path: path})
		}
		switch {
		case ctx.Err() != nil:
			return got, herb.Wrap(herb.CodeUnavailable, context.Cause(ctx),
				"the server goes on with the publish; its state is at %s%s", c.base, path)
		case err != nil:
			return got, err
		case got.status != http.StatusOK:
			return got, nil
		}
	}
}

// resultOf returns the result of a publish that has ended.
func resultOf(got reply) (versions.Result, error) {
	var err error
	if got.status != http.StatusOK && got.status != http.StatusCreated {
		err = got.failure()
	}
	var body struct {
		versions.Result
		Error int `json:"error"` // hides the message of the result, which is in another member
	}
	if failed := got.decode(&body); err == nil {
		err = failed
	}
	return body.Result, err
}

// sendBody is the body of a request that can be read several times: the file, with the other parts
// of a form before and after it.
type sendBody struct {
	before, after string
	content       *io.SectionReader
}

// body returns the body of a file, and its media type.
func (f File) body() (b sendBody, contentType string) {
	b.content = f.Content
	if f.Descriptor == nil {
		return b, "application/octet-stream"
	}
	boundary := rand.Text()
	file := map[string]string{"name": "file"}
	if f.Name != "" {
		file["filename"] = f.Name
	}
	part := func(disposition map[string]string) string {
		return "--" + boundary + "\r\nContent-Disposition: " +
			mime.FormatMediaType("form-data", disposition) + "\r\n\r\n"
	}
	b.before = part(map[string]string{"name": "descriptor"}) + string(f.Descriptor) + "\r\n" + part(file)
	b.after = "\r\n--" + boundary + "--\r\n"
	return b, "multipart/form-data; boundary=" + boundary
}

func (b sendBody) size() int64 { return int64(len(b.before)) + b.content.Size() + int64(len(b.after)) }

// reader returns a reader of the body that reports how much was read.
func (b sendBody) reader(report func(done, total int64)) io.Reader {
	content := io.NewSectionReader(b.content, 0, b.content.Size())
	return &reportingReader{
		Reader: io.MultiReader(strings.NewReader(b.before), content, strings.NewReader(b.after)), total: b.size(),
		report: report,
	}
}

// digest returns the SHA-256 digest of the body in Base64.
func (b sendBody) digest(report func(done, total int64)) (string, error) {
	sum := sha256.New()
	switch n, err := io.Copy(sum, b.reader(report)); {
	case err != nil:
		return "", fmt.Errorf("%w: %w", errLocal, err)
	case n != b.size():
		return "", herb.Invalidf("the file became shorter while it was read; publish it again when it is complete")
	}
	return base64.StdEncoding.EncodeToString(sum.Sum(nil)), nil
}

// reportingReader reports how much of a body was read.
type reportingReader struct {
	io.Reader
	done, total int64
	report      func(done, total int64)
}

// Read implements io.Reader. An error is one of the file, which another attempt would not change.
func (r *reportingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.done += int64(n)
	r.report(r.done, r.total)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", errLocal, err)
	}
	return n, err
}
