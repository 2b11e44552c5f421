package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"

	"herbarium/tools/clients/generated"
)

const (
	namespace = "sent"
	name      = "oapi-codegen"
	header    = "id,name\n"
	records   = header + "1,Rose\n2,Fern\n"
	octets    = "application/octet-stream"
)

// outcome is what is reported of the result of a publish.
func outcome(results ...*generated.Published) any {
	for _, r := range results {
		if r != nil {
			return map[string]any{"status": r.Status, "records": r.Records}
		}
	}
	return nil
}

func describe(title string) map[string]any {
	return map[string]any{"resources": []any{
		map[string]any{"path": "plants.csv", "title": title, "schema": map[string]any{
			"primaryKey": []string{"id"}, "fields": []any{map[string]any{"name": "id"}, map[string]any{"name": "name"}},
		}}}}
}

// form returns a form with a file and a descriptor, and its content type.
func form(content string, descriptor any) (io.Reader, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, _ := w.CreateFormFile("file", "plants.csv") // a buffer does not fail
	_, _ = io.WriteString(part, content)
	encoded, _ := json.Marshal(descriptor)
	_ = w.WriteField("descriptor", string(encoded))
	_ = w.Close()
	return &b, w.FormDataContentType()
}

// publishing publishes a dataset, changes it and removes it.
func (c caller) publishing() {
	key := func(_ context.Context, r *http.Request) error {
		r.Header.Set("X-API-Key", c.key)
		return nil
	}
	put, err := c.client.PublishSourceWithBodyWithResponse(c.ctx, namespace, name, nil, octets,
		strings.NewReader(records), key)
	c.report("publishSource", outcome(put.JSON201), put.Body, err)
	body, contentType := form(records+"3,Moss\n", describe("Plants"))
	sent, err := c.client.PublishFormWithBodyWithResponse(c.ctx, namespace, name, nil, contentType, body, key)
	c.report("publishForm", outcome(sent.JSON200), sent.Body, err)
	changed, err := c.client.ChangeSourceWithBodyWithResponse(c.ctx, namespace, name,
		&generated.ChangeSourceParams{UnderscoreMode: "append"}, octets, strings.NewReader(header+"4,Ivy\n"), key)
	c.report("changeSource", outcome(changed.JSON200), changed.Body, err)
	source, err := c.client.GetSourceWithResponse(c.ctx, namespace, name, nil, key)
	c.report("getSource", string(source.Body), source.Body, err)
	descriptor, err := c.client.GetDescriptorWithResponse(c.ctx, namespace, name, nil, key)
	c.report("getDescriptor", descriptor.JSON200, descriptor.Body, err)
	described, err := c.client.PublishDescriptorWithResponse(c.ctx, namespace, name, nil, describe("All plants"), key)
	c.report("publishDescriptor", outcome(described.JSON200), described.Body, err)

	versions := c.versions(key)
	var listed []any
	for _, v := range versions {
		listed = append(listed, map[string]any{"records": v.Records, "live": v.Live})
	}
	c.report("listVersions", listed, nil, nil)
	from := versions[2].Version
	changes, err := c.client.ListChangesWithResponse(c.ctx, namespace, name,
		&generated.ListChangesParams{UnderscoreFrom: from}, key)
	var ops []any
	for _, change := range changes.JSON200.Data {
		ops = append(ops, change.Op)
	}
	c.report("listChanges", map[string]any{"ops": ops, "added": changes.JSON200.Meta.Added}, changes.Body, err)
	lines, err := c.client.ExportChangesNDJSONWithResponse(c.ctx, namespace, name,
		&generated.ExportChangesNDJSONParams{UnderscoreFrom: from}, key)
	c.report("exportChangesNDJSON", strings.Count(string(lines.Body), "\n")+1, lines.Body, err)
	table, err := c.client.ExportChangesCSVWithResponse(c.ctx, namespace, name,
		&generated.ExportChangesCSVParams{UnderscoreFrom: from}, key)
	c.report("exportChangesCSV", string(table.Body), table.Body, err)
	report, err := c.client.GetReportWithResponse(c.ctx, namespace, name,
		&generated.GetReportParams{UnderscoreVersion: &versions[3].Version}, key)
	c.report("getReport", report.JSON200.Report.Rows, report.Body, err)
	to := versions[2].Version
	switched, err := c.client.RollbackDatasetWithResponse(c.ctx, namespace, name, nil,
		generated.RollbackDatasetJSONRequestBody{To: &to}, key)
	c.report("rollbackDataset", switched.JSON200.Version == to, switched.Body, err)
	state, err := c.publishAsync(key)
	c.report("getPublish", state, nil, err)
	versions = c.versions(key)
	oldest := versions[len(versions)-1].Version
	labeled, err := c.client.LabelVersionWithResponse(c.ctx, namespace, name, oldest, "2026-Q1", nil, key)
	c.report("labelVersion", labeled.JSON200.Label, labeled.Body, err)
	unlabeled, err := c.client.UnlabelVersionWithResponse(c.ctx, namespace, name, "2026-Q1", "2026-Q1", nil, key)
	c.report("unlabelVersion", map[int]any{http.StatusNoContent: "removed"}[unlabeled.StatusCode()],
		unlabeled.Body, err)
	withdrawn, err := c.client.WithdrawVersionWithResponse(c.ctx, namespace, name, oldest,
		&generated.WithdrawVersionParams{IfMatch: "*"}, key)
	c.report("withdrawVersion", map[int]any{http.StatusNoContent: "withdrawn"}[withdrawn.StatusCode()],
		withdrawn.Body, err)
	for _, v := range versions {
		if v.Live {
			removed, err := c.client.RemoveDatasetWithResponse(c.ctx, namespace, name,
				&generated.RemoveDatasetParams{IfMatch: `"` + v.Version + `"`}, key)
			c.report("removeDataset", map[int]any{http.StatusNoContent: "removed"}[removed.StatusCode()],
				removed.Body, err)
		}
	}
}

// versions lists the versions of the dataset.
func (c caller) versions(key generated.RequestEditorFn) []generated.DatasetVersion {
	listed, err := c.client.ListVersionsWithResponse(c.ctx, namespace, name, nil, key)
	if err != nil || listed.JSON200 == nil {
		c.report("listVersions", nil, listed.Body, err)
		return nil
	}
	return listed.JSON200.Versions
}

// publishAsync publishes a file without waiting for the result, and returns its final state.
func (c caller) publishAsync(key generated.RequestEditorFn) (any, error) {
	content := records + "3,Moss\n"
	for {
		content += fmt.Sprintf("%d,Oak\n", strings.Count(content, "\n"))
		put, err := c.client.PublishSourceWithBodyWithResponse(c.ctx, namespace, name,
			&generated.PublishSourceParams{Prefer: new("respond-async")}, octets, strings.NewReader(content), key)
		if err != nil {
			return nil, err
		}
		for put.JSON202 != nil { // else it had ended already
			state, err := c.client.GetPublishWithResponse(c.ctx, put.JSON202.Id, nil, key)
			if err != nil {
				return nil, err
			}
			if state.JSON200 == nil || state.JSON200.Status != nil {
				return state.JSON200.State, nil
			}
		}
	}
}
