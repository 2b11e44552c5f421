package cli_test

import "testing"

// TestPublish_address names files at addresses wrongly.
func TestPublish_address(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	csv := write(t, "a.csv", "a\n1\n")
	e.fails(t, 2, "set one with --as", "publish", "https://example.org/a.csv")
	e.fails(t, 2, "less than a minute", "publish", "https://example.org/a.csv", "--as", "x/y", "--refresh", "1s")
	e.fails(t, 2, "is a secret", "publish", "https://example.org/a.csv?token=abc", "--as", "x/y")
	e.fails(t, 2, "--refresh is for a file at an address", "publish", csv, "--as", "x/y", "--refresh", "1h")
	e.fails(t, 2, "cannot be combined with a descriptor", "publish", "https://example.org/a.csv", "--as", "x/y",
		"--skip", "1")
	e.fails(t, 1, "the host nowhere.invalid was not found", "publish", "https://nowhere.invalid/a.csv", "--as", "x/y")
}
