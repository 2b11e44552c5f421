package file

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/filesystem"
	"herbarium/internal/text"
)

func TestOpen_rules(t *testing.T) {
	t.Parallel()
	const other = "2, Unicode 99.0.0/99.0.0, CLDR 99"
	tests := map[string]struct {
		rules string
		opens bool
	}{
		"as written":  {storedRules(text.Rules()), true},
		"later rules": {other, false},
	}
	if text.Rules() != text.FirstRules {
		tests["the first rules"] = struct {
			rules string
			opens bool
		}{"", false}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "test.seg")
			w, err := NewWriter(filesystem.OS{}, path)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.finish(Meta{Rules: test.rules}); err != nil {
				t.Fatal(err)
			}
			if err := ReadTerms(path, func(Strings) {}); errors.Is(err, ErrRules) == test.opens {
				t.Errorf("ReadTerms: %v", err)
			}
			f, err := Open(path)
			if test.opens {
				if err := errors.Join(err, f.Verify(), f.Close()); err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, ErrRules) {
				t.Fatalf("Open: %v", err)
			}
			for _, part := range []string{test.rules, text.Rules(), "publish the dataset again"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// TestMeta_checkRules checks that files without rules count as built by the first rules.
func TestMeta_checkRules(t *testing.T) {
	t.Parallel()
	const later = "2, Unicode 99.0.0/99.0.0, CLDR 99"
	tests := map[string]struct {
		built, program string
		ok             bool
	}{
		"first, first": {text.FirstRules, text.FirstRules, true},
		"first, later": {text.FirstRules, later, false},
		"later, first": {later, text.FirstRules, false},
		"later, later": {later, later, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := Meta{Rules: storedRules(test.built)}.checkRules(test.program)
			if errors.Is(err, ErrRules) == test.ok {
				t.Fatalf("a file of %q for a program of %q: %v", test.built, test.program, err)
			}
			if err != nil && (!strings.Contains(err.Error(), test.built) || !strings.Contains(err.Error(), test.program)) {
				t.Errorf("%q does not name both rules", err)
			}
		})
	}
}
