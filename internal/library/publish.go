package library

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// Publish makes a version of a dataset out of records and puts it live. What d says of version, count and time is filled
// in. Until the end of it nothing has changed; after an error nothing has either. What could not be cleaned up is left to
// Sweep.
func (l *Library) Publish(ctx context.Context, d herb.Dataset, records iter.Seq2[herb.Record, error]) (herb.Dataset, error) {
	if _, ok := l.opts.Living[d.Ref]; ok {
		return d, herb.Invalidf("%q is the plant store and cannot be published over; choose another name", d.Ref)
	}
	d.Published = l.opts.Now().UTC().Truncate(time.Millisecond)
	d.Version = newVersion(d.Published)
	n, err := segment.Create(ctx, l.file(d.Version), d.Fields, records, segment.Options{
		Progress: l.opts.Progress,
		Memory:   l.opts.Memory,
		FS:       l.opts.FS,
	})
	if err != nil {
		return d, err
	}
	d.Records = n
	if err := verify(l.file(d.Version)); err != nil {
		return d, errors.Join(fmt.Errorf("what was written does not read back: %w", err), l.removeFile(d.Version))
	}
	if err := l.add(ctx, d); err != nil {
		return d, err
	}
	l.ring()
	dropped, err := l.catalogue.PruneVersions(ctx, d.Ref, l.opts.Keep)
	if err == nil {
		err = l.removeFiles(dropped)
	}
	if err != nil { // the new version is live all the same; the files are swept later
		l.opts.Log.Warn("old versions were not removed", "dataset", d.Ref.String(), "err", err)
	}
	return d, nil
}

// add enters a version, whose file is complete, into the catalogue.
func (l *Library) add(ctx context.Context, d herb.Dataset) error {
	failed := l.catalogue.AddVersion(ctx, d)
	if failed == nil {
		return nil
	}
	// An error may come after the commit, and then the file is needed.
	versions, err := l.catalogue.Versions(context.WithoutCancel(ctx))
	switch {
	case err != nil: // nobody can tell now; Sweep will
		return errors.Join(failed, err)
	case slices.Contains(versions, d.Version):
		l.opts.Log.Warn("the catalogue reports an error but has the version", "dataset", d.Ref.String(), "version", d.Version, "err", failed)
		return nil
	default:
		return errors.Join(failed, l.removeFile(d.Version))
	}
}

// ring tells all processes that the catalogue has changed.
func (l *Library) ring() {
	if err := l.bell.ring(); err != nil {
		l.opts.Log.Warn("the change of the catalogue is noticed later, because the bell cannot be rung", "err", err)
	}
}

// newVersion makes a name that sorts by time and is never used twice.
func newVersion(now time.Time) string {
	return now.Format("20060102T150405Z") + "-" + strings.ToLower(rand.Text()[:10])
}

// verify reads a segment back and compares it with its checksums.
func verify(path string) error {
	r, err := segment.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(r.Verify(), r.Release())
}

// History lists the versions of a dataset, the newest first.
func (l *Library) History(ctx context.Context, ref herb.Ref) ([]store.Version, error) {
	return l.catalogue.History(ctx, ref)
}

// Rollback puts an earlier version live. An empty version means the one before the live one.
func (l *Library) Rollback(ctx context.Context, ref herb.Ref, version string) (string, error) {
	if version == "" {
		history, err := l.catalogue.History(ctx, ref)
		if err != nil {
			return "", err
		}
		if version = beforeLive(history); version == "" {
			return "", herb.Invalidf("%s has no version before the live one", ref)
		}
	}
	if err := l.catalogue.SetLive(ctx, ref, version); err != nil {
		return "", err
	}
	l.ring()
	return version, nil
}

func beforeLive(history []store.Version) string {
	for i, v := range history {
		if v.Live && i+1 < len(history) {
			return history[i+1].Version
		}
	}
	return ""
}

// Remove takes a dataset out of the library, with all its versions.
func (l *Library) Remove(ctx context.Context, ref herb.Ref) error {
	if _, ok := l.opts.Living[ref]; ok {
		return herb.Invalidf("%q is the plant store and cannot be removed", ref)
	}
	history, err := l.catalogue.History(ctx, ref)
	if err != nil {
		return err
	}
	if err := l.catalogue.RemoveDataset(ctx, ref); err != nil {
		return err
	}
	l.ring()
	versions := make([]string, len(history))
	for i, v := range history {
		versions[i] = v.Version
	}
	return l.removeFiles(versions)
}

func (l *Library) removeFiles(versions []string) error {
	var errs []error
	for _, v := range versions {
		errs = append(errs, l.removeFile(v))
	}
	return errors.Join(errs...)
}

func (l *Library) removeFile(version string) error { return l.opts.FS.RemoveAll(l.file(version)) }
