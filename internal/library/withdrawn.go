package library

import (
	"errors"
	"path/filepath"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// RemoveWithdrawn closes versions that were withdrawn and removes everything that this machine has
// of them, also incomplete files. Whatever fetches or builds a file of one of them meanwhile
// removes it at its end.
func (l *Library) RemoveWithdrawn(versions ...string) error {
	if len(versions) == 0 {
		return nil
	}
	l.mu.Lock()
	l.addWithdrawn(versions)
	l.unlock()
	return l.removeFiles(true, versions)
}

// addWithdrawn records withdrawn versions and closes them. l.mu is held.
func (l *Library) addWithdrawn(versions []string) {
	for _, v := range versions {
		l.withdrawn[v] = true
	}
	for key, e := range l.entries {
		switch {
		case l.withdrawn[key.version]:
			l.removeEntry(key)
		case e.open != nil && l.withdrawn[e.open.dataset.Version]: // listed until the live version is open
			l.setOpen(e, nil)
		}
	}
}

// checkWithdrawn returns the error of work on a version: that the version was withdrawn meanwhile,
// whatever else has failed as a consequence, or err. It removes the files of a withdrawn version
// that the work has left.
func (l *Library) checkWithdrawn(ref herb.Ref, version string, err error) error {
	l.mu.RLock()
	withdrawn := l.withdrawn[version]
	l.mu.RUnlock()
	if !withdrawn {
		return err
	}
	if failed := l.removeFiles(true, []string{version}); failed != nil {
		l.opts.Log.Warn("cannot remove the files of a withdrawn version; will retry", "version", version, "err", failed)
	}
	return herb.Errorf(herb.CodeGone, "version %q of dataset %q was withdrawn and cannot be read any more", version, ref)
}

// RemoveFiles removes the files of versions from Dir, except incomplete ones.
func (l *Library) RemoveFiles(versions ...string) error {
	if len(versions) == 0 {
		return nil
	}
	return l.removeFiles(false, versions)
}

func (l *Library) removeFiles(partial bool, versions []string) error {
	files, err := l.opts.FS.ReadDir(l.opts.Dir)
	if err != nil {
		return err
	}
	removed := make(map[string]bool, len(versions))
	for _, v := range versions {
		removed[v] = true
	}
	var names []string
	for _, f := range files {
		file, ok := store.ParseVersionFile(f.Name())
		if !ok || !file.IsOf(removed) || file.Kind == store.PartialKind && !partial {
			continue
		}
		if failed := l.opts.FS.RemoveAll(filepath.Join(l.opts.Dir, f.Name())); failed != nil {
			err = errors.Join(err, failed)
		} else {
			names = append(names, f.Name())
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		l.cache.remove(name)
	}
	return err
}
