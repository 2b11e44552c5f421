package library

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// catalogueStatus is the state of reading the catalogue. It is immutable.
type catalogueStatus struct {
	generation int64     // of the catalogue; negative if it was never read
	restored   bool      // the entries are those of the catalogue copy of an earlier run
	lastRead   time.Time // last success
	err        error     // of the last attempt
	retryAt    time.Time // earliest next attempt by a request; zero unless the last one failed
}

const (
	catalogueLimit = 20 * time.Second // timeout of a read
	catalogueWait  = 2 * time.Second  // timeout of a read in a request, on a node that can serve without it
	cataloguePause = 5 * time.Second  // how long requests do not retry after a failure
)

// catalogueReader reads the catalogue: when it reads, that it reads only what changed, how long
// requests wait for it, and what is known while it is down. It applies what it reads to the table.
type catalogueReader struct {
	Catalogue
	*folder
	table  *table
	plants *lastKnown
	now    func() time.Time
	apply  func(store.Changes) // updates the table, and removes what was withdrawn

	notifier *notifier
	refresh  sync.Mutex                      // held while reading the catalogue
	status   atomic.Pointer[catalogueStatus] // written with refresh held
}

// generation returns the generation of the catalogue that was read last; negative if none was.
func (c *catalogueReader) generation() int64 { return c.status.Load().generation }

// upToDate reports whether requests use the entries as they are: they are up to date, or the
// catalogue failed to answer recently. The error is that failure if there are no entries.
func (c *catalogueReader) upToDate() (bool, error) {
	s := c.status.Load()
	known := s.generation >= 0
	switch {
	case known && !s.restored && !c.notifier.changed():
		return true, nil
	case !known:
		return c.now().Before(s.retryAt), s.err
	}
	return c.now().Before(s.retryAt), nil
}

// updateEntries reads the catalogue if a change notification was received. On a node, one request
// reads it for all, because a shared database can be slow to fail; the others use the last known
// entries.
func (c *catalogueReader) updateEntries(ctx context.Context) error {
	if done, err := c.upToDate(); done {
		return err
	}
	known := c.status.Load().generation >= 0
	limit := catalogueLimit
	if c.shared() && known {
		if !c.refresh.TryLock() {
			return nil
		}
		limit = catalogueWait
	} else {
		c.refresh.Lock()
	}
	defer c.refresh.Unlock()
	if done, err := c.upToDate(); done { // another request has read the catalogue meanwhile
		return err
	}
	if err := c.readCatalogue(ctx, limit, false); !known {
		return err
	}
	return nil
}

// poll reads what changed in the catalogue, or all of it.
func (c *catalogueReader) poll(ctx context.Context, complete bool) error {
	c.refresh.Lock()
	defer c.refresh.Unlock()
	return c.readCatalogue(ctx, catalogueLimit, complete)
}

// readCatalogue reads and applies the changes of the catalogue since the last read, or all of it,
// and records and logs the result unless ctx was canceled. c.refresh is held.
func (c *catalogueReader) readCatalogue(ctx context.Context, limit time.Duration, complete bool) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last := c.status.Load()
	since := last.generation
	if complete || last.restored {
		since = -1
	}
	stamp := c.notifier.stamp() // before the read, so that no later notification is missed
	changes, err := c.Catalogue.Changes(limited, since)
	if ctx.Err() != nil && err != nil {
		return err
	}
	now := *last
	now.err, now.retryAt = err, c.now().Add(cataloguePause)
	changed := err == nil && changes.Generation != since
	switch {
	case err == nil:
		now.generation, now.restored, now.lastRead, now.retryAt = changes.Generation, false, c.now(), time.Time{}
		if changed {
			c.apply(changes)
		}
		c.notifier.seen.Store(stamp)
		if last.err != nil {
			c.log.Info("catalogue is readable again")
		}
	case last.err == nil:
		c.log.Error("cannot read catalogue; serving last known versions", "err", err)
	}
	c.status.Store(&now)
	if changed && c.shared() {
		c.saveCatalogueCopy()
	}
	return err
}

// notifyChange signals other processes that the catalogue changed.
func (c *catalogueReader) notifyChange() {
	if err := c.notifier.notify(); err != nil {
		c.log.Warn("cannot signal catalogue change; nodes will see it at the next poll", "err", err)
	}
}

// catalogueFile is a node's copy of the catalogue, which it lists if it starts while the catalogue
// is down. The descriptions are in files of their own, one per version.
const catalogueFile = "catalogue.json"

// catalogueCopy is the content of catalogueFile.
type catalogueCopy struct {
	Generation int64              `json:"generation"`
	Datasets   []herb.LiveVersion `json:"datasets"`
	Plants     *herb.Dataset      `json:"plants,omitempty"` // last known description of the mutable dataset
}

// loadCatalogueCopy restores the entries from the copy that an earlier run saved, until the
// catalogue is read.
func (c *catalogueReader) loadCatalogueCopy() {
	content, err := os.ReadFile(c.path(catalogueFile))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var copied catalogueCopy
	if err == nil {
		err = json.Unmarshal(content, &copied)
	}
	if err != nil {
		c.log.Warn("cannot load catalogue copy", "err", err)
		return
	}
	c.table.mu.Lock()
	for _, v := range copied.Datasets {
		c.table.setEntry(v)
	}
	c.table.mu.Unlock()
	c.status.Store(&catalogueStatus{generation: max(copied.Generation, 0), restored: true})
	if copied.Plants != nil {
		c.plants.dataset = *copied.Plants
	}
	c.log.Info("serving versions of the catalogue copy until the catalogue is read", "datasets", len(copied.Datasets))
}

// saveCatalogueCopy saves the entries for loadCatalogueCopy. c.refresh is held.
func (c *catalogueReader) saveCatalogueCopy() {
	s := c.status.Load()
	if s.restored || s.generation < 0 {
		return
	}
	copied := catalogueCopy{Generation: s.generation, Datasets: c.table.live()}
	c.plants.mu.Lock()
	if c.plants.dataset.Version != "" {
		copied.Plants = new(c.plants.dataset)
	}
	c.plants.mu.Unlock()
	if err := c.saveJSON(catalogueFile, copied); err != nil {
		c.log.Warn("cannot save catalogue copy", "err", err)
	}
}

// notifier signals catalogue changes between processes that share a folder, through a small file
// that each request reads. It only affects how soon a change is seen: Library.Run polls the
// catalogue anyway.
type notifier struct {
	fs   filesystem.FS // writes notifications
	file *os.File      // for reading
	seen atomic.Uint64 // the stamp of the last catalogue read
}

func openNotifier(fs filesystem.FS, path string) (*notifier, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the change notification file: %w", err)
	}
	return &notifier{fs: fs, file: f}, nil
}

// notify signals other processes that the catalogue changed. If it fails, they see the change at
// their next poll.
func (n *notifier) notify() error {
	f, err := n.fs.OpenFile(n.file.Name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	var stamp [8]byte
	rand.Read(stamp[:])
	_, err = f.Write(stamp[:])
	return errors.Join(err, f.Close())
}

// stamp returns the content of the file, a random number that each notification replaces. An
// unreadable file counts as one without notifications.
func (n *notifier) stamp() uint64 {
	var stamp [8]byte
	_, _ = n.file.ReadAt(stamp[:], 0)
	return binary.LittleEndian.Uint64(stamp[:])
}

// changed reports whether a notification was sent since the last one seen.
func (n *notifier) changed() bool { return n.stamp() != n.seen.Load() }
