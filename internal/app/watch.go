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
	"herbarium/internal/watch"
)

// follower keeps datasets in line with the files they are made from.
type follower struct {
	data    *Data
	paths   []string
	log     *slog.Logger
	unfound map[string]bool // what was wrong when the sources were last looked for

	mu      sync.Mutex
	sources map[string]ingest.Source // that were found last, by the name of their item
}

// follow returns a watch over files and folders, to be run when what is there now was published.
func (d *Data) follow(paths []string, log *slog.Logger) *watch.Watch {
	f := &follower{data: d, paths: paths, log: log}
	return watch.New(watch.Options{Find: f.find, Changed: f.changed, Gone: f.gone, Log: log})
}

// find implements watch.Options.Find. What is wrong is told once.
func (f *follower) find() (items []watch.Item, folders []string) {
	sources, err := ingest.Finder{Data: f.data.dir}.Discover(f.paths)
	named := make(map[string]ingest.Source, len(sources))
	for _, s := range sources {
		i := watch.Item{Name: s.Ref.String() + " " + s.Path, Files: append([]string{s.Path}, s.Parts...), Shape: shapeOf(s)}
		items, named[i.Name] = append(items, i), s
		folders = append(folders, foldersOf(i.Files)...)
	}
	f.mu.Lock()
	f.sources = named
	f.mu.Unlock()
	_, failed := ingest.SplitSkipped(err)
	f.note(failed)
	for _, p := range f.paths {
		folders = append(folders, foldersBelow(p)...)
	}
	slices.Sort(folders)
	return items, slices.Compact(folders)
}

// note tells of what could not even be found, and forgets what is no longer so.
func (f *follower) note(problems []error) {
	now := make(map[string]bool, len(problems))
	for _, err := range problems {
		m := err.Error()
		if now[m] = true; !f.unfound[m] {
			f.log.Error("cannot be published", "err", m)
			if bug, ok := errors.AsType[*herb.PanicError](err); ok {
				f.log.Error("panic while looking for sources", "stack", string(bug.Stack))
			}
			f.data.setSourceError(context.Background(), herb.SourceError{Place: m, Message: m}, f.log)
		}
	}
	for m := range f.unfound {
		if !now[m] {
			f.data.clearSourceError(context.Background(), m, f.log)
		}
	}
	f.unfound = now
}

// shapeOf is all that a source says, so that a change of its settings counts as one.
func shapeOf(s ingest.Source) string {
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
		return false // it is gone by now
	}
	return herb.CodeOf(f.data.publishOne(ctx, s, f.log)) == herb.CodeUnavailable
}

// gone implements watch.Options.Gone. A dataset outlives its file: people move files about.
func (f *follower) gone(i watch.Item) {
	f.log.Warn("a source is gone; its dataset stays as it was published last", "file", i.Files[0])
	f.data.clearSourceError(context.Background(), i.Files[0], f.log)
}

// publishOne publishes a source and notes what comes of it, where the people who run the server look.
func (d *Data) publishOne(ctx context.Context, s ingest.Source, log *slog.Logger) error {
	ctx = herb.WithActor(ctx, herb.Actor{Name: "server", Origin: s.Path})
	p, err := d.Publish(ctx, s, PublishOptions{KeepRolledBack: true, Progress: logProgress(s, log)})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		if bug, ok := errors.AsType[*herb.PanicError](err); ok {
			log.Error("panic in a publish", "dataset", s.Ref.String(), "file", s.Path, "err", bug, "stack", string(bug.Stack))
		}
		log.Error("not published", "dataset", s.Ref.String(), "file", s.Path, "err", err)
		d.setSourceError(ctx, herb.SourceError{Place: s.Path, Ref: s.Ref, Message: err.Error()}, log)
		return err
	case p.RolledBack != "":
		log.Info("source was published and rolled back; it is not published again until it changes",
			"dataset", s.Ref.String(), "file", s.Path, "version", p.RolledBack, "live", p.Dataset.Version)
	case !p.Unchanged:
		log.Info("published", "dataset", s.Ref.String(), "file", s.Path, "records", p.Dataset.Records)
	}
	for _, w := range p.Warnings {
		log.Warn(w, "dataset", s.Ref.String(), "file", s.Path)
	}
	d.clearSourceError(ctx, s.Path, log)
	return nil
}

func (d *Data) setSourceError(ctx context.Context, t herb.SourceError, log *slog.Logger) {
	t.Since = time.Now()
	if err := d.Store.SetSourceError(ctx, t); err != nil {
		log.Warn("what is wrong with a source was not noted", "file", t.Place, "err", err)
	}
}

func (d *Data) clearSourceError(ctx context.Context, place string, log *slog.Logger) {
	if err := d.Store.ClearSourceError(ctx, place); err != nil {
		log.Warn("what was wrong with a source was not forgotten", "file", place, "err", err)
	}
}

// sourceErrors returns what was noted, for a page that should be shown also while the database is away.
func (d *Data) sourceErrors(ctx context.Context) ([]herb.SourceError, error) {
	sourceErrors, err := d.Store.SourceErrors(ctx)
	if herb.CodeOf(err) == herb.CodeUnavailable {
		return nil, nil
	}
	return sourceErrors, err
}

// removeStaleSourceErrors forgets what was noted about files that are no longer there.
func (d *Data) removeStaleSourceErrors(ctx context.Context, log *slog.Logger) error {
	sourceErrors, err := d.Store.SourceErrors(ctx)
	if err != nil {
		return err
	}
	for _, t := range sourceErrors {
		if _, err := os.Stat(t.Place); errors.Is(err, fs.ErrNotExist) {
			d.clearSourceError(ctx, t.Place, log)
		}
	}
	return nil
}

// foldersOf returns the folders that files are in, and those of the files that they are links to.
func foldersOf(files []string) (folders []string) {
	for _, f := range files {
		folders = append(folders, filepath.Dir(f))
		if real, err := filepath.EvalSymlinks(f); err == nil && real != filepath.Clean(f) {
			folders = append(folders, filepath.Dir(real))
		}
	}
	return folders
}

// foldersBelow returns a folder and those in it, without hidden ones. Of a file it returns the folder that it is in.
func foldersBelow(path string) (folders []string) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{filepath.Dir(path)}
	}
	_ = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || !e.IsDir(): // what cannot be read has no changes to tell of
			return nil
		case p != path && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		}
		folders = append(folders, p)
		return nil
	})
	return folders
}

// logProgress tells the log now and then how far a long publish is.
func logProgress(s ingest.Source, log *slog.Logger) func(Progress) {
	const every = 10 * time.Second
	told := time.Now()
	return func(p Progress) {
		if time.Since(told) < every {
			return
		}
		told = time.Now()
		log.Info("publishing", "dataset", s.Ref.String(), "phase", p.Phase, "step", p.Step, "of", p.Steps,
			"done", p.Done, "total", p.Total, "records", p.Records, "left", p.Left().Round(time.Second))
	}
}
