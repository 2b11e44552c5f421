package library

import (
	"context"

	"herbarium/internal/segment"
)

// SetOpenFile replaces how a library opens local segment files. It must be called before the first
// look-up.
func (l *Library) SetOpenFile(
	wrap func(path string, open func(string) (*segment.Reader, error)) (*segment.Reader, error)) {
	l.folder.openFile = func(path string) (*segment.Reader, error) { return wrap(path, openLocal) }
}

// Poll does what Run does every second.
func (l *Library) Poll(ctx context.Context) {
	_ = l.catalogue.poll(ctx, false)
	l.fetcher.maintain(ctx)
}

// NamedVersions returns the number of open versions that requests have named.
func (l *Library) NamedVersions() int {
	l.table.mu.RLock()
	defer l.table.mu.RUnlock()
	return len(l.table.entries) - len(l.table.sorted)
}

// CachedBytes returns the size of the cache.
func (l *Library) CachedBytes() int64 {
	return l.cache.size()
}

// WithLock calls do with the lock that every request takes.
func (l *Library) WithLock(do func()) {
	l.table.mu.Lock()
	defer l.table.mu.Unlock()
	do()
}

// OnClose calls do before a version that is open now is unmapped.
func (l *Library) OnClose(do func()) {
	l.table.mu.Lock()
	defer l.table.mu.Unlock()
	for _, e := range l.table.entries {
		if e.open == nil {
			continue
		}
		release := e.open.close
		e.open.close = func() {
			do()
			release()
		}
	}
}
