package httpapi

// Operations lists the method and path of every route, as the OpenAPI document writes them.
func (a *API) Operations() []string {
	var ops []string
	for _, rt := range a.routes {
		ops = append(ops, rt.method+" "+rt.path())
	}
	return ops
}

// Statuses is the table from codes to statuses.
var Statuses = statuses
