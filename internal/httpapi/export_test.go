package httpapi

import "herbarium/internal/httpapi/response"

// Operations returns the method and path of every route, in OpenAPI syntax.
func (a *API) Operations() []string {
	var ops []string
	for _, rt := range a.routes {
		if !rt.Page && !rt.Protocol {
			ops = append(ops, rt.Method+" "+rt.Path)
		}
	}
	return ops
}

// PagePatterns returns the routes that are not part of the document.
func (a *API) PagePatterns() []string {
	var pages []string
	for _, rt := range a.routes {
		if rt.Page {
			pages = append(pages, rt.Method+" "+rt.Path)
		}
	}
	return pages
}

// Parameters returns the parameters that the server checks of each operation with some.
func (a *API) Parameters() map[string][]string {
	parameters := map[string][]string{}
	for _, rt := range a.routes {
		if !rt.Page && !rt.Protocol && rt.Parameters != 0 {
			parameters[rt.Method+" "+rt.Path] = rt.Parameters.Parameters()
		}
	}
	return parameters
}

// Costs returns the cost of every route.
func (a *API) Costs() map[string]response.Cost {
	costs := map[string]response.Cost{}
	for _, rt := range a.routes {
		costs[rt.Method+" "+rt.Path] = rt.Cost
	}
	return costs
}
