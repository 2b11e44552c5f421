// Package listtest defines correct listings: it has a deliberately simple oracle, and a conformance suite that compares
// every engine with it. Only tests import it.
package listtest
