// Package agents serves the Model Context Protocol: five tools by which language models find,
// describe and query datasets.
//
// A tool call is a request to the API in other words. It is turned into the query string of that
// request, passes the same gate, and is evaluated by the same functions, so limits, messages and
// results are those of the API. The result is one block of CSV below a line that says what it is:
// models count tokens, and take for complete whatever does not say otherwise.
//
// The SDK handles the protocol: versions, methods, messages. It gets a message that was received,
// bounded and admitted like the body of any other request, and writes its response to a buffer.
package agents
