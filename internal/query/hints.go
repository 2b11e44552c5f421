package query

import (
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/text"
)

// otherNames returns the parameters or operators that people may mean by a name that other services
// use. Those that do not apply to a request are not suggested.
func otherNames(name string) []string {
	return map[string][]string{
		"limit": {ParamPerPage, ParamTop}, "page_size": {ParamPerPage, ParamTop}, "pagesize": {ParamPerPage, ParamTop},
		"size": {ParamPerPage, ParamTop}, "count": {ParamPerPage, ParamTop}, "rows": {ParamPerPage, ParamTop},
		"offset": {ParamPage, ParamOffset}, "skip": {ParamPage, ParamOffset}, "start": {ParamPage, ParamOffset},
		"cursor": {ParamPage, ParamOffset},
		"q":      {ParamSearch}, "query": {ParamSearch}, "s": {ParamSearch}, "term": {ParamSearch},
		"keyword":  {ParamSearch},
		"match":    {ParamSearch},
		"order_by": {ParamSort}, "orderby": {ParamSort}, "sort_by": {ParamSort}, "sortby": {ParamSort},
		"ordering": {ParamSort},
		"dir":      {ParamOrder}, "direction": {ParamOrder}, "sort_order": {ParamOrder}, "sort_dir": {ParamOrder},
		"select": {ParamFields, ParamField}, "columns": {ParamFields, ParamField}, "fields": {ParamFields, ParamField},
		"facet": {ParamField}, "group_by": {ParamField}, "bins": {ParamBuckets},
		"or": {ParamAny}, "_or": {ParamAny}, "any_of": {ParamAny}, "anyof": {ParamAny}, "filter_any": {ParamAny},
		"where": {ParamFilter}, "filter": {ParamFilter},
		"key": {ParamAPIKey}, "apikey": {ParamAPIKey}, "token": {ParamAPIKey}, "access_token": {ParamAPIKey},
		"bbox": {ParamBounds}, "revision": {ParamVersion},

		"like": {string(OpContains), string(OpMatch)}, "ilike": {string(OpContains), string(OpMatch)},
		"includes": {string(OpContains)}, "substring": {string(OpContains)},
		"search": {string(OpMatch)}, "fts": {string(OpMatch)},
		"startswith": {string(OpPrefix)}, "starts_with": {string(OpPrefix)}, "starts": {string(OpPrefix)},
		"begins": {string(OpPrefix)},
		"iexact": {string(OpIEq)}, "ieqs": {string(OpIEq)}, "iequals": {string(OpIEq)}, "eqi": {string(OpIEq)},
		"ci": {string(OpIEq)}, "ineq": {string(OpINe)}, "nei": {string(OpINe)}, "nie": {string(OpINe)},
		"equals": {string(OpEq)}, "is": {string(OpEq)}, "not": {string(OpNe)}, "neq": {string(OpNe)},
		"nin": {string(OpNe)}, "not_in": {string(OpNe)},
		"ge": {string(OpGte)}, "min": {string(OpGte)}, "from": {string(OpGte)}, "since": {string(OpGte)},
		"after": {string(OpGt)},
		"le":    {string(OpLte)}, "max": {string(OpLte)}, "to": {string(OpLte)}, "until": {string(OpLte)},
		"before":  {string(OpLt)},
		"between": {string(OpGte), string(OpLte)}, "any": {string(OpIn)},
		"null": {string(OpEmpty)}, "isnull": {string(OpEmpty)}, "is_null": {string(OpEmpty)},
		"exists": {string(OpEmpty)},
	}[strings.ToLower(name)]
}

// suggestion returns the punctuation between an unknown parameter or operator and the list of
// choices, as text.Suggestion does. A name that other services use takes precedence over a similar
// choice.
func suggestion(name string, choices []string) string {
	if slices.ContainsFunc(choices, func(c string) bool { return strings.EqualFold(c, name) }) {
		return text.Suggestion(name, choices)
	}
	var quoted []string
	for _, other := range otherNames(name) {
		if slices.Contains(choices, other) {
			quoted = append(quoted, strconv.Quote(other))
		}
	}
	if len(quoted) == 0 {
		return text.Suggestion(name, choices)
	}
	return "; did you mean " + strings.Join(quoted, " or ") + "?"
}
