package library

import (
	"herbarium/internal/herb"
)

// withdrawals does on this machine what the withdrawal of a version requires: it is closed, is not
// opened again, and leaves no file. The table knows which versions were withdrawn.
type withdrawals struct {
	table *table
	cache *cache
}

// RemoveWithdrawn closes versions that were withdrawn and removes everything that this machine has
// of them, also incomplete files. Whatever fetches or builds a file of one of them meanwhile
// removes it at its end.
func (w withdrawals) RemoveWithdrawn(versions ...string) error {
	if len(versions) == 0 {
		return nil
	}
	w.table.mu.Lock()
	w.table.addWithdrawn(versions)
	w.table.unlock()
	return w.cache.removeVersions(true, versions)
}

// checkWithdrawn returns the error of work on a version: that the version was withdrawn meanwhile,
// whatever else has failed as a consequence, or err. It removes the files of a withdrawn version
// that the work has left.
func (w withdrawals) checkWithdrawn(ref herb.Ref, version string, err error) error {
	if !w.table.isWithdrawn(version) {
		return err
	}
	if failed := w.cache.removeVersions(true, []string{version}); failed != nil {
		w.cache.log.Warn("cannot remove the files of a withdrawn version; will retry", "version", version,
			"err", failed)
	}
	return herb.Errorf(herb.CodeGone, "version %q of dataset %q was withdrawn and cannot be read any more",
		version, ref)
}

// RemoveFiles removes the files of versions from Dir, except incomplete ones.
func (w withdrawals) RemoveFiles(versions ...string) error {
	if len(versions) == 0 {
		return nil
	}
	return w.cache.removeVersions(false, versions)
}
