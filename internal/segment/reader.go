package segment

import (
	"fmt"
	"sync/atomic"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/positions"
)

// Errors of files that cannot be read.
var (
	ErrCorrupt    = guard.ErrCorrupt    // damaged
	ErrUnexpected = guard.ErrUnexpected // a bug, or damage that no format check detected; Verify distinguishes them
	ErrTruncated  = file.ErrTruncated
	ErrIndex      = file.ErrIndex // has the indexes of another release; OpenCore reads it
)

// Reader is a read-only, memory-mapped view of one dataset version. It is safe for concurrent use.
// It implements query.Engine.
// Release unmaps the file after the last reader.
type Reader struct {
	Core
	columns    []column.Column
	words      *fulltext.Index
	places     []positions.Index // by coordinates
	pool       bitmap.Pool
	references atomic.Int64
}

// Open maps a segment and validates its frame, in time independent of its size. The caller holds a
// reference until Release. Use Verify to check the content. Open fails with ErrIndex if this
// program does not read the indexes of the file, and with herb.CodeUnavailable if the process or
// the machine is out of file descriptors, memory or maps; a retry may succeed.
func Open(path string) (*Reader, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r, err := newReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.DropPages() // reading the headers of thousands of sections loads most of a file
	return r, nil
}

// newReader returns a reader of a file, which it closes after an error.
func newReader(f *file.File) (*Reader, error) {
	r := &Reader{Core: Core{file: f}, pool: bitmap.Pool{Records: f.Meta.Records}}
	r.references.Store(1)
	if err := f.Guard(r.open); err != nil {
		_ = f.Close() // return the first error
		return nil, err
	}
	return r, nil
}

func (r *Reader) open() (err error) {
	if err := r.Core.open(); err != nil {
		return err
	}
	r.columns = make([]column.Column, len(r.Fields()))
	for i := range r.columns {
		r.columns[i], err = column.Open(r.file, r.records, &r.pool, i)
		if err != nil {
			return err
		}
	}
	for _, c := range r.Coordinates() {
		x, err := positions.Open(r.file, c)
		if err != nil {
			return err
		}
		r.places = append(r.places, x)
	}
	if err := r.checkFacts(); err != nil {
		return err
	}
	r.words, err = fulltext.Open(r.file, &r.pool)
	return err
}

// Acquire adds a reference. It returns false if the last one has been released; the reader must
// then not be used.
func (r *Reader) Acquire() bool {
	for {
		n := r.references.Load()
		if n == 0 {
			return false
		}
		if r.references.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Close is Release: a reader is shared, and the last reference unmaps the file.
func (r *Reader) Close() error { return r.Release() }

// Release releases a reference. The last one unmaps the file.
func (r *Reader) Release() error {
	if r.references.Add(-1) > 0 {
		return nil
	}
	return r.file.Close()
}

// References returns the current number of references.
func (r *Reader) References() int { return int(r.references.Load()) }
