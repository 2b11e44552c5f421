package publish

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/watch"
)

// watcher publishes datasets when their source files change.
type watcher struct {
	*Publisher
	paths           []string
	discoveryErrors map[string]bool // messages of the last discovery

	mu      sync.Mutex
	sources map[string]ingest.Source // of the last discovery, by the name of their item
}

// Watch returns a watch that publishes the sources in files and folders when they change. Run it after the current content
// was published.
func (p *Publisher) Watch(paths []string) *watch.Watch {
	w := &watcher{Publisher: p, paths: paths}
	return watch.New(watch.Options{Find: w.find, Changed: w.changed, Gone: w.gone, Log: p.Log})
}

// find implements watch.Options.Find. It reports each error once.
func (w *watcher) find() (items []watch.Item, folders []string) {
	sources, err := ingest.Finder{Data: w.Data}.Discover(w.paths)
	named := make(map[string]ingest.Source, len(sources))
	for _, s := range sources {
		i := watch.Item{Name: s.Ref.String() + " " + s.Path, Files: append([]string{s.Path}, s.Parts...), Shape: fingerprintOf(s)}
		items, named[i.Name] = append(items, i), s
		folders = append(folders, foldersOf(i.Files)...)
	}
	w.mu.Lock()
	w.sources = named
	w.mu.Unlock()
	_, failed := ingest.SplitSkipped(err)
	w.recordDiscoveryErrors(failed)
	for _, p := range w.paths {
		folders = append(folders, foldersBelow(p)...)
	}
	slices.Sort(folders)
	return items, slices.Compact(folders)
}

// recordDiscoveryErrors records new errors of the discovery and clears resolved ones.
func (w *watcher) recordDiscoveryErrors(problems []error) {
	now := make(map[string]bool, len(problems))
	for _, err := range problems {
		m := err.Error()
		if now[m] = true; !w.discoveryErrors[m] {
			w.Log.Error("cannot discover sources", "err", m)
			if bug, ok := errors.AsType[*herb.PanicError](err); ok {
				w.Log.Error("panic in source discovery", "stack", string(bug.Stack))
			}
			w.setSourceError(context.Background(), herb.SourceError{Path: m, Message: m})
		}
	}
	for m := range w.discoveryErrors {
		if !now[m] {
			w.clearSourceError(context.Background(), m)
		}
	}
	w.discoveryErrors = now
}

// fingerprintOf returns all settings of a source, so that a change of settings counts as a change.
func fingerprintOf(s ingest.Source) string {
	b, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// changed implements watch.Options.Changed.
func (w *watcher) changed(ctx context.Context, i watch.Item) (retry bool) {
	w.mu.Lock()
	s, ok := w.sources[i.Name]
	w.mu.Unlock()
	if !ok {
		return false // removed meanwhile
	}
	return herb.CodeOf(w.PublishSource(ctx, s)) == herb.CodeUnavailable
}

// gone implements watch.Options.Gone. A dataset outlives its file, because files may be moved.
func (w *watcher) gone(i watch.Item) {
	w.Log.Warn("source is gone; keeping its last published version", "file", i.Files[0])
	w.clearSourceError(context.Background(), i.Files[0])
}

// foldersOf returns the folders of files, and those of the targets of symbolic links.
func foldersOf(files []string) (folders []string) {
	for _, f := range files {
		folders = append(folders, filepath.Dir(f))
		if real, err := filepath.EvalSymlinks(f); err == nil && real != filepath.Clean(f) {
			folders = append(folders, filepath.Dir(real))
		}
	}
	return folders
}

// foldersBelow returns a folder and its subfolders, except hidden ones. For a file it returns its folder.
func foldersBelow(path string) (folders []string) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{filepath.Dir(path)}
	}
	_ = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.IsDir(): // unreadable folders are skipped
			return nil
		case p != path && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		}
		folders = append(folders, p)
		return nil
	})
	return folders
}
