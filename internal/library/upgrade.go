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

// hasOutdatedIndex reports whether dir has the published file of a version, but no file with an
// index of this program.
func (l *folder) hasOutdatedIndex(version string) bool {
	if _, err := os.Stat(l.rebuiltFile(version)); err == nil {
		return false
	}
	core, err := segment.OpenCore(l.publishedFile(version))
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
	_ = l.catalogue.updateEntries(ctx)
	if l.shared() {
		l.fetcher.loadSizes(ctx)
	}
	for _, v := range l.table.live() {
		if ctx.Err() != nil {
			break
		}
		if l.hasOutdatedIndex(v.Version) || l.shared() && l.isOutdatedElsewhere(ctx, v) {
			outdated = append(outdated, v)
			l.rebuilder.setOutdated(v.Version, true)
		}
	}
	return outdated
}

// isOutdatedElsewhere reports whether a version that is not in Dir, and fits into the cache, has
// another index in the object store, and no node has rebuilt it yet.
func (l *Library) isOutdatedElsewhere(ctx context.Context, v herb.LiveVersion) bool {
	l.table.mu.RLock()
	e := l.table.entries[versionKey{ref: v.Ref}]
	cached, pending := l.fetcher.cacheSize()
	candidate := e != nil && e.Version == v.Version && !l.cache.has(v.Version) &&
		e.index != "" && e.index != segment.CurrentIndex() &&
		l.cache.fits(cached+pending+e.size)
	l.table.mu.RUnlock()
	return candidate && herb.CodeOf(l.findObject(ctx, RebuiltName(v.Version))) == herb.CodeNotFound
}

// rebuildLive rebuilds the indexes of the live versions in Dir that other releases have published,
// one after the other. Requests have those that they need rebuilt first.
func (l *Library) rebuildLive(ctx context.Context) {
	outdated := l.FindOutdated(ctx)
	if len(outdated) == 0 || ctx.Err() != nil {
		return
	}
	l.log.Info("rebuilding indexes of other releases in the background", "datasets", len(outdated))
	for _, v := range outdated {
		l.table.mu.Lock()
		e, f := l.table.entries[versionKey{ref: v.Ref}], (*fetch)(nil)
		if e != nil && e.Version == v.Version && !e.isOpen() {
			l.fetcher.startFetch(e)
			f = e.fetch
		}
		l.table.mu.Unlock()
		if f != nil {
			select {
			case <-f.Ended():
			case <-ctx.Done():
				return
			}
		}
	} // the next request retries what has failed
	h := l.Health()
	l.log.Info("rebuilt indexes of other releases", "datasets", h.Rebuilt, "failed", h.Outdated)
}

// Upgrade rebuilds the indexes of live versions that other releases have published, or with kept of
// all kept versions, so that a server of this release finds them. It calls report after each
// version that it opens: with an object store, those whose index is not there. A version that
// cannot be rebuilt does not hold back the others. Options.Wait must be negative.
func (l *Library) Upgrade(ctx context.Context, kept bool, report func(done, total int)) (u Upgrade, err error) {
	if err := l.catalogue.updateEntries(ctx); err != nil {
		return u, err
	}
	var all []versionKey
	for _, v := range l.table.live() {
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
	before := l.rebuilder.rebuilt.Load()
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
	u.Rebuilt = int(l.rebuilder.rebuilt.Load() - before)
	return u, err
}

// hasStoredIndex reports whether the object store has a file of a version with the index of this
// program. Opening the version would only fetch it.
func (l *Library) hasStoredIndex(ctx context.Context, ref herb.Ref, version string) bool {
	if !l.shared() {
		return false
	}
	d, err := l.descriptions.describeVersion(ctx, herb.LiveVersion{Ref: ref, Version: version})
	if err != nil || d.File == nil {
		return false
	}
	return d.File.Index == segment.CurrentIndex() || l.findObject(ctx, RebuiltName(version)) == nil
}

// Upgrade is the result of Library.Upgrade.
type Upgrade struct {
	Versions int `json:"versions"` // that were looked at
	Rebuilt  int `json:"rebuilt"`
	Failed   int `json:"failed"`
}
