package library

import (
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

func TestReasonOf(t *testing.T) {
	t.Parallel()
	missing := &fs.PathError{Op: "open", Path: "v1.segment", Err: fs.ErrNotExist}
	down := herb.Errorf(herb.CodeUnavailable, "the object store does not answer")
	for name, tt := range map[string]struct {
		err  error
		want Reason
	}{
		"hash differs":          {fmt.Errorf("%w: more than 3 bytes", errDamaged), ReasonDamaged},
		"checksum":              {fmt.Errorf("section 2: %w", segment.ErrCorrupt), ReasonDamaged},
		"cut off":               {segment.ErrTruncated, ReasonDamaged},
		"newer format":          {fmt.Errorf("9: %w", segment.ErrIndex), ReasonFormat},
		"no file":               {missing, ReasonMissing},
		"no object":             {herb.Errorf(herb.CodeNotFound, "no object"), ReasonMissing},
		"object store is down":  {down, ReasonUnavailable},
		"no file descriptors":   {&fs.PathError{Op: "open", Path: "v1.segment", Err: syscall.EMFILE}, ReasonSystem},
		"no memory for the map": {syscall.ENOMEM, ReasonSystem},
	} {
		if got := ReasonOf(tt.err); got != tt.want {
			t.Errorf("%s: %s; want %s", name, got, tt.want)
		}
	}
}
