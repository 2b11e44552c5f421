package file

import (
	"context"
	"sync"

	"herbarium/internal/ingest/rows"
)

// Shared is a file that several sources read, usually one table each. It is opened once for all of them, so that its hash, a copy
// of its content and what its tables have in common are not made again for each, and its limits apply to all of them
// together. It is safe for concurrent use. A nil Shared is a file that one source reads.
type Shared struct {
	usage rows.Usage
	mu    sync.Mutex
	left  int   // sources that have not been released
	idle  *File // that is open and not in use; nil: none
}

// NewShared returns a Shared for a number of sources.
func NewShared(sources int) *Shared { return &Shared{left: sources} }

// Open returns the file as it was when the first source opened it, or opens it. The caller returns it with Return.
func (s *Shared) Open(ctx context.Context, path string, o Options) (*File, error) {
	if s == nil {
		return Open(ctx, path, o)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.idle; f != nil {
		s.idle, f.ctx, f.opts, f.reported = nil, ctx, o, 0
		return f, nil
	}
	f, err := Open(ctx, path, o)
	if err == nil && s.left > 0 {
		f.usage = &s.usage
	}
	return f, err
}

// Return keeps a file for the next source, or closes it.
func (s *Shared) Return(f *File) {
	if s != nil && f.failed == nil && f.Changed() == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.left > 0 && s.idle == nil {
			s.idle = f
			return
		}
	}
	f.Close()
}

// Release declares that a source does not need the file any more. After the last one the file is closed, and a source that is
// read again opens it alone.
func (s *Shared) Release() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left <= 0 && s.idle != nil {
		s.idle.Close()
		s.idle = nil
	}
}
