package migrate

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// RestoreDataset restores one dataset of a backup, a folder or an archive, with all its versions
// into a place with other data, which servers may use. Versions that were withdrawn there are left
// out. The error has herb.CodeNotFound if the backup does not have the dataset, and
// herb.CodeRejected if the place has it.
func RestoreDataset(ctx context.Context, path string, to Place, ref herb.Ref, o Options) (r Result, err error) {
	o.begin(PhaseRead, PhaseSegments)
	names, err := filesOfDataset(ctx, path, ref)
	if err != nil {
		return r, err
	}
	var files, target Installation
	defer func() { err = errors.Join(err, files.close(), target.close()) }()
	if err := target.openPlace(ctx, to, true, o); err != nil {
		return r, err
	}
	if target.Dir != "" { // so that no server removes the files before they are in the catalogue
		lock, err := store.LockVersions(target.Dir)
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, lock.Close()) }()
	}
	if err := rejectExisting(ctx, target, ref); err != nil {
		return r, err
	}
	unpacked, err := os.MkdirTemp("", "herbarium-restore-*")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(unpacked)) }()
	b, err := readBackup(ctx, path, nil, unpacked, o, func(name string) bool { return names[name] })
	if err != nil {
		return r, err
	}
	segments := filepath.Join(unpacked, store.VersionsDir)
	if isFolder(path) {
		segments = filepath.Join(path, segmentsDir)
	}
	if err := files.openFiles("", segments); err != nil {
		return r, err
	}
	d, err := b.restorable(ctx, target, ref, &r)
	if err != nil {
		return r, err
	}
	if err := target.addDataset(ctx, d, files, o, &r); err != nil {
		return r, err
	}
	r.count(d)
	actor := herb.ActorOf(ctx)
	count, created := herb.Plural(len(d.Versions), "version", "versions"), b.header.Created.Format(time.RFC3339)
	return r, target.Store.AddAuditEntries(ctx, []herb.AuditEntry{{
		Time: time.Now().Truncate(time.Microsecond), Action: herb.AuditRestored, Subject: ref.String(),
		Actor: actor.ID, Origin: actor.Origin, Result: herb.AuditOK, Detail: count + " of the backup of " + created,
	}})
}

// filesOfDataset returns the names of the files of a dataset in a backup.
func filesOfDataset(ctx context.Context, path string, ref herb.Ref) (names map[string]bool, err error) {
	err = visitFiles(ctx, path, nil, func(name string, content io.Reader) error {
		if name != entriesFile {
			return nil // the archive skips its content
		}
		for e, err := range Read(content, &Header{}) {
			if err != nil {
				return err
			}
			d, ok := e.(*Dataset)
			if !ok || d.Ref != ref {
				continue
			}
			names = map[string]bool{}
			for f := range d.files() {
				names[f.name()] = true
			}
		}
		return nil
	})
	if err == nil && names == nil {
		err = herb.Errorf(herb.CodeNotFound, "the backup has no dataset %q", ref)
	}
	return names, err
}

// rejectExisting fails if an installation has a dataset.
func rejectExisting(ctx context.Context, in Installation, ref herb.Ref) error {
	all, err := in.Store.AllVersions(ctx)
	if slices.ContainsFunc(all, func(d store.DatasetVersions) bool { return d.Ref == ref }) {
		return herb.Errorf(herb.CodeRejected, "%s exists; remove it with 'herbarium datasets remove %s' first", ref,
			ref)
	}
	return err
}

// restorable returns what can be restored of a dataset: the versions that can be read and were not
// withdrawn from the target.
func (b *backup) restorable(ctx context.Context, target Installation, ref herb.Ref, r *Result) (*Dataset, error) {
	i := slices.IndexFunc(b.datasets, func(e Entry) bool { return e.(*Dataset).Ref == ref })
	if i < 0 {
		return nil, errors.New("the backup has changed")
	}
	d := b.datasets[i].(*Dataset)
	withdrawn, err := target.Store.WithdrawnVersions(ctx)
	if err != nil {
		return nil, err
	}
	d.Versions = slices.DeleteFunc(d.Versions, func(v herb.Dataset) bool {
		return slices.ContainsFunc(withdrawn[ref], func(w herb.Withdrawn) bool { return w.Version == v.Version })
	})
	if !slices.Contains(d.VersionNames(), d.Live) {
		return nil, herb.Errorf(herb.CodeRejected, "the live version %s of %s was withdrawn; it cannot be restored",
			d.Live, ref)
	}
	omitted := decideOmissions(b.damage, []Entry{d})
	r.Skipped = omitted.skipped
	trimmed := omitted.trim(d)
	if trimmed == nil {
		return nil, herb.Errorf(herb.CodeInvalid, "%s cannot be restored: %s", ref, omitted.skipped[0])
	}
	return trimmed, nil
}

// addDataset copies the files of a dataset and adds it to the catalogue.
func (in Installation) addDataset(ctx context.Context, d *Dataset, files Installation, o Options, r *Result) error {
	for f := range d.files() {
		o.files.total += files.fileSize(f)
		if _, ok := f.(*Segment); ok {
			r.Bytes += files.fileSize(f)
		} else {
			r.Sources++
		}
	}
	copyFiles := func(copied *Result) error {
		for f := range d.files() {
			if err := ensureFile(ctx, files, in, f, o.files.next(files.fileSize(f)), copied); err != nil {
				return err
			}
		}
		return nil
	}
	if err := in.Store.ForgetRetired(ctx, d.VersionNames()); err != nil {
		return err
	}
	if err := copyFiles(r); err != nil {
		return err
	}
	if err := in.Store.ReplaceVersions(ctx, d.DatasetVersions, nil, time.Now()); err != nil {
		if errors.Is(err, store.ErrSuperseded) {
			return rejectExisting(ctx, in, d.Ref)
		}
		return err
	}
	// A server may have deleted files of the removed dataset that were still there.
	o.files = &fileProgress{report: func(int64, int64) {}}
	return copyFiles(&Result{})
}
