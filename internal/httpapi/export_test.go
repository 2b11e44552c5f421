package httpapi

// Operations returns the method and path of every route, in OpenAPI syntax.
func (a *API) Operations() []string {
	var ops []string
	for _, rt := range a.routes {
		if !rt.page {
			ops = append(ops, rt.method+" "+rt.path)
		}
	}
	return ops
}

// PagePatterns returns the routes that are not part of the document.
func (a *API) PagePatterns() []string {
	var pages []string
	for _, rt := range a.routes {
		if rt.page {
			pages = append(pages, rt.method+" "+rt.path)
		}
	}
	return pages
}

// Statuses exports the mapping from codes to statuses.
var Statuses = statuses
