package library

import (
	"path/filepath"
	"strings"
)

// removeWithdrawn closes withdrawn versions and removes everything that this machine has of them:
// the published file and the rebuilt one, the Parquet files, the source and the description. What a
// fetch that is running leaves is removed by garbage collection.
func (l *Library) removeWithdrawn(versions []string) {
	if len(versions) == 0 {
		return
	}
	withdrawn := make(map[string]bool, len(versions))
	for _, v := range versions {
		withdrawn[v] = true
	}
	l.mu.Lock()
	for key, e := range l.entries {
		switch {
		case withdrawn[key.version]:
			l.removeEntry(key)
		case e.open != nil && withdrawn[e.open.dataset.Version]: // listed until the live version is open
			l.setOpen(e, nil)
		}
	}
	l.mu.Unlock()
	files, err := l.opts.FS.ReadDir(l.opts.Dir)
	if err != nil {
		l.opts.Log.Warn("cannot list the files of withdrawn versions; will retry", "err", err)
		return
	}
	for _, f := range files {
		version, _, _ := strings.Cut(f.Name(), ".")
		if !withdrawn[version] {
			continue
		}
		if err := l.opts.FS.RemoveAll(filepath.Join(l.opts.Dir, f.Name())); err != nil {
			l.opts.Log.Warn("cannot remove a file of a withdrawn version; will retry", "file", f.Name(), "err", err)
			continue
		}
		l.ForgetFiles(version)
	}
}
