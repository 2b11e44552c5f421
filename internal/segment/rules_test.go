package segment

import (
	"encoding/json"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/text"
)

// withRules returns a file whose metadata, its last section, names different text rules.
func withRules(t *testing.T, file []byte, rules string) []byte {
	t.Helper()
	sections, err := readTable(file)
	if err != nil {
		t.Fatal(err)
	}
	last := &sections[len(sections)-1]
	var m meta
	if err := json.Unmarshal(file[last.offset:last.offset+last.length], &m); err != nil || last.tag != tagMeta {
		t.Fatalf("the last section is %s: %v", last.tag, err)
	}
	m.Rules = rules
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	last.length, last.crc = uint64(len(b)), crc32.Checksum(b, castagnoli())
	out := append(slices.Clone(file[:last.offset]), b...)
	out = append(out, make([]byte, -len(out)&(alignment-1))...)
	var toc []byte
	for _, s := range sections {
		toc = appendEntry(toc, s)
	}
	return append(out, appendFooter(toc, toc, uint64(len(out)))...)
}

func TestOpen_rules(t *testing.T) {
	t.Parallel()
	const other = "2, Unicode 99.0.0/99.0.0, CLDR 99"
	tests := map[string]struct {
		rules string
		opens bool
	}{
		"as written":  {rulesOf(text.Rules()), true},
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
			if err := os.WriteFile(path, withRules(t, create(t, threeRecords(), Options{}), test.rules), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Open(path)
			if test.opens {
				if err := errors.Join(err, r.Verify(), r.Release()); err != nil {
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

// TestRules_named checks that the first rules are not named, and that files without a name are taken to be built by
// them.
func TestRules_named(t *testing.T) {
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
			err := meta{Rules: rulesOf(test.built)}.checkRules(test.program)
			if errors.Is(err, ErrRules) == test.ok {
				t.Fatalf("a file of %q for a program of %q: %v", test.built, test.program, err)
			}
			if err != nil && (!strings.Contains(err.Error(), test.built) || !strings.Contains(err.Error(), test.program)) {
				t.Errorf("%q does not name both", err)
			}
		})
	}
}
