//go:build unix

package guard

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	protected, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	numbers := []int{1, 2}
	index := len(numbers)
	for _, tt := range []struct {
		name  string
		f     func() error
		want  error
		stack bool
	}{
		{"no error", func() error { return nil }, nil, false},
		{"returned error", func() error { return io.EOF }, io.EOF, false},
		{"failed format check", func() error { Corrupt("x"); return nil }, ErrCorrupt, false},
		{"canceled context", func() error { Fail(context.Canceled); return nil }, context.Canceled, false},
		{"index out of range", func() error { numbers[index]++; return nil }, ErrUnexpected, true},
		{"nil pointer", func() error { var s *Steps; s.left = 0; return nil }, ErrUnexpected, true},
		{"fault outside the map", func() error {
			protected[0] = 1
			return nil
		}, ErrUnexpected, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := Run(make([]byte, 1), tt.f)
			if !errors.Is(err, tt.want) {
				t.Fatalf("%v; want %v", err, tt.want)
			}
			if tt.stack && (errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "guard_test.go")) {
				t.Errorf("%v; want an error that is not ErrCorrupt and has the stack", err)
			}
		})
	}
}

// TestRun_otherPanics checks that panics other than runtime errors are not recovered.
func TestRun_otherPanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if p := recover(); p != "other" {
			t.Errorf("recovered %v", p)
		}
	}()
	_ = Run(nil, func() error { panic("other") })
}
