// Package changes lists how the records of a dataset differ between two of its versions: it
// compares versions, keeps the last comparisons, and writes the differences as JSON and as a table
// that can be published as an update.
package changes

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// Options configures Comparisons.
type Options struct {
	Dir      string // folder of the versions, for temporary files
	Memory   int    // bytes for sorting in a comparison; 0 means the default of segment.CompareOptions
	MaxBytes int64  // of all comparisons that are kept, in files without a name; 0 means 1 GiB
	MaxKept  int    // comparisons; 0 means 64
}

// Comparisons compares versions and keeps the last comparisons. It is safe for concurrent use.
type Comparisons struct {
	opts    Options
	mu      sync.Mutex
	kept    []*kept // least recently used first
	running map[versionPair]chan struct{}
}

// versionPair identifies a comparison.
type versionPair struct{ from, to string }

// kept is a comparison that is kept or in use.
type kept struct {
	*segment.Comparison
	pair    versionPair
	users   int
	dropped bool
}

// NewComparisons returns an empty Comparisons.
func NewComparisons(opts Options) *Comparisons {
	opts.MaxBytes = cmp.Or(opts.MaxBytes, 1<<30)
	opts.MaxKept = cmp.Or(opts.MaxKept, 64)
	return &Comparisons{opts: opts, running: map[versionPair]chan struct{}{}}
}

// Compare compares two versions of a dataset by the primary key of the later one. release must be
// called after use. Concurrent calls for the same versions share one comparison. It fails with
// herb.CodeInvalid for a dataset that has no versions.
func (c *Comparisons) Compare(ctx context.Context, from, to library.View) (_ *segment.Comparison, release func(), err error) {
	if from.Reader == nil || to.Reader == nil {
		return nil, nil, herb.Invalidf("%s has no versions: its records are listed as they are; there is nothing to compare", to.Ref)
	}
	pair := versionPair{from.Version, to.Version}
	for {
		c.mu.Lock()
		if k := c.use(pair); k != nil {
			c.mu.Unlock()
			return k.Comparison, func() { c.release(k) }, nil
		}
		other, isRunning := c.running[pair]
		if !isRunning {
			break
		}
		c.mu.Unlock()
		select {
		case <-other: // it may have failed, because its client left
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
	done := make(chan struct{})
	c.running[pair] = done
	c.mu.Unlock()
	result, err := c.compare(ctx, from, to)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, pair)
	close(done)
	if err != nil {
		return nil, nil, err
	}
	k := &kept{Comparison: result, pair: pair, users: 1}
	c.kept = append(c.kept, k)
	c.evict()
	return result, func() { c.release(k) }, nil
}

// compare compares two versions. The lock keeps its temporary files from being swept.
func (c *Comparisons) compare(ctx context.Context, from, to library.View) (*segment.Comparison, error) {
	lock, err := store.LockVersions(c.opts.Dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	return segment.Compare(ctx, from.Reader, to.Reader, segment.CompareOptions{SortOptions: segment.SortOptions{Dir: c.opts.Dir, Memory: c.opts.Memory}, Key: to.PrimaryKey})
}

// use returns a kept comparison, or nil.
func (c *Comparisons) use(pair versionPair) *kept {
	i := slices.IndexFunc(c.kept, func(k *kept) bool { return k.pair == pair })
	if i < 0 {
		return nil
	}
	k := c.kept[i]
	c.kept = append(slices.Delete(c.kept, i, i+1), k)
	k.users++
	return k
}

// evict drops the least recently used comparisons beyond the limits. Those in use are closed by
// their last user.
func (c *Comparisons) evict() {
	total := int64(0)
	for _, k := range c.kept {
		total += k.Differences.Size()
	}
	for len(c.kept) > 0 && (total > c.opts.MaxBytes || len(c.kept) > c.opts.MaxKept) {
		k := c.kept[0]
		total -= k.Differences.Size()
		c.kept = slices.Delete(c.kept, 0, 1)
		k.dropped = true
		k.closeUnused()
	}
}

func (c *Comparisons) release(k *kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.users--
	k.closeUnused()
}

// closeUnused closes a dropped comparison that nobody uses. What it would report is lost with the
// file, which has no name.
func (k *kept) closeUnused() {
	if k.dropped && k.users == 0 {
		_ = k.Close()
	}
}
