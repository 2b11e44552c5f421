package publish

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/source"
	"herbarium/internal/progress"
)

// PublishFound publishes discovered sources for a server, records the errors of the discovery and logs a summary.
func (p *Publisher) PublishFound(ctx context.Context, set source.Set) error {
	for _, s := range set.Skipped {
		p.Log.Info("file skipped", "file", s.Path, "reason", s.Reason)
	}
	for _, err := range set.Errors {
		p.recordDiscoveryError(ctx, err)
	}
	published, unchanged := 0, 0
	for _, s := range set.Sources {
		r, err := p.PublishSource(ctx, s)
		switch {
		case ctx.Err() != nil:
			return err
		case err == nil && r.Unchanged:
			unchanged++
		case err == nil:
			published++
		}
	}
	if len(set.Sources)+len(set.Skipped)+len(set.Errors) > 0 {
		p.Log.Info("sources published", "published", published, "unchanged", unchanged,
			"failed", len(set.Sources)+len(set.Errors)-published-unchanged, "skipped", len(set.Skipped))
	}
	return nil
}

// recordDiscoveryError logs an error about paths, such as a name clash, and records it for the catalogue page.
func (p *Publisher) recordDiscoveryError(ctx context.Context, err error) {
	p.Log.Error("cannot discover sources", "err", err)
	if bug, ok := errors.AsType[*herb.PanicError](err); ok {
		p.Log.Error("panic in source discovery", "stack", string(bug.Stack))
	}
	p.setSourceError(ctx, herb.SourceError{Path: err.Error(), Message: err.Error()})
}

// PublishSource publishes a source for a server, logs the result and records errors for the catalogue page.
func (p *Publisher) PublishSource(ctx context.Context, s ingest.Source) (Result, error) {
	log := p.Log.With("dataset", s.Ref.String(), "file", s.Path)
	if s.Inline == nil {
		p.folders.Store(s.Ref, filepath.Dir(s.Path))
	}
	ctx = herb.WithActor(ctx, herb.Actor{Name: "server", Origin: s.Path})
	r, err := p.Publish(ctx, s, Options{KeepRolledBack: true, Progress: logProgress(log)})
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case err != nil:
		if bug, ok := errors.AsType[*herb.PanicError](err); ok {
			log.Error("panic in a publish", "err", bug, "stack", string(bug.Stack))
		}
		log.Error("cannot publish source", "err", err)
		p.setSourceError(ctx, herb.SourceError{Path: s.Label(), Ref: s.Ref, Message: err.Error()})
		return r, err
	case r.RolledBack != "":
		log.Info("source was published and rolled back; it is not published again until it changes",
			"version", r.RolledBack, "live", r.Dataset.Version)
	case !r.Unchanged:
		log.Info("published", "records", r.Dataset.Records)
	}
	for _, w := range r.Warnings {
		log.Warn("warning about source", "warning", w)
	}
	p.clearSourceError(ctx, s.Label())
	return r, nil
}

// Folder returns the folder of the file that this server publishes a dataset from; "" if there is none.
func (p *Publisher) Folder(ref herb.Ref) string {
	folder, _ := p.folders.Load(ref)
	name, _ := folder.(string)
	return name
}

func (p *Publisher) setSourceError(ctx context.Context, e herb.SourceError) {
	e.Since = time.Now()
	if err := p.Store.SetSourceError(ctx, e); err != nil {
		p.Log.Warn("cannot record source error", "file", e.Path, "err", err)
	}
}

func (p *Publisher) clearSourceError(ctx context.Context, path string) {
	if err := p.Store.ClearSourceError(ctx, path); err != nil {
		p.Log.Warn("cannot clear source error", "file", path, "err", err)
	}
}

// SourceErrors returns the recorded errors, or none while the database is down, so that the page is still served.
func (p *Publisher) SourceErrors(ctx context.Context) ([]herb.SourceError, error) {
	sourceErrors, err := p.Store.SourceErrors(ctx)
	if herb.CodeOf(err) == herb.CodeUnavailable {
		return nil, nil
	}
	return sourceErrors, err
}

// RemoveStaleErrors clears the errors of files that no longer exist.
func (p *Publisher) RemoveStaleErrors(ctx context.Context) error {
	sourceErrors, err := p.Store.SourceErrors(ctx)
	if err != nil {
		return err
	}
	for _, e := range sourceErrors {
		path, _ := source.SplitLabel(e.Path)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			p.clearSourceError(ctx, e.Path)
		}
	}
	return nil
}

// logProgress returns a function that logs the progress of a long publish every 10 seconds.
func logProgress(log *slog.Logger) func(progress.Progress) {
	const every = 10 * time.Second
	last := time.Now()
	return func(p progress.Progress) {
		if time.Since(last) < every {
			return
		}
		last = time.Now()
		log.Info("publishing", "phase", p.Phase, "step", p.Step, "of", p.Steps,
			"done", p.Done, "total", p.Total, "records", p.Records, "left", p.Left().Round(time.Second))
	}
}
