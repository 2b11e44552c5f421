// Package publishing handles publishing over HTTP: it receives sources and descriptors, starts
// publishes and reports their results, and handles versions, rollbacks and removals.
package publishing
