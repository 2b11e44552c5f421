package publish

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/progress"
	"herbarium/internal/versions"
)

// PublishFound publishes discovered sources for a server, records the errors of the discovery and
// logs a summary. It calls next before each source with the number of sources before it and of all.
// It returns the sources that failed for a temporary reason.
func (p *Publisher) PublishFound(ctx context.Context, set descriptor.Set,
	next func(ref herb.Ref, done, total int)) (retry []ingest.Source, err error) {
	for _, s := range set.Skipped {
		p.recordSkipped(ctx, s)
	}
	for _, err := range set.Errors {
		p.recordDiscoveryError(ctx, err)
	}
	published, unchanged := 0, 0
	for i, s := range set.Sources {
		next(s.Ref, i, len(set.Sources))
		r, err := p.PublishSource(ctx, s, WayStart)
		switch {
		case ctx.Err() != nil:
			return nil, err
		case isTemporary(err):
			retry = append(retry, s)
		case err == nil && r.Status == versions.StatusUnchanged:
			unchanged++
		case err == nil:
			published++
		}
	}
	if len(set.Sources)+len(set.Skipped)+len(set.Errors) > 0 {
		p.Log.Info("sources published", "published", published, "unchanged", unchanged,
			"failed", len(set.Sources)+len(set.Errors)-published-unchanged, "skipped", len(set.Skipped))
	}
	return retry, nil
}

// PublishSource publishes a source for a server, logs the result and records why it failed.
func (p *Publisher) PublishSource(ctx context.Context, s ingest.Source, way Way) (versions.Result, error) {
	return p.publishSource(ctx, s, way, false)
}

// publishSource is PublishSource. A repeated attempt neither logs nor audits another temporary
// failure.
func (p *Publisher) publishSource(ctx context.Context, s ingest.Source, way Way,
	repeated bool) (versions.Result, error) {
	began := time.Now()
	log := p.Log.With("dataset", s.Ref.String(), "file", s.Path)
	if s.Input == nil {
		p.folders.Store(s.Ref, filepath.Dir(s.Path))
	}
	ctx = herb.WithActor(ctx, herb.Actor{ID: "server", Origin: s.Path})
	r, err := p.Publish(ctx, s, Options{keepRolledBack: true, repeated: repeated, Progress: logProgress(log)})
	if p.Observe != nil && ctx.Err() == nil {
		p.Observe(way, r.Status, time.Since(began))
	}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case err != nil:
		if bug, ok := errors.AsType[*herb.PanicError](err); ok {
			log.Error("panic in a publish", "err", bug, "stack", string(bug.Stack))
		}
		message := err.Error() + herb.Advice(herb.ConsentsOf(err), herb.Consent.Flag)
		level := slog.LevelError
		if repeated && isTemporary(err) {
			level = slog.LevelDebug
		}
		log.Log(ctx, level, "cannot publish source", "err", message)
		p.setSourceError(ctx, herb.SourceError{Path: s.Label(), Ref: s.Ref, Message: message})
		return r, err
	case r.RolledBack != "":
		log.Info("source was published and rolled back; it is not published again until it changes",
			"version", r.RolledBack, "live", r.Version)
	case r.Status == versions.StatusPublished:
		log.Info("published", "records", r.Records)
		for _, note := range slices.Concat(r.Report.Layout.Notes(), r.Report.RowNotes(), r.Report.Notes) {
			log.Warn("warning about source", "warning", note)
		}
	}
	p.clearSourceError(ctx, s.Label())
	return r, nil
}

// Folder returns the folder of the file that this server publishes a dataset from; "" if there is
// none.
func (p *Publisher) Folder(ref herb.Ref) string {
	folder, _ := p.folders.Load(ref)
	name, _ := folder.(string)
	return name
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
			"done", p.Done, "total", p.Total, "records", p.Records, "left_ms", p.Left().Milliseconds())
	}
}
