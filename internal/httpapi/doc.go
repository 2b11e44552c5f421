// Package httpapi implements the HTTP interface: the route table, probes, the creation of plants,
// and requests for pages. Its packages are layers, of which each imports only those before it:
// connection, response, body, gate, and the handlers in reading and publishing.
//
// API.ServeHTTP assigns the request ID, sets the headers common to all responses under the path,
// and logs the request when it ends. The ServeMux selects the route. Each route declares what its
// handler needs and which parameters it takes: API.handle checks these and opens the dataset of the
// path before it calls the handler. Site is what pages and API have in common.
package httpapi
