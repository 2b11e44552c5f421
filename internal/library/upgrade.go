package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// isOutdated reports whether Dir has the published file of a version, but no file with an index of
// this program.
func (l *Library) isOutdated(version string) bool {
	if _, err := os.Stat(l.rebuiltFile(version)); err == nil {
		return false
	}
	core, err := segment.OpenCore(l.file(version))
	if err != nil {
		return false
	}
	defer core.Close()
	return !core.HasCurrentIndex()
}

// FindOutdated returns the live versions whose index has to be rebuilt before this node can list
// them, as far as is known without fetching them: those in Dir, and those that the cache has room
// for. Health counts them until they are open. Without a catalogue, there are none.
func (l *Library) FindOutdated(ctx context.Context) (outdated []herb.LiveVersion) {
	_ = l.updateEntries(ctx)
	if l.shared() {
		l.loadSizes(ctx)
	}
	for _, v := range l.liveVersions() {
		if ctx.Err() != nil {
			break
		}
		if l.isOutdated(v.Version) || l.shared() && l.isOutdatedElsewhere(ctx, v) {
			outdated = append(outdated, v)
			l.rebuilds.setOutdated(v.Version, true)
		}
	}
	return outdated
}

// isOutdatedElsewhere reports whether a version that is not in Dir, and fits into the cache, has
// another index in the object store, and no node has rebuilt it yet.
func (l *Library) isOutdatedElsewhere(ctx context.Context, v herb.LiveVersion) bool {
	l.mu.RLock()
	e := l.entries[versionKey{ref: v.Ref}]
	cached, pending := l.cacheSize()
	candidate := e != nil && e.Version == v.Version && !l.isCached(v.Version) &&
		e.index != "" && e.index != segment.CurrentIndex() &&
		(l.opts.CacheSize == 0 || cached+pending+e.size <= l.opts.CacheSize)
	l.mu.RUnlock()
	return candidate && herb.CodeOf(l.findObject(ctx, RebuiltName(v.Version))) == herb.CodeNotFound
}

// rebuildLive rebuilds the indexes of the live versions in Dir that other releases have published,
// one after the other. Requests have those that they need rebuilt first.
func (l *Library) rebuildLive(ctx context.Context) {
	outdated := l.FindOutdated(ctx)
	if len(outdated) == 0 || ctx.Err() != nil {
		return
	}
	l.opts.Log.Info("rebuilding indexes of other releases in the background", "datasets", len(outdated))
	for _, v := range outdated {
		l.mu.Lock()
		e, f := l.entries[versionKey{ref: v.Ref}], (*fetch)(nil)
		if e != nil && e.Version == v.Version && !e.isOpen() {
			l.startFetch(e)
			f = e.fetch
		}
		l.mu.Unlock()
		if f != nil {
			select {
			case <-f.Ended():
			case <-ctx.Done():
				return
			}
		}
	} // the next request retries what has failed
	h := l.Health()
	l.opts.Log.Info("rebuilt indexes of other releases", "datasets", h.Rebuilt, "failed", h.Outdated)
}

// Upgrade rebuilds the indexes of live versions that other releases have published, or with kept of
// all kept versions, so that a server of this release finds them. It calls report after each
// version that it opens: with an object store, those whose index is not there. A version that
// cannot be rebuilt does not hold back the others. Options.Wait must be negative.
func (l *Library) Upgrade(ctx context.Context, kept bool, report func(done, total int)) (u Upgrade, err error) {
	if err := l.updateEntries(ctx); err != nil {
		return u, err
	}
	var all []versionKey
	for _, v := range l.liveVersions() {
		if !l.hasStoredIndex(ctx, v.Ref, v.Version) {
			all = append(all, versionKey{ref: v.Ref})
		}
		u.Versions++
		if !kept {
			continue
		}
		h, err := l.catalogue.History(ctx, v.Ref)
		if err != nil {
			return u, err
		}
		for _, d := range h.Versions {
			if d.Version == v.Version {
				continue
			}
			if !l.hasStoredIndex(ctx, v.Ref, d.Version) {
				all = append(all, versionKey{v.Ref, d.Version})
			}
			u.Versions++
		}
	}
	before := l.rebuilds.rebuilt.Load()
	for i, v := range all {
		view, failed := l.acquire(ctx, v)
		switch {
		case ctx.Err() != nil:
			return u, context.Cause(ctx)
		case failed != nil:
			u.Failed++
			err = errors.Join(err, fmt.Errorf("%s: %w", strings.TrimSuffix(v.ref.String()+" "+v.version, " "), failed))
		default:
			view.Release()
		}
		report(i+1, len(all))
	}
	u.Rebuilt = int(l.rebuilds.rebuilt.Load() - before)
	return u, err
}

// hasStoredIndex reports whether the object store has a file of a version with the index of this
// program. Opening the version would only fetch it.
func (l *Library) hasStoredIndex(ctx context.Context, ref herb.Ref, version string) bool {
	if !l.shared() {
		return false
	}
	d, err := l.describeVersion(ctx, herb.LiveVersion{Ref: ref, Version: version})
	if err != nil || d.File == nil {
		return false
	}
	return d.File.Index == segment.CurrentIndex() || l.findObject(ctx, RebuiltName(version)) == nil
}

// findObject returns nil if the object store has an object, which it does not fetch. The error has
// herb.CodeNotFound if there is no such object.
func (l *Library) findObject(ctx context.Context, name string) error {
	errFound := errors.New("the object exists")
	err := l.opts.Blobs.Get(ctx, name, writerFunc(func([]byte) (int, error) { return 0, errFound }))
	if errors.Is(err, errFound) {
		return nil
	}
	return err
}

// Upgrade is the result of Library.Upgrade.
type Upgrade struct {
	Versions int `json:"versions"` // that were looked at
	Rebuilt  int `json:"rebuilt"`
	Failed   int `json:"failed"`
}
