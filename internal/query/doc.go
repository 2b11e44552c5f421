// Package query is a listing request: it reads one from a URL's query, refuses what is wrong with it in words that help,
// and writes it back in one canonical form. It knows nothing of how a listing is found.
//
// # Conditions
//
// Engines see fewer operators than users write: "in" is several values of "eq", and "empty" is "eq" or "ne" of the empty
// string. A condition holds if any of its values fits, one with OpNe if none does; a record must meet all conditions.
// An empty value of a record is reached by OpEq and OpNe alone: it has no place in an order and starts with nothing.
package query
