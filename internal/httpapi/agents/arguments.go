package agents

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// arguments are the arguments of a tool call. Numbers are texts: the parser of the API checks them.
type arguments struct {
	query, dataset, search, version, page, perPage string
	filters, sort, fields, by, measures, key       []string
}

// maxElements is the maximum number of elements of an argument. The parser of the API has lower
// limits and says so.
const maxElements = 1_000

// decodeArguments decodes the arguments of a call. It accepts what models write instead of what the
// schema says, if that has one meaning: a value in place of a list of one, a number as a text, and
// null or an empty text for an absent argument.
func decodeArguments(t tool, encoded json.RawMessage) (*arguments, error) {
	var a arguments
	members := map[string]json.RawMessage{}
	if len(encoded) > 0 {
		if err := json.Unmarshal(encoded, &members); err != nil {
			return nil, herb.Invalidf("the arguments must be a JSON object, such as {%q: %q}", inputDataset.name, "garden/catalog")
		}
	}
	texts := map[string]*string{
		"query": &a.query, "dataset": &a.dataset, "search": &a.search, "version": &a.version, "page": &a.page, "per_page": &a.perPage,
	}
	lists := map[string]*[]string{
		"filters": &a.filters, "sort": &a.sort, "fields": &a.fields, "by": &a.by, "measures": &a.measures, "key": &a.key,
	}
	for _, in := range t.inputs {
		value := members[in.name]
		delete(members, in.name)
		var err error
		if at := lists[in.name]; at != nil {
			*at, err = decodeList(value, in.name == "key")
		} else {
			*texts[in.name], err = decodeText(value)
		}
		if err != nil {
			return nil, herb.Invalidf("%s %v; %s", in.name, err, in.description)
		}
		if in.required && (lists[in.name] != nil && len(*lists[in.name]) == 0 || texts[in.name] != nil && *texts[in.name] == "") {
			return nil, herb.Invalidf("%s is missing; %s", in.name, in.description)
		}
	}
	for name := range members {
		var valid []string
		for _, in := range t.inputs {
			valid = append(valid, in.name)
		}
		name = response.Shown(name)
		return nil, herb.Invalidf("unknown argument %q%s arguments of %s: %s", name, text.Suggestion(name, valid), t.name, strings.Join(valid, ", "))
	}
	return &a, nil
}

type argumentError string

// Error implements error.
func (e argumentError) Error() string { return string(e) }

// decodeText decodes a text, a number or a boolean.
func decodeText(encoded json.RawMessage) (s string, err error) {
	encoded = bytes.TrimSpace(encoded)
	switch {
	case len(encoded) == 0 || string(encoded) == "null":
		return "", nil
	case encoded[0] == '"':
		err = json.Unmarshal(encoded, &s)
		return s, err
	case encoded[0] == '{' || encoded[0] == '[':
		return "", argumentError("must be a text")
	}
	return string(encoded), nil
}

// decodeList decodes a list of texts, or a single one. Empty texts count as absent unless keepEmpty
// is set.
func decodeList(encoded json.RawMessage, keepEmpty bool) (list []string, err error) {
	encoded = bytes.TrimSpace(encoded)
	if len(encoded) > 0 && encoded[0] == '"' {
		if s, err := decodeText(encoded); err == nil && strings.HasPrefix(s, "[") && json.Valid([]byte(s)) {
			encoded = json.RawMessage(s) // a list as a text
		}
	}
	elements := []json.RawMessage{encoded}
	if len(encoded) > 0 && encoded[0] == '[' {
		if err := json.Unmarshal(encoded, &elements); err != nil {
			return nil, err
		}
	}
	if len(elements) > maxElements {
		return nil, argumentError("has too many elements")
	}
	for _, e := range elements {
		s, err := decodeText(e)
		if err != nil {
			return nil, argumentError("must be a list of texts")
		}
		if s != "" || keepEmpty && len(e) > 0 {
			list = append(list, s)
		}
	}
	return list, nil
}

// conditions returns the parameters of the search and the filters.
func (a *arguments) conditions() (params query.Params) {
	for _, f := range a.filters {
		params = params.With(query.Param{Name: query.ParamFilter, Value: f})
	}
	return params.WithValue(query.ParamSearch, a.search)
}

// repeated returns one parameter for each value.
func repeated(name string, values []string) (params query.Params) {
	for _, v := range values {
		params = params.With(query.Param{Name: name, Value: v})
	}
	return params
}

// pageRequest parses page and perPage, with rows to a page by default.
func (a *arguments) pageRequest(rows string) (*query.Request, error) {
	params := query.Params{}.WithValue(query.ParamPage, a.page).With(query.Param{Name: query.ParamPerPage, Value: rows})
	if a.perPage != "" {
		params = slices.Concat(params[:len(params)-1], query.Params{{Name: query.ParamPerPage, Value: a.perPage}})
	}
	return query.Of(params).Listing(nil, herb.Order{})
}
