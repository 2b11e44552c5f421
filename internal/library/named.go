package library

import (
	"context"
	"iter"
	"time"

	"herbarium/internal/herb"
)

const (
	// namedCheck is the interval at which the catalogue is asked whether it still has a version that requests name.
	namedCheck = 10 * time.Second
	// namedIdle is after how many ticks of cache.epoch without a request such a version is closed. The file of a version that
	// left the catalogue occupies the disk as long as it is open.
	namedIdle = 60
)

// versionKey identifies a version of a dataset that requests name. Without a version, it is the live one.
type versionKey struct {
	ref     herb.Ref
	version string
}

// AcquireVersion returns a version of a dataset that is in the catalogue, live or not; the caller must release it. The error
// has herb.CodeGone if it is not in the catalogue, and herb.CodeInvalid if the name is malformed or the dataset is mutable.
// The access of the view is that of the version; that of the live version may differ.
func (l *Library) AcquireVersion(ctx context.Context, ref herb.Ref, version string) (View, error) {
	if _, ok := l.opts.Mutable[ref]; ok {
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
	dataset, named := l.entries[ref], l.named[key]
	checked := named.isChecked(dataset, l.opts.Now())
	for _, e := range []*entry{dataset, named} {
		if e == nil || e == named && !checked {
			continue
		}
		if v := e.open; v != nil && v.dataset.Version == version && v.Acquire() {
			defer l.mu.RUnlock()
			l.cache.touch(v)
			return v.view(), nil
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

// isChecked reports whether the catalogue had a named version recently, and since the last switch of its dataset, which may
// prune versions. e is nil if the version was not named before. Library.mu is held.
func (e *entry) isChecked(dataset *entry, now time.Time) bool {
	return e != nil && dataset != nil && e.switches == dataset.switches && now.Before(e.checkAt)
}

// checkNamed asks the catalogue for a version and adds it to the named ones, or removes it. While the catalogue is down, a node
// uses the version if it has its description.
func (l *Library) checkNamed(ctx context.Context, key versionKey) error {
	l.mu.Lock()
	switches := l.switches(key.ref)
	if e := l.named[key]; e != nil && e.open != nil { // other requests do not wait for this one
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
		l.removeNamed(key)
		return herb.Errorf(herb.CodeGone, "%s", herb.MessageOf(err))
	}
	if err != nil || l.cache.closed {
		return err
	}
	e := l.named[key]
	if e == nil {
		e = &entry{LiveVersion: herb.LiveVersion{Ref: key.ref, Version: key.version, Records: d.Records, Published: d.Published}}
		l.named[key] = e
	}
	if d.File != nil {
		e.size = d.File.Size
	}
	e.switches, e.checkAt = switches, l.opts.Now().Add(namedCheck)
	return nil
}

// switches returns the number of switches seen of a dataset. l.mu is held.
func (l *Library) switches(ref herb.Ref) int {
	if e := l.entries[ref]; e != nil {
		return e.switches
	}
	return 0
}

// removeNamed closes a named version. l.mu is held.
func (l *Library) removeNamed(key versionKey) {
	if e := l.named[key]; e != nil {
		l.setOpen(e, nil)
		delete(l.named, key)
	}
}

// closeIdle closes named versions that no request has used for a while. l.mu is held.
func (l *Library) closeIdle() {
	for key, e := range l.named {
		idle := e.open == nil || e.open.Holders() == 1 && l.cache.epoch.Load()-e.open.lastUsed.Load() > namedIdle
		if idle && e.fetch == nil && !l.opts.Now().Before(e.checkAt) {
			l.removeNamed(key)
		}
	}
}

// lookup returns the entry of a dataset, or of a named version of it; nil if there is none. l.mu is held.
func (l *Library) lookup(key versionKey) *entry {
	if key.version == "" {
		return l.entries[key.ref]
	}
	return l.named[key]
}

// contains reports whether an entry is in use. l.mu is held.
func (l *Library) contains(e *entry) bool {
	return l.entries[e.Ref] == e || l.named[versionKey{e.Ref, e.Version}] == e
}

// allEntries yields the entries of datasets, and then those of named versions. l.mu is held.
func (l *Library) allEntries() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, e := range l.sorted {
			if !yield(e) {
				return
			}
		}
		for _, e := range l.named {
			if !yield(e) {
				return
			}
		}
	}
}
