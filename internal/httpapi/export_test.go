package httpapi

// Operations lists the method and path of every route, as the OpenAPI document writes them.
func (a *API) Operations() []string {
	var ops []string
	for _, rt := range a.routes {
		if !rt.page {
			ops = append(ops, rt.method+" "+rt.path())
		}
	}
	return ops
}

// PagePatterns lists the routes that the document leaves out.
func (a *API) PagePatterns() []string {
	var pages []string
	for _, rt := range a.routes {
		if rt.page {
			pages = append(pages, rt.method+" "+rt.path())
		}
	}
	return pages
}

// Statuses is the table from codes to statuses.
var Statuses = statuses
