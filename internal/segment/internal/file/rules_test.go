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
		"as written":  {text.Rules(), true},
		"later rules": {other, false},
		"no rules":    {"", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "test.seg")
			w, err := NewWriter(filesystem.OS{}, path)
			if err != nil {
				t.Fatal(err)
			}
			for _, tag := range fileTags() {
				if tag != TagMetadata {
					w.Begin(tag, NoField)
					w.End()
				}
			}
			if err := w.finish(Meta{Rules: test.rules}); err != nil {
				t.Fatal(err)
			}
			if err := ReadTerms(path, func(Strings) {}); errors.Is(err, ErrIndex) == test.opens {
				t.Errorf("ReadTerms: %v", err)
			}
			f, err := Open(path)
			if test.opens {
				if err := errors.Join(err, f.Verify(), f.Close()); err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, ErrIndex) {
				t.Fatalf("Open: %v", err)
			}
			for _, part := range []string{test.rules, text.Rules()} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}
