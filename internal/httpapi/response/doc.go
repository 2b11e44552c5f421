// Package response implements what all responses have in common: buffers within a budget,
// compression, negotiation, lanes, entity tags, errors and the request log.
//
// A handler either responds through Writer.Send or returns an error, which Writer.Fail converts to
// an Error body. Bodies are complete before they are sent, except for streams, so that failures are
// detected before the first byte.
package response
