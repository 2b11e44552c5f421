// Package publish makes files live. It decides which settings apply to a file, and what happens
// when a publish is repeated, fails or is interrupted; package versions builds and switches.
//
//   - Publisher publishes a source: it reads it, builds a version and makes it live. Commands use
//     it, and servers for the sources of their own files, which Watcher publishes again when they
//     change.
//   - Queue publishes received files (package receive) in the background. Publish is the state of
//     such a publish: it is received, waits for a slot, is read, built and verified, and ends as
//     live, checked, rejected or failed. It is stored, so that every node returns it and ends it
//     if its server has died. Drafts (package review) are published by the same queue.
package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strconv"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/progress"
	"herbarium/internal/publish/receive"
	"herbarium/internal/versions"
)

// Publisher publishes sources to a library.
type Publisher struct {
	Versions *versions.Service
	Store    Store
	Data     string      // the data folder, which is never published
	Access   herb.Access // of datasets whose sources do not state it; empty means AccessOpen
	Log      *slog.Logger
	// Fetch fetches the file of a source that names an address. nil: nothing is fetched.
	Fetch func(ctx context.Context, ref herb.Ref, s herb.FetchSource) (*receive.File, error)
	// Observe is called after each publish of a source of this server. nil disables it.
	Observe func(way Way, status versions.Status, took time.Duration)

	folders  sync.Map // herb.Ref → folder of its source, for sources of this server
	failures failures
}

// Way is how a server comes to publish a source.
type Way string

// The ways of a server. Commands publish in their own process.
const (
	WayStart Way = "start" // its files, before it serves requests
	WayWatch Way = "watch" // its files, when they change
	WayHTTP  Way = "http"  // files that clients send
)

// Ways lists all ways.
func Ways() []Way { return []Way{WayStart, WayWatch, WayHTTP} }

// Store records what happens to sources.
type Store interface {
	AddAuditEntry(ctx context.Context, e herb.AuditEntry) error
	AddUnpublished(ctx context.Context, ref herb.Ref, result herb.AuditResult, detail string) error
	SetSourceError(ctx context.Context, e herb.SourceError) error
	ClearSourceError(ctx context.Context, path string) error
	SourceErrors(ctx context.Context) ([]herb.SourceError, error)
}

// Options configures a publish. The zero value publishes nothing that requires a consent.
type Options struct {
	versions.PublishOptions
	// keepRolledBack skips a source whose newest version was rolled back, until the source changes.
	keepRolledBack bool
	// repeated marks another attempt after a temporary failure, which is in the audit log already.
	repeated bool
	Keep     *versions.KeptSource // the source to keep with the version; nil: none
	// Records is the number of records that must be read; nil: any.
	Records *int
	// Read is called with what was read, before the version is built; also if the source has not
	// changed. An error ends the publish. nil: nothing is called.
	Read func(t *ingest.Table) error
	// Progress is called by one goroutine at a time. nil disables it.
	Progress func(progress.Progress)
}

// Phases of a publish before those of package versions.
const (
	phaseRead  = "reading the source"
	phaseInfer = "inferring types" // only if it cannot be done while reading
)

