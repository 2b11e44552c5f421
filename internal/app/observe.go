package app

import (
	"context"
	"os"
	"path/filepath"

	"herbarium/internal/access"
	"herbarium/internal/herb"
	"herbarium/internal/store"
	"herbarium/internal/telemetry"
)

// countedKeys counts the keys that a verifier rejects.
type countedKeys struct {
	*access.Verifier
	rejected func(reason string)
}

// Verify implements the interfaces of httpapi and web.
func (k countedKeys) Verify(ctx context.Context, secret, client string) (herb.Principal, error) {
	p, err := k.Verifier.Verify(ctx, secret, client)
	switch herb.CodeOf(err) {
	case herb.CodeUnauthenticated:
		k.rejected("invalid")
	case herb.CodeRateLimited:
		k.rejected("rate_limited")
	}
	return p, err
}

// diskUsage measures the folders of published files and of the plants. Files that vanish meanwhile
// are not counted.
func (c Config) diskUsage() telemetry.DiskUsage {
	u := telemetry.DiskUsage{Folders: map[string]int64{}, Files: map[string]int64{}}
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
