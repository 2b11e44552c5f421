// Package query defines listing requests. It parses a request from the query string of a URL, rejects invalid ones with
// a helpful message, and formats requests in canonical form. It does not execute requests.
//
// # Conditions
//
// Engines see fewer operators than users: "in" becomes several values of "eq", and "empty" becomes "eq" or "ne" with
// the empty string. A condition holds if any of its values matches, one with OpNe if none does. A record must meet all
// conditions. Only OpEq and OpNe match empty values of a record: these have no position in an order and no prefix.
// OpMatch considers the words of a value, of which an empty one has none.
package query
