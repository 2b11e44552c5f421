// Package changes lists how the records of a dataset differ between two of its versions: it
// compares versions, keeps the comparisons in files, and writes the differences as JSON and as a
// table that can be published as an update.
package changes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"herbarium/internal/background"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// Options configures Comparisons.
type Options struct {
	Library *library.Library
	Log     *slog.Logger
	Dir     string // folder of the versions
	Memory  int    // bytes for sorting in a comparison; 0 means the default of segment.CompareOptions
}

// Comparisons compares versions and keeps the comparisons beside the versions. It is safe for
// concurrent use.
type Comparisons struct{ opts Options }

// NewComparisons returns a Comparisons.
func NewComparisons(opts Options) *Comparisons { return &Comparisons{opts} }

// Compare compares two versions of a dataset by the primary key of the later one. release must be
// called after use. If they were not compared before, they are compared in the background, and the
// request waits for it; see library.OpenDerived. It fails with herb.CodeInvalid for a dataset that
// has no versions.
func (c *Comparisons) Compare(ctx context.Context, from, to library.View) (_ *segment.Comparison, release func(),
	err error) {
	if from.Reader == nil || to.Reader == nil {
		return nil, nil, herb.Invalidf(
			"%s has no versions: its records are listed as they are; there is nothing to compare", to.Ref)
	}
	d := c.file(from, to)
	for range 2 { // a damaged file is removed
		file, err := c.opts.Library.OpenDerived(ctx, d)
		if err != nil {
			return nil, nil, err
		}
		comparison, err := segment.OpenComparison(file, from.Reader, to.Reader)
		if err == nil {
			return comparison, func() { _ = comparison.Close() }, nil
		}
		err = errors.Join(err, file.Close())
		if !errors.Is(err, segment.ErrComparison) {
			return nil, nil, err
		}
		c.opts.Log.Error("comparison is damaged; comparing the versions again", "file", d.Name, "err", err)
		if err := os.Remove(filepath.Join(c.opts.Dir, d.Name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, nil, err
		}
	}
	return nil, nil, herb.Errorf(herb.CodeUnavailable, "the comparison of two versions of %s cannot be read; try again",
		to.Ref)
}

// CompareNew compares a version that is not in the catalogue yet with the live one. Close must be
// called after use.
func (c *Comparisons) CompareNew(ctx context.Context, live, to library.View) (*segment.Comparison, error) {
	d := c.file(live, to)
	return c.compare(ctx, live, to, background.NewTask(d.What), d.Total)
}

// Keep keeps the comparison of a version that is not in the catalogue yet with the live one, so
// that readers need not compare them.
func (c *Comparisons) Keep(ctx context.Context, live, to library.View, comparison *segment.Comparison) error {
	d := c.file(live, to)
	d.Write = func(_ context.Context, _ *background.Task, file io.Writer) error { return comparison.Write(file) }
	return c.opts.Library.WriteDerived(ctx, d, background.NewTask(d.What))
}

// StoreKept stores what Keep has kept for other nodes.
func (c *Comparisons) StoreKept(ctx context.Context, live, to string) error {
	return c.opts.Library.StoreDerived(ctx, store.ComparisonFile(live, to, segment.ComparisonLayout))
}

// sortBytes is about how many bytes the comparison of a record needs on the disk.
const sortBytes = 32

// file describes the file of a comparison.
func (c *Comparisons) file(from, to library.View) library.Derived {
	d := library.Derived{
		Name:     store.ComparisonFile(from.Version, to.Version, segment.ComparisonLayout),
		What:     fmt.Sprintf("comparing version %s of %s with version %s", to.Version, to.Ref, from.Version),
		Versions: []library.View{from, to}, Total: int64(from.Records + to.Records),
		Size: sortBytes * int64(from.Records+to.Records),
	}
	d.Write = func(ctx context.Context, t *background.Task, file io.Writer) error {
		comparison, err := c.compare(ctx, from, to, t, d.Total)
		if err != nil {
			return err
		}
		query.Idle(ctx)
		return errors.Join(comparison.Write(file), comparison.Close())
	}
	return d
}

// compare compares two versions. The lock keeps its temporary files from being swept.
func (c *Comparisons) compare(ctx context.Context, from, to library.View, t *background.Task,
	total int64) (*segment.Comparison, error) {
	lock, err := store.LockVersions(c.opts.Dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	return segment.Compare(ctx, from.Reader, to.Reader, segment.CompareOptions{
		SortOptions: segment.SortOptions{Dir: c.opts.Dir, Memory: c.opts.Memory}, Key: to.PrimaryKey,
		Progress: func(share float64) { t.SetDone(int64(share * float64(total))) },
	})
}
