package build

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"herbarium/internal/herb"
)

// TestCreate_sourceSeesNoPanic ends builds while their source is being read. The source must only
// see that no more records are wanted: a panic would run through its code, which may convert it to
// another error.
func TestCreate_sourceSeesNoPanic(t *testing.T) {
	t.Parallel()
	reason := errors.New("enough")
	for name, end := range map[string]func(cancel context.CancelCauseFunc) error{
		"canceled": func(cancel context.CancelCauseFunc) error { cancel(reason); return nil },
		"failed":   func(context.CancelCauseFunc) error { return reason },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			source := func(yield func(herb.Record, error) bool) {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("the source sees the panic %v", p)
					}
				}()
				for i := range 100 * batchRecords {
					var err error
					if i == batchRecords {
						err = end(cancel)
					}
					if !yield(herb.Record{"rose"}, err) {
						return
					}
				}
			}
			fields := []herb.Field{{Name: "name", Type: herb.TypeText}}
			if n, err := Create(ctx, filepath.Join(t.TempDir(), "x.seg"), fields, source,
				Options{}); !errors.Is(err, reason) {
				t.Errorf("%d records, %v; want the reason", n, err)
			}
		})
	}
}
