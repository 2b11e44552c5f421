package publish

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
)

// folderState returns a number that changes with the entries of folders: their names, sizes, times
// and modes. A file that replaces another changes the time of its folder.
func folderState(folders []string) uint64 {
	h := fnv.New64a()
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		fmt.Fprintln(h, folder, len(entries), err)
		paths := []string{folder}
		for _, e := range entries {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil { // follows links
				fmt.Fprintln(h, path, info.Size(), info.ModTime().UnixNano(), info.Mode())
			}
		}
	}
	return h.Sum64()
}

// scan compares the current sources with the known ones.
func (w *Watcher) scan() {
	found := w.discover()
	w.folders = foldersOf(found)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outdated = false
	current := make(map[sourceKey]bool, len(found.Sources))
	for _, s := range found.Sources {
		key := keyOf(s)
		current[key] = true
		known := w.sources[key]
		if known == nil {
			known = &watchedSource{}
			w.sources[key] = known
		}
		known.Source, known.gone = s, false
		if now, f := time.Now(), w.fingerprint(s); !f.equal(known.current) {
			known.current, known.changed, known.backoff = f, now, 0
			w.enqueue(known, now.Add(w.intervals.settle))
		}
	}
	for key, s := range w.sources {
		switch {
		case current[key]:
		case s.busy:
			s.gone = true // its publish may record an error, which the scan after it clears
		default:
			delete(w.sources, key)
			w.waiting = slices.DeleteFunc(w.waiting, func(waiting *watchedSource) bool { return waiting == s })
			w.recordGone(key, s.Path)
		}
	}
}

// recordGone logs that a source is no longer found, and clears its error. Its dataset stays,
// because files may be moved.
func (w *Watcher) recordGone(key sourceKey, path string) {
	if w.skipped[key.label] {
		return // discover has recorded the reason
	}
	if _, err := w.stat(path); err == nil {
		w.publisher.Log.Warn("source is no longer found by its folder or descriptor; keeping its last published version", "file", path)
	} else {
		w.publisher.Log.Warn("source is gone; keeping its last published version", "file", path)
	}
	w.publisher.clearSourceError(context.Background(), key.label)
}

// discover finds the current sources. It records new errors of the discovery and newly skipped
// tables, each once, and clears resolved ones.
func (w *Watcher) discover() descriptor.Set {
	set := w.find(context.Background(), w.paths)
	now := make(map[string]bool, len(set.Errors))
	for _, err := range set.Errors {
		m := err.Error()
		now[m] = true
		if !w.errors[m] {
			w.publisher.recordDiscoveryError(context.Background(), err)
		}
	}
	for m := range w.errors {
		if !now[m] {
			w.publisher.clearSourceError(context.Background(), m)
		}
	}
	w.errors = now
	skipped := make(map[string]bool, len(set.Skipped))
	for _, s := range set.Skipped {
		skipped[s.Path] = true
		if !w.skipped[s.Path] {
			w.publisher.recordSkipped(context.Background(), s)
		}
	}
	for path := range w.skipped {
		if !skipped[path] {
			w.publisher.clearSourceError(context.Background(), path)
		}
	}
	w.skipped = skipped
	return set
}

// fingerprint identifies a state of a source by its settings and the metadata of its files, without
// reading them.
type fingerprint struct {
	settings string
	files    []fs.FileInfo // an element is nil if the file cannot be read
}

func (w *Watcher) fingerprint(s ingest.Source) (f fingerprint) {
	settings, err := json.Marshal(s)
	if err != nil {
		settings = []byte(err.Error())
	}
	f.settings = string(settings)
	for _, path := range s.Files() {
		info, err := w.stat(path)
		if err != nil {
			info = nil
		}
		f.files = append(f.files, info)
	}
	return f
}

func (f fingerprint) equal(g fingerprint) bool {
	return f.settings == g.settings && slices.EqualFunc(f.files, g.files, isUnchanged)
}

// isUnchanged reports whether a file was neither written nor replaced. A replacement may have the
// same size and time.
func isUnchanged(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// foldersOf returns the folders in which changes may add, change or remove sources: those that were
// searched, and those of the files of sources and of the targets of symbolic links.
func foldersOf(set descriptor.Set) []string {
	folders := set.Folders
	for _, s := range set.Sources {
		for _, f := range s.Files() {
			folders = append(folders, filepath.Dir(f))
			if real, err := filepath.EvalSymlinks(f); err == nil && real != filepath.Clean(f) {
				folders = append(folders, filepath.Dir(real))
			}
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}
