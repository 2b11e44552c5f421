package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// arguments are the arguments of a tool call by their names. A text is a list of one, and absent if
// it is empty. Numbers are texts: the parser of the API checks them.
type arguments map[string][]string

// maxElements is the maximum number of elements of an argument. The parser of the API has lower
// limits and says so.
const maxElements = 1_000

// decodeArguments decodes the arguments of a call. It accepts what models write instead of what the
// schema says, if that has one meaning: a value in place of a list of one, a number as a text, and
// null or an empty text for an absent argument.
func decodeArguments(t tool, encoded json.RawMessage) (arguments, error) {
	args, members := arguments{}, map[string]json.RawMessage{}
	if len(encoded) > 0 {
		if err := json.Unmarshal(encoded, &members); err != nil {
			return nil, herb.Invalidf("the arguments must be a JSON object, such as {%q: %q}", inputDataset.name,
				"garden/catalog")
		}
	}
	var valid []string
	for _, in := range t.inputs {
		values, err := in.decode(members[in.name])
		if err != nil {
			return nil, herb.Invalidf("%s %v; %s", in.name, err, in.description)
		}
		if in.required && len(values) == 0 {
			return nil, herb.Invalidf("%s is missing; %s", in.name, in.description)
		}
		args[in.name] = values
		valid = append(valid, in.name)
		delete(members, in.name)
	}
	for name := range members {
		name = response.Shown(name)
		return nil, herb.Invalidf("unknown argument %q%s arguments of %s: %s",
			name, text.Suggestion(name, valid), t.name, strings.Join(valid, ", "))
	}
	return args, nil
}

// decode decodes an argument. Empty texts are absent, except among the values of a key.
func (in input) decode(encoded json.RawMessage) (values []string, err error) {
	elements, mismatch := []json.RawMessage{bytes.TrimSpace(encoded)}, "must be a text"
	if in.kind == kindList {
		elements, mismatch = splitList(elements[0]), "must be a list of texts"
	}
	if len(elements) > maxElements {
		return nil, errors.New("has too many elements")
	}
	for _, e := range elements {
		var value string
		switch {
		case len(e) == 0 || string(e) == "null":
		case e[0] == '{' || e[0] == '[':
			return nil, errors.New(mismatch)
		case e[0] != '"':
			value = string(e) // a number or a boolean
		default:
			err := json.Unmarshal(e, &value)
			if err != nil {
				return nil, err
			}
		}
		if value != "" || in.name == "key" && len(e) > 0 {
			values = append(values, value)
		}
	}
	return values, nil
}

// splitList returns the elements of a list, which may be written as a text. Anything else is a list
// of one.
func splitList(encoded json.RawMessage) (elements []json.RawMessage) {
	var written string
	err := json.Unmarshal(encoded, &written)
	if err == nil && strings.HasPrefix(written, "[") && json.Valid([]byte(written)) {
		encoded = json.RawMessage(written)
	}
	err = json.Unmarshal(encoded, &elements)
	if err != nil || elements == nil {
		return []json.RawMessage{encoded}
	}
	return elements
}

// text returns an argument that is a text.
func (a arguments) text(name string) string { return strings.Join(a[name], ",") }

// pages parses the number of the page and of the rows of a page, which is query.MaxPerPage by
// default.
func (a arguments) pages() (*query.Request, error) {
	params := query.Params{}.WithValue(query.ParamPage, a.text("page")).WithValue(query.ParamPerPage,
		a.text("per_page"))
	req, err := query.Of(params).Listing(nil, herb.Order{})
	if err == nil && a.text("per_page") == "" {
		req.PerPage = query.MaxPerPage
	}
	return req, err
}
