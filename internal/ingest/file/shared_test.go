package file_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// closed counts how often it is closed.
type closed int

func (c *closed) Close() error { *c++; return nil }

// TestShared opens a file for three sources, and for one of them again.
func TestShared(t *testing.T) {
	t.Parallel()
	path := rowstest.WriteFile(t, t.TempDir(), "x.csv", "a")
	s := file.NewShared(3)
	opened, document, spent := 0, new(closed), false
	read := func(ctx context.Context) *file.File {
		t.Helper()
		f, err := s.Open(ctx, path, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Document(func() (io.Closer, error) { opened++; return document, nil }); err != nil {
			t.Fatal(err)
		}
		spent = f.NewBudget(rows.Limits{}).Unpack(20<<20) != nil
		if _, err := f.Sum(); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		return f
	}
	check := func(when string, wantOpened, wantClosed int) {
		t.Helper()
		if opened != wantOpened || int(*document) != wantClosed {
			t.Errorf("%s: opened %d times, closed %d times; want %d and %d", when, opened, *document,
				wantOpened, wantClosed)
		}
	}
	first := read(t.Context())
	s.Return(first)
	s.Release()
	if second := read(t.Context()); second != first {
		t.Error("the file was opened again")
	} else {
		another := read(t.Context()) // by another goroutine
		check("in use", 2, 0)
		s.Return(another)
		s.Return(second)
	}
	check("one is kept", 2, 1)
	if spent {
		t.Error("60 MB were too much")
	}
	ended, cancel := context.WithCancel(t.Context())
	f := read(ended)
	cancel()
	rowstest.WriteFile(t, "", path, "ab")
	s.Return(f)
	check("a file that changed is closed", 2, 2)
	if !spent {
		t.Error("the sources are not charged together")
	}
	f = read(t.Context())
	if f.Size() != 2 {
		t.Error("the old file was read")
	}
	s.Return(f)
	s.Release()
	check("kept for the last source", 3, 2)
	s.Release()
	check("all sources are released", 3, 3)
	s.Return(read(t.Context()))
	check("a source is read again", 4, 4)
	if spent {
		t.Error("a source that is read again is charged with the others")
	}
}

// readAll reads the content of a file.
func readAll(f *file.File) error {
	in, err := f.Open()
	if err == nil {
		_, err = io.Copy(io.Discard, in)
	}
	return err
}

// TestShared_Failed does not keep a file that could not be read.
func TestShared_Failed(t *testing.T) {
	t.Parallel()
	s := file.NewShared(2)
	ctx, cancel := context.WithCancel(t.Context())
	f, err := s.Open(ctx, rowstest.WriteFile(t, t.TempDir(), "x.csv", "a"), file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := f.Cause(readAll(f)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Return(f)
	if again, err := s.Open(t.Context(), "x", file.Options{Content: section("b")}); err != nil || again == f {
		t.Errorf("got the failed file, error %v", err)
	}
}
