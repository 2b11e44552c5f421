// Package listtest says what a right listing is: an oracle that is too plain to be wrong, and a conformance suite that
// holds every engine against it. It is imported by tests alone.
package listtest
