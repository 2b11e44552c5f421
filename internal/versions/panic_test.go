package versions_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/segment"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// TestPublish_panic has a publish panic, in any goroutine. It fails as after any other error: no
// files are left, the live version stays, and the next publish succeeds.
func TestPublish_panic(t *testing.T) {
	t.Parallel()
	bug := func() { panic("bug") }
	during := func(phase string) func(*versions.Publication) {
		return func(p *versions.Publication) {
			p.Progress = progress.New(func(at progress.Progress) {
				if at.Phase == phase {
					bug()
				}
			})
		}
	}
	records := func(seq func(yield func(herb.Record, error) bool)) func(*versions.Publication) {
		return func(p *versions.Publication) { p.Records = iter.Seq2[herb.Record, error](seq) }
	}
	for _, tt := range []struct {
		name   string
		change func(*versions.Publication)
	}{
		{"first record", records(func(func(herb.Record, error) bool) { bug() })},
		{"after many records", records(func(yield func(herb.Record, error) bool) {
			for range 100_000 {
				if !yield(herb.Record{"1"}, nil) {
					return
				}
			}
			bug()
		})},
		{"record without values", records(func(yield func(herb.Record, error) bool) {
			for range 10_000 {
				if !yield(herb.Record{"1"}, nil) {
					return
				}
			}
			yield(herb.Record{}, nil) // a reader that breaks its promise
		})},
		{"reading", during(versions.PhaseIndexing)},
		{"sorting", during(segment.PhaseSorting)},
		{"before the examination", during(versions.PhaseChecking)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := versionstest.NewSharedDir(t)
			l := s.Open(t)
			versionstest.Publish(t, l, 2)
			p := versions.Publication{Dataset: herb.Dataset{Ref: ref, Fields: fields},
				Records: versionstest.Numbers(3, nil)}
			tt.change(&p)
			_, err := l.Publish(t.Context(), p)
			found, ok := errors.AsType[*herb.PanicError](err)
			if !ok || !strings.Contains(string(found.Stack), "versions_test") &&
				!strings.Contains(string(found.Stack), "segment") {
				t.Fatalf("got %v", err)
			}
			if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 2 {
				t.Errorf("%d records are listed", n)
			}
			if files := s.Files(t); len(files) != 1 {
				t.Errorf("files %v are left", files)
			}
			versionstest.Publish(t, l, 4)
		})
	}
}

// TestPublish_panicInCatalogue has the catalogue panic when it may have committed: the file stays
// until Sweep decides.
func TestPublish_panicInCatalogue(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	c := &faultyCatalogue{Catalogue: s.DB, add: func(do func() error) error {
		_ = do()
		panic("bug")
	}}
	l, err := versionstest.Open(c, versionstest.Options{Dir: s.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = l.Publish(context.WithoutCancel(t.Context()),
		versions.Publication{Dataset: herb.Dataset{Ref: ref, Fields: fields}, Records: versionstest.Numbers(3, nil)})
	if _, ok := errors.AsType[*herb.PanicError](err); !ok {
		t.Fatalf("got %v", err)
	}
	if n := versionstest.Total(t, versionstest.Acquire(t, s.Open(t))); n != 3 {
		t.Errorf("%d records are listed of the version that is in the catalogue", n)
	}
}
