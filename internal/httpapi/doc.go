// Package httpapi implements the HTTP interface: the route table, its handlers, and everything
// responses have in common.
//
// # Request processing
//
// API.ServeHTTP assigns the request ID, sets the headers common to all responses under the path,
// and logs the request when it ends. The ServeMux selects the route. A handler either responds
// through response.send or returns an error, which API.fail converts to an Error body. Bodies are
// complete before they are sent, except for streams, so that failures are detected before the first
// byte.
//
// # Datasets
//
// Handlers get datasets from the gate (gate.go): API.openDataset for records, API.open for
// descriptions, API.servePage for pages. It selects the version, authorizes the client and sets how
// the response is cached. Site is what pages and API have in common.
package httpapi