// Publish reads a source and makes it live, unless it has not changed since it was last published,
// the file of the live version is damaged or missing, or Force is set. An error with
// herb.CodeRejected means that it was rejected; Changes then contains the reasons.
//
// The live version is read once, before the source: ingest.Inspect compares the source with it, and
// versions.Service.Publish compares the new version with it and reads it again only if another one
// went live meanwhile.
//
// A panic becomes a *herb.PanicError; nothing has changed then.
func (p *Publisher) Publish(ctx context.Context, s ingest.Source, opts Options) (r versions.Result, err error) {
	ref := s.Ref
	defer func() {
		if err != nil {
			r.Fail(ref, err)
		}
	}()
	if !opts.Check {
		defer func() {
			if !opts.repeated || !isTemporary(err) {
				p.AuditFailure(ctx, herb.AuditPublished, ref, err)
			}
		}()
	}
	defer herb.Recover(&err)
	defer s.Release()
	steps := progress.New(opts.Progress, append([]string{phaseRead}, p.Versions.Phases()...)...)
	reading := steps.Bytes(phaseRead)
	read := ingest.Options{
		Temp:      p.Data,
		Progress:  func(read, size int64) { reading(read, size) },
		Rows:      func(n int) { steps.Update(phaseRead, func(p *progress.Progress) { p.Records = n }) },
		Inferring: steps.Bytes(phaseInfer),
	}
	live, err := p.Versions.LiveVersion(ctx, s.Ref)
	if err != nil {
		return r, err
	}
	if s.Fetch.Address != "" && s.Input == nil {
		if !opts.Force && live.Settings != nil && sameJSON(live.Settings.Descriptor, s.Settings.Descriptor) {
			return versions.NewResult(versions.StatusUnchanged, live), nil // it is fetched when it is due
		}
		fetched, err := p.fetch(ctx, &s)
		if err != nil {
			return r, err
		}
		defer fetched.Close()
	}
	s, err = keepSettings(s, live)
	if err != nil {
		return r, err
	}
	s.Access = cmp.Or(s.Access, p.Access)
	if live.Report != nil && !opts.Force && opts.Read == nil {
		read.Previous = ingest.Previous{Hash: live.SourceHash, Bytes: live.Report.Bytes}
	}
	t, err := ingest.Inspect(ctx, s, read)
	if errors.Is(err, ingest.ErrUnchanged) {
		if damage, err := p.findDamage(ctx, live); err != nil || damage == nil {
			return versions.NewResult(versions.StatusUnchanged, live), err
		}
		read.Previous = ingest.Previous{}
		t, err = ingest.Inspect(ctx, s, read)
	}
	switch {
	case err != nil:
		return r, err
	case opts.Expected != nil && *opts.Expected != live.Version:
		return r, errors.Join(versions.ErrConcurrent(s.Ref), t.Close())
	}
	defer t.Close()
	if opts.Records == nil && t.Dataset.Records+len(t.Dataset.Fields) == 0 {
		return r, descriptor.Located(s.Label(), errEmpty(t.Source.Dialect.Table))
	}
	if opts.Records != nil && t.Dataset.Records != *opts.Records {
		return r, fmt.Errorf("%s are read as %s; nothing was published",
			herb.Plural(*opts.Records, "record", "records"), herb.Count(t.Dataset.Records))
	}
	if opts.Read != nil {
		if err := opts.Read(t); err != nil {
			return r, err
		}
		if live.Report != nil && !opts.Force && live.SourceHash == t.Dataset.SourceHash {
			if damage, err := p.findDamage(ctx, live); err != nil || damage == nil {
				return versions.NewResult(versions.StatusUnchanged, live), err
			}
		}
	}
	if opts.keepRolledBack {
		if version, err := p.rolledBack(ctx, live, t.Dataset.SourceHash); err != nil || version != "" {
			r = versions.NewResult(versions.StatusUnchanged, live)
			r.RolledBack = version
			return r, err
		}
	}
	reading = steps.Bytes(versions.PhaseIndexing)
	r, err = p.Versions.Publish(ctx, versions.Publication{
		Dataset:      t.Dataset,
		Records:      t.Records(ctx),
		Expectations: s.Expectations,
		UniqueKeys:   t.Source.UniqueKeys,
		Charts:       s.Charts,
		Parquet:      s.Parquet,
		Keep:         s.Keep,
		AccessSet:    s.AccessSet,
		Origins:      originsOf(s),
		Live:         &live,
		Source:       opts.Keep,
		Progress:     steps,

		PublishOptions: opts.PublishOptions,
	})
	if versions.IsConcurrent(err) {
		if now, failed := p.Versions.LiveVersion(ctx, s.Ref); failed == nil && now.SourceHash == t.Dataset.SourceHash &&
			!opts.Force {
			return versions.NewResult(versions.StatusUnchanged, now), nil // sent twice at the same time
		}
	}
	return r, err
}

