package httpapi

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
