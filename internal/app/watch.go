package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/source"
	"herbarium/internal/watch"
)

// follower publishes datasets when their source files change.
type follower struct {
	data            *Data
	finder          *discover.Finder
	paths           []string
	log             *slog.Logger
	discoveryErrors map[string]bool // messages of the last discovery

	mu      sync.Mutex
	sources map[string]ingest.Source // of the last discovery, by the name of their item
}

// follow returns a watch over files and folders. Run it after the current content was published.
func (d *Data) follow(opts ServeOptions) *watch.Watch {
	f := &follower{data: d, finder: opts.Finder, paths: opts.Watch, log: opts.Log, discoveryErrors: map[string]bool{}}
	for _, err := range opts.Found.Errors { // recorded by publishFound
		f.discoveryErrors[err.Error()] = true
	}
	return watch.New(watch.Options{Find: f.find, Changed: f.changed, Gone: f.gone, Log: opts.Log})
}

// find implements watch.Options.Find. It reports each error once.
func (f *follower) find() (items []watch.Item, folders []string) {
	set := f.finder.Discover(context.Background(), f.paths)
	named := make(map[string]ingest.Source, len(set.Sources))
	for _, s := range set.Sources {
		i := watch.Item{Name: s.Ref.String() + " " + s.Label(), Files: s.Files(), Shape: fingerprintOf(s)}
		items, named[i.Name] = append(items, i), s
		folders = append(folders, foldersOf(i.Files)...)
	}
	f.mu.Lock()
	f.sources = named
	f.mu.Unlock()
	f.recordDiscoveryErrors(set.Errors)
	for _, p := range f.paths {
		folders = append(folders, foldersBelow(p)...)
	}
	slices.Sort(folders)
	return items, slices.Compact(folders)
}

