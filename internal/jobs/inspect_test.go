package jobs

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
	"herbarium/internal/publish"
	"herbarium/internal/upload"
	"herbarium/internal/versions"
)

// TestInspect lets one key inspect more files than there are slots. A publish of another key gets a
// slot.
func TestInspect(t *testing.T) {
	t.Parallel()
	s := newService(t, newStore(), time.Now, func(context.Context, ingest.Source, publish.Options) (publish.Result, error) {
		return publish.Result{Outcome: versions.Outcome{Dataset: herb.Dataset{Version: "v1"}}}, nil
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	begun, ended := make(chan int, 3), make(chan error, 3)
	inspect := func(n int) {
		f := receive(t, s, "a,b\n1,2\n")
		go func() {
			r := Request{Ref: herb.Ref{Namespace: "shop", Name: "prices"}, File: f, Actor: herb.Actor{Name: "greedy"}}
			ended <- errors.Join(s.Inspect(ctx, r, herb.Dataset{}, ingest.Options{}, func() { begun <- n }, func(table *ingest.Table) error {
				if table.Dataset.Records != 1 {
					t.Errorf("the file has %d records", table.Dataset.Records)
				}
				<-ctx.Done()
				return context.Cause(ctx)
			}), f.Close())
		}()
	}
	for n := range 3 {
		inspect(n)
	}
	<-begun
	<-start(t, s).Done()
	if len(begun) != 0 {
		t.Error("one key inspects two files at once, with two slots")
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

// TestInspect_errors gives errors the codes of a publish.
func TestInspect_errors(t *testing.T) {
	t.Parallel()
	s := newService(t, newStore(), time.Now, nil)
	f := receive(t, s, "a,b\n1,\"2\n")
	defer f.Close()
	r := Request{Ref: herb.Ref{Namespace: "shop", Name: "prices"}, File: f}
	use := func(*ingest.Table) error { panic("bug") }
	if err := s.Inspect(t.Context(), r, herb.Dataset{}, ingest.Options{}, func() {}, use); herb.CodeOf(err) != herb.CodeUnreadable {
		t.Errorf("a broken file: %v", err)
	}
	r.File = receive(t, s, "a,b\n1,2\n")
	defer r.File.Close()
	err := s.Inspect(t.Context(), r, herb.Dataset{}, ingest.Options{}, func() {}, use)
	if _, ok := errors.AsType[*herb.PanicError](err); !ok {
		t.Errorf("a panic: %v", err)
	}
	must.NoError(t, s.Inspect(t.Context(), r, herb.Dataset{}, ingest.Options{}, func() {}, func(*ingest.Table) error { return nil }))
	r.File = upload.Stored("a.csv", 8, "00", func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("a,b\n1,2\n")), nil
	})
	if err := s.Inspect(t.Context(), r, herb.Dataset{}, ingest.Options{}, func() {}, use); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("a damaged file: %v", err)
	}
}