// sameJSON reports whether two texts are the same JSON value.
func sameJSON(a, b []byte) bool {
	var first, second any
	return json.Unmarshal(a, &first) == nil && json.Unmarshal(b, &second) == nil && reflect.DeepEqual(first, second)
}

// fetch fetches the file of a source that names an address.
func (p *Publisher) fetch(ctx context.Context, s *ingest.Source) (*receive.File, error) {
	if p.Fetch == nil {
		return nil, herb.Errorf(herb.CodeRejected, "%s is fetched from an address, and this program fetches nothing",
			s.Ref)
	}
	f, err := p.Fetch(ctx, s.Ref, s.Fetch)
	if err != nil {
		return nil, err
	}
	s.Input, s.DisplayName = f.Content(), cmp.Or(f.Name, s.DisplayName)
	return f, nil
}

// findDamage returns why an unchanged source has to be published again, and logs it; nil if its
// live version can be read.
func (p *Publisher) findDamage(ctx context.Context, live herb.Dataset) (damage, err error) {
	damage, err = p.Versions.FindDamage(ctx, live)
	if damage != nil {
		p.Log.Warn("the live version cannot be read; publishing the unchanged source again",
			"dataset", live.Ref.String(), "version", live.Version, "err", damage)
	}
	return damage, err
}

// rolledBack returns the newest version of a dataset if it was built from the source with a hash
// and is not the live one, so that it was rolled back; otherwise "".
func (p *Publisher) rolledBack(ctx context.Context, live herb.Dataset, hash string) (string, error) {
	if live.Version == "" {
		return "", nil
	}
	history, err := p.Versions.History(ctx, live.Ref)
	if err != nil || history[0].SourceHash != hash || history[0].Version == live.Version {
		return "", err
	}
	return history[0].Version, nil
}

// originsOf returns the files that a source reads. Inline records and standard input have none.
func originsOf(s ingest.Source) (origins []herb.Origin) {
	if s.Input != nil {
		return nil
	}
	for _, path := range s.Files() {
		absolute, err := filepath.Abs(path)
		if err != nil { // the working directory is gone; the path as given is still comparable
			absolute = path
		}
		if resolved, err := filepath.EvalSymlinks(absolute); err == nil {
			absolute = resolved
		}
		origins = append(origins, herb.Origin{Path: absolute, InnerPath: s.InnerPath()})
	}
	return origins
}

// auditTimeout limits the time for recording a failure.
const auditTimeout = 5 * time.Second

// AuditFailure records that a change of a dataset was rejected or failed. It does nothing if err is
// nil, because the transaction of a successful change records it. The entry contains the code of
// the error, never its message, which may quote values. A failure to record the entry, for example
// because the database is down, is ignored: the caller reports err anyway.
func (p *Publisher) AuditFailure(ctx context.Context, action herb.AuditAction, ref herb.Ref, err error) {
	if err == nil {
		return
	}
	result, reason := herb.AuditFailed, string(herb.CodeOf(err))
	if herb.CodeOf(err) == herb.CodeRejected {
		result = herb.AuditRejected
	}
	informs := action == herb.AuditPublished // whether webhooks are informed
	switch code := herb.CodeOf(err); {
	case ctx.Err() != nil:
		informs, reason = false, "canceled"
	case code == herb.CodeUnauthenticated, code == herb.CodeForbidden:
		informs, reason = false, reason+", the key was revoked, expired or lost its scope before the version went live"
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()
	if informs {
		_ = p.Store.AddUnpublished(limited, ref, result, "reason: "+reason)
		return
	}
	_ = p.Store.AddAuditEntry(limited, herb.AuditEntry{
		Action: action, Subject: ref.String(), Result: result, Detail: "reason: " + reason,
	})
}

// errEmpty returns the error for a table without records and fields; an empty name means the file.
func errEmpty(table string) error {
	what := "the file"
	if table != "" {
		what = strconv.Quote(herb.Clip(table, 60))
	}
	return herb.Invalidf("%s has no records, so nothing names its fields; publish it when it has records, or declare "+
		"its fields in a descriptor", what)
}
