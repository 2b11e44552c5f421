package app

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"herbarium/internal/access"
	"herbarium/internal/admission"
	"herbarium/internal/blobs"
	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/publish"
	"herbarium/internal/store"
	"herbarium/internal/telemetry"
	"herbarium/internal/versions"
	"herbarium/internal/webhooks"
)

// observe returns the metrics of a server. watcher is nil if it watches no files.
func (d *Data) observe(c Config, version string, starting *startup, watcher *publish.Watcher) *telemetry.Metrics {
	m := telemetry.NewMetrics(version, d.Library.Live)
	m.Sources(d.Publisher.SourceErrors)
	m.Disk(c.diskUsage, store.SegmentFile)
	m.Indexes(func() (outdated, rebuilt int) {
		h := d.Library.Health()
		return h.Outdated, h.Rebuilt
	})
	m.Library(d.libraryState)
	m.Database(func() telemetry.Pool { return telemetry.Pool(d.Store.Pool()) }, d.Store)
	m.Webhooks(words(webhooks.Outcomes()), func(ctx context.Context) (telemetry.Deliveries, error) {
		c, err := d.Store.CountDeliveries(ctx)
		return telemetry.Deliveries(c), err
	})
	m.Rejections("buffers", string(admission.ReasonFull))
	m.KeyRejections(keyInvalid, keyRateLimited)
	m.Publishes(string(publish.WayStart), words(versions.Statuses()), func() int { return int(starting.left.Load()) })
	if watcher != nil {
		m.Publishes(string(publish.WayWatch), words(versions.Statuses()), watcher.Waiting)
	}
	d.Publisher.Observe = func(w publish.Way, s versions.Status, took time.Duration) {
		m.Published(string(w), string(s), took)
	}
	if d.blobs != nil {
		d.blobsObserver.Store(new(
			m.ObjectStore(blobs.Operations(), []string{blobsOK, blobsMissing, blobsFailed, blobsAborted})))
	}
	return m
}

// Outcomes of operations of the object store.
const (
	blobsOK      = "ok"
	blobsMissing = "missing" // there is no such object
	blobsFailed  = "failed"  // the object store failed
	blobsAborted = "aborted" // it was canceled, or failed on this machine
)

// observeBlobs counts an operation of the object store.
func (d *Data) observeBlobs(operation string, took time.Duration, err error) {
	count := d.blobsObserver.Load()
	if count == nil {
		return
	}
	outcome := blobsAborted
	switch code := herb.CodeOf(err); {
	case err == nil:
		outcome = blobsOK
	case code == herb.CodeNotFound:
		outcome = blobsMissing
	case code == herb.CodeUnavailable:
		outcome = blobsFailed
	}
	(*count)(operation, outcome, took)
}

// libraryState returns the state of the library for metrics. All reasons and states are present,
// so that alerts end.
func (d *Data) libraryState() telemetry.LibraryState {
	h, s := d.Library.Health(), d.Library.Statistics()
	state := telemetry.LibraryState{
		Datasets:   map[string]int{"open": h.Open, "fetching": h.Fetching, "failed": h.Failed, "cold": h.Cold},
		Unreadable: map[string]int{}, Behind: h.Behind, Read: h.Read,
		Opened: map[string]int64{"local": s.Opened, "object store": s.Fetched}, Failed: map[string]int64{},
		FetchedBytes: s.FetchedBytes, Evicted: s.Evicted, EvictedBytes: s.EvictedBytes,
	}
	for _, r := range library.Reasons() {
		state.Unreadable[string(r)], state.Failed[string(r)] = h.Reasons[r], s.Failed[r]
	}
	return state
}

// words returns values of a type with a fixed set of values as label values.
func words[T ~string](values []T) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return names
}

// Reasons of rejected keys.
const (
	keyInvalid     = "invalid"
	keyRateLimited = "rate_limited"
)

// countedKeys counts the keys that a verifier rejects.
type countedKeys struct {
	*access.Verifier
	rejected func(reason string)
}

// Verify implements the interfaces of httpapi and web.
func (k countedKeys) Verify(ctx context.Context, secret string, client admission.Client) (herb.Principal, error) {
	p, err := k.Verifier.Verify(ctx, secret, client)
	switch herb.CodeOf(err) {
	case herb.CodeUnauthenticated:
		k.rejected(keyInvalid)
	case herb.CodeRateLimited:
		k.rejected(keyRateLimited)
	}
	return p, err
}

// diskUsage measures the folders of published files and of the plants, and the free space. Files
// that vanish meanwhile are not counted.
func (c Config) diskUsage() telemetry.DiskUsage {
	u := telemetry.DiskUsage{Folders: map[string]int64{}, Files: map[string]int64{}}
	u.Free, _, u.FreeKnown = filesystem.DiskSpace(c.Data)
	if c.Blobs != "" {
		u.CacheLimit = c.CacheSize
	}
	for _, folder := range []string{store.VersionsDir, store.PlantsDir} {
		entries, _ := os.ReadDir(filepath.Join(c.Data, folder))
		u.Folders[folder] = 0
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				u.Folders[folder] += info.Size()
				u.Files[e.Name()] = info.Size()
			}
		}
	}
	return u
}
