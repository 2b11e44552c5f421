package library

import (
	"context"

	"herbarium/internal/segment"
)

// SetOpenFile replaces how a library opens local segment files. It must be called before the first
// look-up.
func (l *Library) SetOpenFile(wrap func(path string, open func(string) (*segment.Reader, error)) (*segment.Reader, error)) {
	l.openFile = func(path string) (*segment.Reader, error) { return wrap(path, openLocal) }
}

// Poll does what Run does every second.
func (l *Library) Poll(ctx context.Context) {
	_ = l.poll(ctx, false)
	l.maintainCache(ctx)
}

// NamedVersions returns the number of open versions that requests have named.
func (l *Library) NamedVersions() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.entries) - len(l.sorted)
}

// CachedBytes returns the size of the cache.
func (l *Library) CachedBytes() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	n, _ := l.cacheSize()
	return n
}
