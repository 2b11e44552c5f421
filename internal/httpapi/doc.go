// Package httpapi is the service as HTTP shows it: the route table, the handlers behind it, what every response has in
// common, and the OpenAPI document that is made of the same table.
//
// # The way of a request
//
// API.ServeHTTP gives the request its id, the headers that every response under its path has, and a log line at the end.
// The ServeMux finds the route; a handler either answers through response.send or returns an error, and API.fail makes
// the one Error body of it. Bodies are complete before they are sent, so an answer is never half an answer: what fails,
// fails before the first byte.
package httpapi
