package library

import (
	"context"
	"time"

	"herbarium/internal/herb"
)

const (
	// namedCheck is the interval at which a named version is looked up in the catalogue again.
	namedCheck = 10 * time.Second
	// namedIdle is the number of ticks of cache.epoch without a request after which a named version is closed. The file of a
	// version that left the catalogue occupies the disk as long as it is open.
	namedIdle = 60
)

// AcquireVersion returns a version of a dataset that is in the catalogue, live or not; the caller must release it. The error
// has herb.CodeGone if it is not in the catalogue, and herb.CodeInvalid if the name is malformed or the dataset is mutable.
// The access of the view is that of the version; that of the live version may differ.
func (l *Library) AcquireVersion(ctx context.Context, ref herb.Ref, version string) (View, error) {
	if l.isPlants(ref) {
		return View{}, herb.Invalidf("dataset %s has no versions, because every write changes it; omit the version", ref)
	}
	if !isVersion(version) {
		return View{}, herb.Invalidf("malformed version %q; write it as in X-Dataset-Version, such as 20240229T133000Z-abcdefghij", clip(version))
	}
	if err := l.updateEntries(ctx); err != nil {
		return View{}, err
	}
	key := versionKey{ref, version}
	l.mu.RLock()
	dataset, named := l.entries[versionKey{ref: ref}], l.entries[key]
	// A switch of the dataset may have pruned the version.
	checked := dataset != nil && named != nil && named.switches == dataset.switches && l.opts.Now().Before(named.checkAt)
	for _, e := range []*entry{dataset, named} {
		if e == nil || e.open == nil || e == named && !checked {
			continue
		}
		if v := e.open; v.dataset.Version == version && v.Acquire() {
			defer l.mu.RUnlock()
			return l.view(v), nil
		}
	}
	l.mu.RUnlock()
	if dataset == nil {
		return View{}, l.unknownDataset(ref)
	}
	if !checked {
		if err := l.checkNamed(ctx, key); err != nil {
			return View{}, err
		}
	}
	return l.awaitFetch(ctx, key)
}

// checkNamed looks up a version in the catalogue and adds it to the entries, or removes it. While the catalogue is down, a node
// uses its copy of the description, if it has one.
func (l *Library) checkNamed(ctx context.Context, key versionKey) error {
	switches := 0
	l.mu.Lock()
	if dataset := l.entries[versionKey{ref: key.ref}]; dataset != nil {
		switches = dataset.switches
	}
	if e := l.entries[key]; e != nil && e.open != nil { // other requests do not wait for this one
		e.switches, e.checkAt = switches, l.opts.Now().Add(namedCheck)
	}
	l.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, catalogueWait)
	defer cancel()
	d, err := l.catalogue.Version(limited, key.ref, key.version)
	if err != nil && l.shared() && herb.CodeOf(err) != herb.CodeNotFound && ctx.Err() == nil {
		if copied, failed := l.loadDescription(herb.LiveVersion{Ref: key.ref, Version: key.version}); failed == nil {
			d, err = copied, nil
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if herb.CodeOf(err) == herb.CodeNotFound {
		l.removeEntry(key)
		return herb.Errorf(herb.CodeGone, "%s", herb.MessageOf(err))
	}
	if err != nil || l.cache.closed {
		return err
	}
	e := l.entries[key]
	if e == nil {
		v := herb.LiveVersion{Ref: key.ref, Version: key.version, Records: d.Records, Published: d.Published}
		e = &entry{named: true, LiveVersion: v}
		l.entries[key] = e
	}
	if d.File != nil {
		e.size = d.File.Size
	}
	e.switches, e.checkAt = switches, l.opts.Now().Add(namedCheck)
	return nil
}

// closeIdle closes named versions that no request has used for a while. l.mu is held.
func (l *Library) closeIdle() {
	if len(l.entries) == len(l.sorted) {
		return // there are none
	}
	for key, e := range l.entries {
		idle := e.open == nil || e.open.References() == 1 && l.cache.epoch.Load()-e.open.lastUsed.Load() > namedIdle
		if e.named && idle && e.fetch == nil && !l.opts.Now().Before(e.checkAt) {
			l.removeEntry(key)
		}
	}
}