// recordDiscoveryErrors records new errors of the discovery and clears resolved ones.
func (f *follower) recordDiscoveryErrors(problems []error) {
	now := make(map[string]bool, len(problems))
	for _, err := range problems {
		m := err.Error()
		if now[m] = true; !f.discoveryErrors[m] {
			f.data.recordDiscoveryError(context.Background(), err, f.log)
		}
	}
	for m := range f.discoveryErrors {
		if !now[m] {
			f.data.clearSourceError(context.Background(), m, f.log)
		}
	}
	f.discoveryErrors = now
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
func (f *follower) changed(ctx context.Context, i watch.Item) (retry bool) {
	f.mu.Lock()
	s, ok := f.sources[i.Name]
	f.mu.Unlock()
	if !ok {
		return false // removed meanwhile
	}
	_, err := f.data.publishOne(ctx, s, f.log)
	return herb.CodeOf(err) == herb.CodeUnavailable
}

// gone implements watch.Options.Gone. A dataset outlives its file, because files may be moved.
func (f *follower) gone(i watch.Item) {
	f.log.Warn("source is gone; keeping its last published version", "file", i.Files[0])
	_, label, _ := strings.Cut(i.Name, " ")
	f.data.clearSourceError(context.Background(), label, f.log)
}

// publishFound publishes sources, records errors of the discovery and logs a summary.
func (d *Data) publishFound(ctx context.Context, set source.Set, log *slog.Logger) error {
	for _, s := range set.Skipped {
		log.Info("file skipped", "file", s.Path, "reason", s.Reason)
	}
	for _, err := range set.Errors {
		d.recordDiscoveryError(ctx, err, log)
	}
	published, unchanged := 0, 0
	for _, s := range set.Sources {
		p, err := d.publishOne(ctx, s, log)
		switch {
		case ctx.Err() != nil:
			return err
		case err == nil && p.Unchanged:
			unchanged++
		case err == nil:
			published++
		}
	}
	if len(set.Sources)+len(set.Skipped)+len(set.Errors) > 0 {
		log.Info("sources published", "published", published, "unchanged", unchanged,
			"failed", len(set.Sources)+len(set.Errors)-published-unchanged, "skipped", len(set.Skipped))
	}
	return nil
}

// recordDiscoveryError logs an error about paths, such as a name clash, and records it for the catalogue page.
func (d *Data) recordDiscoveryError(ctx context.Context, err error, log *slog.Logger) {
	log.Error("cannot discover sources", "err", err)
	if bug, ok := errors.AsType[*herb.PanicError](err); ok {
		log.Error("panic in source discovery", "stack", string(bug.Stack))
	}
	d.setSourceError(ctx, herb.SourceError{Place: err.Error(), Message: err.Error()}, log)
}

// publishOne publishes a source, logs the result and records errors for the catalogue page.
func (d *Data) publishOne(ctx context.Context, s ingest.Source, log *slog.Logger) (Published, error) {
	ctx = herb.WithActor(ctx, herb.Actor{Name: "server", Origin: s.Path})
	p, err := d.Publish(ctx, s, PublishOptions{KeepRolledBack: true, Progress: logProgress(s, log)})
	switch {
	case ctx.Err() != nil:
		return p, ctx.Err()
	case err != nil:
		if bug, ok := errors.AsType[*herb.PanicError](err); ok {
			log.Error("panic in a publish", "dataset", s.Ref.String(), "file", s.Path, "err", bug, "stack", string(bug.Stack))
		}
		log.Error("not published", "dataset", s.Ref.String(), "file", s.Path, "err", err)
		d.setSourceError(ctx, herb.SourceError{Place: s.Label(), Ref: s.Ref, Message: err.Error()}, log)
		return p, err
	case p.RolledBack != "":
		log.Info("source was published and rolled back; it is not published again until it changes",
			"dataset", s.Ref.String(), "file", s.Path, "version", p.RolledBack, "live", p.Dataset.Version)
	case !p.Unchanged:
		log.Info("published", "dataset", s.Ref.String(), "file", s.Path, "records", p.Dataset.Records)
	}
	for _, w := range p.Warnings {
		log.Warn("warning about source", "dataset", s.Ref.String(), "file", s.Path, "warning", w)
	}
	d.clearSourceError(ctx, s.Label(), log)
	return p, nil
}

func (d *Data) setSourceError(ctx context.Context, e herb.SourceError, log *slog.Logger) {
	e.Since = time.Now()
	if err := d.Store.SetSourceError(ctx, e); err != nil {
		log.Warn("cannot record source error", "file", e.Place, "err", err)
	}
}

func (d *Data) clearSourceError(ctx context.Context, place string, log *slog.Logger) {
	if err := d.Store.ClearSourceError(ctx, place); err != nil {
		log.Warn("cannot clear source error", "file", place, "err", err)
	}
}

// sourceErrors returns the recorded errors, or none while the database is down, so that the page is still served.
func (d *Data) sourceErrors(ctx context.Context) ([]herb.SourceError, error) {
	sourceErrors, err := d.Store.SourceErrors(ctx)
	if herb.CodeOf(err) == herb.CodeUnavailable {
		return nil, nil
	}
	return sourceErrors, err
}

// removeStaleSourceErrors clears the errors of files that no longer exist.
func (d *Data) removeStaleSourceErrors(ctx context.Context, log *slog.Logger) error {
	sourceErrors, err := d.Store.SourceErrors(ctx)
	if err != nil {
		return err
	}
	for _, e := range sourceErrors {
		if _, err := os.Stat(e.Place); errors.Is(err, fs.ErrNotExist) {
			d.clearSourceError(ctx, e.Place, log)
		}
	}
	return nil
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

// logProgress returns a function that logs the progress of a long publish every 10 seconds.
func logProgress(s ingest.Source, log *slog.Logger) func(Progress) {
	const every = 10 * time.Second
	last := time.Now()
	return func(p Progress) {
		if time.Since(last) < every {
			return
		}
		last = time.Now()
		log.Info("publishing", "dataset", s.Ref.String(), "phase", p.Phase, "step", p.Step, "of", p.Steps,
			"done", p.Done, "total", p.Total, "records", p.Records, "left", p.Left().Round(time.Second))
	}
}
