package ingest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rowstest"
)

// TestCorpus reads unusual files and compares header and cells.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, tt := range rowstest.UnusualFiles() {
		t.Run(tt.Name, func(t *testing.T) {
			t.Parallel()
			got, warnings, err := read(t, ingest.Source{Path: writeFile(t, t.TempDir(), tt.File, tt.Content)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.Want, got); diff != "" && tt.Want != nil {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if all := strings.Join(warnings, "\n"); len(warnings) > 1 || (all == "") != (tt.Warning == "") ||
				!strings.Contains(all, tt.Warning) {
				t.Errorf("warnings %q, want %q", warnings, tt.Warning)
			}
		})
	}
}

// TestCorpus_rejected reads files that cannot be read without guessing or losing data.
func TestCorpus_rejected(t *testing.T) {
	t.Parallel()
	for _, tt := range rowstest.UnreadableFiles() {
		t.Run(tt.Name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, t.TempDir(), tt.File, tt.Content)
			_, err := ingest.Inspect(t.Context(), ingest.Source{Path: path}, ingest.Options{})
			checkInvalid(t, err, path+": "+tt.Want)
		})
	}
}
