// Package must ends a test that cannot continue. Only tests and benchmark programs import it.
package must

import (
	"io"
	"testing"
)

// NoError ends the test if err is not nil.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// CloseAfter closes c when the test ends, and fails the test if that fails.
func CloseAfter(t testing.TB, c io.Closer) {
	t.Helper()
	t.Cleanup(func() {
		t.Helper()
		if err := c.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
}
