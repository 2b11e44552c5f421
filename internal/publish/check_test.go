package publish

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/must"
	"herbarium/internal/publish/receive"
	"herbarium/internal/versions"
)

// TestCheck lets one key check more files than there are slots. A publish of another key gets a
// slot.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := newQueue(t, newStore(), time.Now, func(context.Context, ingest.Source, Options) (versions.Result, error) {
		return versions.Result{Status: versions.StatusPublished, Version: "v1"}, nil
	})
	s.opts.Publisher = readingPublisher{s.opts.Publisher}
	ctx, cancel := context.WithCancelCause(t.Context())
	begun, ended := make(chan int, 3), make(chan error, 3)
	check := func(n int) {
		f := receiveFile(t, s, "a,b\n1,2\n")
		go func() {
			r := Request{Ref: herb.Ref{Namespace: "shop", Name: "prices"}, File: f, Actor: herb.Actor{ID: "greedy"}}
			_, err := s.Check(ctx, r, func() { begun <- n }, func(*ingest.Table) error {
				<-ctx.Done()
				return context.Cause(ctx)
			}, nil)
			ended <- errors.Join(err, f.Close())
		}()
	}
	for n := range 3 {
		check(n)
	}
	<-begun
	await(t, s, startPublish(t, s).ID)
	if len(begun) != 0 {
		t.Error("one key checks two files at once, with two slots")
	}
	canceled := errors.New("canceled")
	cancel(canceled)
	for range 3 {
		if err := <-ended; !errors.Is(err, canceled) {
			t.Errorf("got %v", err)
		}
	}
	if s.opts.Admission.InFlight(admission.Build) != 0 {
		t.Error("slots are occupied afterwards")
	}
}

// readingPublisher calls Options.Read, if there is one.
type readingPublisher struct{ SourcePublisher }

func (p readingPublisher) Publish(ctx context.Context, s ingest.Source, o Options) (versions.Result, error) {
	if o.Read != nil {
		return versions.Result{}, o.Read(&ingest.Table{})
	}
	return p.SourcePublisher.Publish(ctx, s, o)
}

// TestCheck_errors gives errors the codes of a publish.
func TestCheck_errors(t *testing.T) {
	t.Parallel()
	s := newQueue(t, newStore(), time.Now, nil)
	s.opts.Publisher = readingPublisher{}
	check := func(f *receive.File, read func(*ingest.Table) error) error {
		_, err := s.Check(t.Context(), Request{Ref: herb.Ref{Namespace: "shop", Name: "prices"}, File: f},
			func() {}, read, nil)
		return err
	}
	f := receiveFile(t, s, "a,b\n1,2\n")
	defer f.Close()
	if err := check(f, func(*ingest.Table) error {
		return herb.Invalidf("broken")
	}); herb.CodeOf(err) != herb.CodeUnreadable {
		t.Errorf("a broken file: %v", err)
	}
	wrong := check(f, func(*ingest.Table) error { panic("bug") })
	if _, ok := errors.AsType[*herb.PanicError](wrong); !ok {
		t.Errorf("a panic: %v", wrong)
	}
	must.NoError(t, check(f, func(*ingest.Table) error { return nil }))
	damaged := receive.Stored("a.csv", 8, "00", func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("a,b\n1,2\n")), nil
	})
	if err := check(damaged, nil); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("a damaged file: %v", err)
	}
}
