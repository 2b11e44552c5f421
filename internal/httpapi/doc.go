// Package httpapi implements the HTTP interface: the route table, its handlers, and everything responses have in
// common.
//
// # Request processing
//
// API.ServeHTTP assigns the request ID, sets the headers common to all responses under the path, and logs the request
// when it ends. The ServeMux selects the route. A handler either responds through response.send or returns an error,
// which API.fail converts to an Error body. Bodies are complete before they are sent, except for streams, so that
// failures are detected before the first byte.
package httpapi
