package publish

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/source"
	"herbarium/internal/watch"
)

// watcher publishes datasets when their source files change.
type watcher struct {
	*Publisher
	finder          *discover.Finder
	paths           []string
	discoveryErrors map[string]bool // messages of the last discovery

	mu      sync.Mutex
	sources map[string]ingest.Source // of the last discovery, by the name of their item
}

// Watch returns a watch that publishes the sources in files and folders when they change. Run it after the current content,
// found, was published.
func (p *Publisher) Watch(finder *discover.Finder, paths []string, found source.Set) *watch.Watch {
	w := &watcher{Publisher: p, finder: finder, paths: paths, discoveryErrors: map[string]bool{}}
	for _, err := range found.Errors { // recorded by PublishFound
		w.discoveryErrors[err.Error()] = true
	}
	return watch.New(watch.Options{Find: w.find, Changed: w.changed, Gone: w.gone, Log: p.Log})
}

// find implements watch.Options.Find. It reports each error once.
func (w *watcher) find() (items []watch.Item, folders []string) {
	set := w.finder.Discover(context.Background(), w.paths)
	named := make(map[string]ingest.Source, len(set.Sources))
	for _, s := range set.Sources {
		i := watch.Item{Name: s.Ref.String() + " " + s.Label(), Files: s.Files(), Shape: fingerprintOf(s)}
		items, named[i.Name] = append(items, i), s
		folders = append(folders, foldersOf(i.Files)...)
	}
	w.mu.Lock()
	w.sources = named
	w.mu.Unlock()
	w.recordDiscoveryErrors(set.Errors)
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
			w.recordDiscoveryError(context.Background(), err)
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
	_, err := w.PublishSource(ctx, s)
	return herb.CodeOf(err) == herb.CodeUnavailable
}

// gone implements watch.Options.Gone. A dataset outlives its file, because files may be moved.
func (w *watcher) gone(i watch.Item) {
	w.Log.Warn("source is gone; keeping its last published version", "file", i.Files[0])
	_, label, _ := strings.Cut(i.Name, " ")
	w.clearSourceError(context.Background(), label)
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
