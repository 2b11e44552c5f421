// Package operations computes what requests for records return: one function for each operation,
// from an open version and a parsed request to a result. The API, the pages and the tools for
// language models render the same results: as JSON, as HTML and as CSV.
//
// A result reserves the memory that it needs until it is released. Listings without types and
// aggregates need none: the lanes and the engine account for them.
package operations
