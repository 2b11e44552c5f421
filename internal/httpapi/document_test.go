package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// apiDocument validates requests and responses against an OpenAPI document. It is safe for
// concurrent use.
type apiDocument struct {
	root map[string]any
	mux  *http.ServeMux // has the operations of the document

	mu       sync.Mutex
	compiler *jsonschema.Compiler
}

const documentURL = "openapi.json"

func newAPIDocument(t testing.TB, body []byte) *apiDocument {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	d := &apiDocument{root: parsed.(map[string]any), mux: http.NewServeMux(), compiler: jsonschema.NewCompiler()}
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(documentURL, parsed); err != nil {
		t.Fatal(err)
	}
	for path, operations := range d.root["paths"].(map[string]any) {
		pattern := path
		if path == "/" {
			pattern = "/{$}"
		}
		for method := range operations.(map[string]any) {
			d.mux.Handle(strings.ToUpper(method)+" "+pattern, operationAt{path, method})
		}
	}
	return d
}

// operationAt is the handler of an operation: the JSON pointer to its description.
type operationAt struct{ path, method string }

func (operationAt) ServeHTTP(http.ResponseWriter, *http.Request) {}

// operation returns the pointer of the operation of a request. ok is false if the document has
// none.
func (d *apiDocument) operation(r *http.Request) (pointer []string, ok bool) {
	handler, _ := d.mux.Handler(r)
	at, ok := handler.(operationAt)
	return []string{"paths", at.path, at.method}, ok && strings.EqualFold(at.method, r.Method)
}

// lookup returns the value at a pointer and its own pointer after references are resolved; nil if
// there is none.
func (d *apiDocument) lookup(pointer ...string) (any, []string) {
	var at []string
	var v any = d.root
	for _, name := range pointer {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil {
				return nil, nil
			}
			v = parent[i]
		}
		at = append(at, name)
		if members, ok := v.(map[string]any); ok && members["$ref"] != nil {
			v, at = d.lookup(strings.Split(strings.TrimPrefix(members["$ref"].(string), "#/"), "/")...)
		}
	}
	return v, at
}

// check validates a value against the schema at a pointer.
func (d *apiDocument) check(value any, pointer ...string) error {
	fragment := ""
	for _, name := range pointer {
		fragment += "/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
	}
	d.mu.Lock()
	schema, err := d.compiler.Compile(documentURL + "#" + fragment)
	d.mu.Unlock()
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// checkResponse validates the status, the headers and the body of a response.
func (d *apiDocument) checkResponse(r *http.Request, status int, header http.Header, body string) error {
	operation, _ := d.operation(r)
	response, at := d.lookup(append(operation, "responses", fmt.Sprint(status))...)
	if response == nil {
		return fmt.Errorf("no response %d", status)
	}
	headers, _ := response.(map[string]any)["headers"].(map[string]any)
	for name := range headers {
		described, at := d.lookup(append(slices.Clone(at), "headers", name)...)
		if value := header.Get(name); value != "" {
			if err := d.checkText([]string{value}, append(at, "schema")); err != nil {
				return fmt.Errorf("header %s: %w", name, err)
			}
		} else if described.(map[string]any)["required"] == true {
			return fmt.Errorf("no header %s", name)
		}
	}
	content, _ := response.(map[string]any)["content"].(map[string]any)
	if len(content) == 0 {
		if body != "" {
			return fmt.Errorf("a body: %s", body)
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if _, ok := content[media]; !ok || err != nil {
		return fmt.Errorf("Content-Type is %q; the document has %v", header.Get("Content-Type"),
			slices.Collect(maps.Keys(content)))
	}
	var value any = body
	if strings.HasSuffix(media, "json") && media != "application/x-ndjson" {
		value, err = jsonschema.UnmarshalJSON(strings.NewReader(body))
		if err != nil {
			return err
		}
	}
	return d.check(value, append(at, "content", media, "schema")...)
}

// checkRequest validates the parameters and the body of a request. Parameters without a description
// are accepted.
func (d *apiDocument) checkRequest(r *http.Request) error {
	operation, ok := d.operation(r)
	if !ok {
		return fmt.Errorf("no operation %s %s", r.Method, r.URL.Path)
	}
	parameters, _ := d.lookup(append(operation, "parameters")...)
	list, _ := parameters.([]any)
	for i := range list {
		described, at := d.lookup(append(slices.Clone(operation), "parameters", fmt.Sprint(i))...)
		p := described.(map[string]any)
		name, values := p["name"].(string), []string(nil)
		switch p["in"] {
		case "query":
			if p["style"] == "deepObject" {
				if err := d.checkObject(r.URL.Query(), name, append(at, "schema")); err != nil {
					return err
				}
				continue
			}
			values = r.URL.Query()[name]
			if p["explode"] == false && len(values) == 1 {
				values = strings.Split(values[0], ",")
			}
		case "header":
			values = r.Header.Values(name)
		default:
			continue // the path has matched
		}
		if values == nil && p["required"] != true {
			continue
		}
		if err := d.checkText(values, append(at, "schema")); err != nil {
			return fmt.Errorf("parameter %s: %w", name, err)
		}
	}
	if body, at := d.lookup(append(operation, "requestBody")...); body != nil {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(sent))
		if err != nil {
			return err
		}
		return d.check(value, append(at, "content", r.Header.Get("Content-Type"), "schema")...)
	}
	return nil
}

// checkObject validates the members of a parameter, as in name[member]=value, against the schema at
// a pointer.
func (d *apiDocument) checkObject(query url.Values, name string, pointer []string) error {
	members := map[string]any{}
	for parameter, values := range query {
		member, isMember := strings.CutPrefix(parameter, name+"[")
		member, isClosed := strings.CutSuffix(member, "]")
		if !isMember || !isClosed {
			continue
		}
		members[member] = values[0]
		if schema, _ := d.lookup(append(slices.Clone(pointer), "properties", member, "type")...); schema == "boolean" {
			members[member] = values[0] == "true"
		}
	}
	if len(members) == 0 {
		return nil
	}
	_, at := d.lookup(pointer...)
	if err := d.check(members, at...); err != nil {
		return fmt.Errorf("parameter %s: %w", name, err)
	}
	return nil
}

// checkRequired fails if a request that succeeded has no value for a required parameter.
func (d *apiDocument) checkRequired(r *http.Request) error {
	operation, _ := d.operation(r)
	parameters, _ := d.lookup(append(operation, "parameters")...)
	list, _ := parameters.([]any)
	for i := range list {
		described, _ := d.lookup(append(slices.Clone(operation), "parameters", fmt.Sprint(i))...)
		p := described.(map[string]any)
		if p["in"] == "query" && p["required"] == true && !r.URL.Query().Has(p["name"].(string)) {
			return fmt.Errorf("the request succeeds without the required parameter %s", p["name"])
		}
	}
	return nil
}

// checkText validates the values of a parameter or a header, which are text, against the schema at
// a pointer.
func (d *apiDocument) checkText(values []string, pointer []string) error {
	schema, at := d.lookup(pointer...)
	convert := func(text string) any {
		switch schema.(map[string]any)["type"] {
		case "integer":
			return json.Number(text)
		case "boolean":
			return text == "true"
		}
		return text
	}
	if schema.(map[string]any)["type"] != "array" {
		if len(values) != 1 {
			return fmt.Errorf("%d values", len(values))
		}
		return d.check(convert(values[0]), at...)
	}
	elements := make([]any, len(values))
	for i, v := range values {
		elements[i] = v
	}
	return d.check(elements, at...)
}
