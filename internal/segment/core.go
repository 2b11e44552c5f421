package segment

import (
	"errors"
	"fmt"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
)

// Core is the part of a segment that contains what was published: the description and the records.
// Every release reads the core of the files of every other release; the indexes are derived from it
// (docs/format/segment.md). It is safe for concurrent use until it is closed.
type Core struct {
	file    *file.File
	records *column.Records
}

// OpenCore maps a segment with the indexes of any release and validates its frame, in time
// independent of its size. It fails with ErrIndex if the description needs a later release. The
// caller must close the core.
func OpenCore(path string) (*Core, error) {
	f, err := file.OpenCore(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := &Core{file: f}
	if err := f.Guard(c.open); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return c, nil
}

func (c *Core) open() (err error) {
	c.records, err = column.OpenRecords(c.file)
	return err
}

// Close unmaps the file.
func (c *Core) Close() error { return c.file.Close() }

// HasCurrentIndex reports whether this program reads the indexes of the file.
func (c *Core) HasCurrentIndex() bool { return c.file.Index() == file.CurrentIndex() }

// Index names the format and the text rules of the indexes of the file, as in "f5-r1".
func (c *Core) Index() string { return c.file.Index().String() }

// Program returns the release that built the file; empty if it is unknown.
func (c *Core) Program() string { return c.file.Meta.Program }

// Verify reads the entire file and verifies its checksums, including those of indexes that this
// program does not read.
func (c *Core) Verify() error { return c.file.Verify() }

// DropPages releases the pages of the file from memory. They are read again on demand.
func (c *Core) DropPages() { c.file.DropPages(c.file.Data) }

// Fields returns the fields of the records.
func (c *Core) Fields() []herb.Field { return c.file.Meta.Fields }

// Coordinates returns where the records are, as it was recognized when they were published; nil if
// a release before that has published them.
func (c *Core) Coordinates() []herb.Coordinates { return c.file.Meta.Coordinates }

// Size returns the length of the file.
func (c *Core) Size() int { return len(c.file.Data) }

// Len returns the number of records.
func (c *Core) Len() int { return c.file.Meta.Records }

// CurrentIndex names the format and the text rules of the indexes that this program writes and
// reads, as in "f5-r1".
func CurrentIndex() string { return file.CurrentIndex().String() }
