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

// Publication is a version to be made of a dataset.
type Publication struct {
	// Dataset describes it. Version, count and time are filled in, and the report is completed.
	Dataset herb.Dataset
	// Records are read once. Values are in the order of the fields.
	Records iter.Seq2[herb.Record, error]
	// Goldens are asked before the version goes live.
	Expectations []herb.Expectation
	// AccessSet says that the publisher stated Dataset.Access. A protected dataset does not become open by default.
	AccessSet bool
	// Origins are the files that the records come from, if they have paths.
	Origins []herb.Origin
	// AllowBreaking lets a version go live that breaks those who use the dataset, or whose primary key is not unique.
	AllowBreaking bool
	// Check does everything but the switch.
	Check bool
	// Progress is told how far it is: what segment.Create tells, and Phases. nil: nobody is told.
	Progress func(segment.Progress)
}

// The phases of a publish once its version is complete.
const (
	PhaseChecking  = "checking"  // it is examined before it goes live
	PhaseUploading = "uploading" // its file is stored for all nodes; counts bytes
)

// Phases returns the phases of a publish that come after those of segment.Create.
func (l *Library) Phases() []string {
	if l.opts.Blobs == nil {
		return []string{PhaseChecking}
	}
	return []string{PhaseChecking, PhaseUploading}
}

// Outcome is what came of a publication. It is as complete as it could get before an error.
type Outcome struct {
	Dataset  herb.Dataset // without a version if it was only checked, or refused
	Replaces string       // the version that was live; empty if there was none
	Changes  []Change     // to that version, and what was found wrong
}

// Publish makes a version of a dataset out of records and puts it live. Until the end of it nothing has changed; after an
// error nothing has either; what could not be cleaned up is left to Sweep and Collect. The error has herb.CodeRefused if
// the version can be built but would do harm: if it breaks those who use the live one, if its primary key is not unique,
// or if a golden fails. Of several publishers of one dataset each is judged by the version whose place it takes, whichever
// comes first.
//
// A panic becomes a *herb.PanicError: publishes run in servers, and no source may end one.
func (l *Library) Publish(ctx context.Context, p Publication) (out Outcome, err error) {
	defer herb.Recover(&err)
	d := p.Dataset
	if _, ok := l.opts.Mutable[d.Ref]; ok {
		return Outcome{Dataset: d}, herb.Invalidf("%q is the plant store and cannot be published over; choose another name", d.Ref)
	}
	d.Published = l.opts.Now().UTC().Truncate(time.Millisecond)
	d.Version = newVersion(d.Published)
	if accessOf(d) == herb.AccessKey {
		d.Origins = p.Origins
	}
	lock, err := l.lock(d.Version)
	if err != nil {
		return Outcome{Dataset: d}, err
	}
	defer func() {
		if err := lock.release(); err != nil {
			l.opts.Log.Warn("a lock file was not removed", "version", d.Version, "err", err)
		}
	}()
	cells := newCellHash(d.Fields)
	n, err := segment.Create(ctx, l.file(d.Version), d.Fields, withHash(p.Records, cells), segment.Options{
		Progress: p.Progress,
		Memory:   l.opts.Memory,
		FS:       l.opts.FS,
	})
	if err != nil {
		return Outcome{Dataset: d}, err
	}
	d.Records = n
	out, err = l.activate(ctx, p, d, cells.String())
	if err != nil || p.Check {
		out.Dataset.Version = ""
		if !errors.Is(err, errUncertain) {
			err = errors.Join(err, l.removeFile(d.Version))
		}
		return out, err
	}
	l.notifyChange()
	dropped, err := l.catalogue.PruneVersions(ctx, d.Ref, l.opts.Keep, l.retireAt())
	if err == nil {
		err = l.removeFiles(dropped)
	}
	if err != nil { // the new version is live all the same; the files are swept later
		l.opts.Log.Warn("old versions were not removed", "dataset", d.Ref.String(), "err", err)
	}
	if l.cache != nil {
		l.finishPublish(ctx, out.Dataset)
	}
	return out, nil
}

// admit examines a version whose file is complete, completes its report, and makes it live unless something is wrong.
func (l *Library) activate(ctx context.Context, p Publication, d herb.Dataset, cells string) (out Outcome, err error) {
	wrong, err := l.checkVersion(ctx, p, &d, cells)
	if err != nil {
		return Outcome{Dataset: d}, err
	}
	defer func() {
		if d.File != nil && err != nil && !errors.Is(err, errUncertain) {
			l.deleteUpload(ctx, d)
		}
	}()
	for {
		live, err := l.catalogue.Version(ctx, d.Ref, "")
		out = Outcome{Dataset: d, Changes: wrong}
		switch {
		case err == nil:
			out.Replaces, out.Changes = live.Version, slices.Concat(compare(live, d), wrong)
			requireStatedAccess(out.Changes, live, p)
		case herb.CodeOf(err) != herb.CodeNotFound:
			return out, err
		}
		exposed, err := l.findProtected(ctx, p)
		if err != nil {
			return out, err
		}
		out.Changes = append(out.Changes, exposed...)
		if err := rejectBreaking(out.Changes, p.AllowBreaking); err != nil || p.Check {
			return out, err
		}
		if l.opts.Blobs != nil && d.File == nil {
			if d.File, err = l.upload(ctx, d, p.Progress); err != nil {
				return out, err
			}
			out.Dataset = d
		}
		err = l.addVersion(ctx, d, live.Version)
		if !errors.Is(err, store.ErrSuperseded) {
			return out, err
		}
	}
}

// examine opens a version that nobody else knows of yet, sees to it that it holds what was read, and finds what is wrong
// with it whatever the live version is.
func (l *Library) checkVersion(ctx context.Context, p Publication, d *herb.Dataset, cells string) (wrong []Change, err error) {
	defer herb.Recover(&err) // so that the file is removed, as after any other error
	if p.Progress != nil {
		p.Progress(segment.Progress{Phase: PhaseChecking})
	}
	r, err := segment.Open(l.file(d.Version))
	if err != nil {
		return nil, fmt.Errorf("what was written does not read back: %w", err)
	}
	defer func() { err = errors.Join(err, r.Release()) }()
	if err := verifySegment(ctx, r, d.Fields, cells, d.Report); err != nil {
		return nil, err
	}
	if d.Report, err = completeReport(d.Report, r, *d, cells); err != nil {
		return nil, err
	}
	dropInvalidKey(d)
	wrong, err = findDuplicates(ctx, r, *d)
	if err != nil {
		return nil, err
	}
	for _, c := range wrong { // if they are allowed, the report is what tells of them
		d.Report.Notes = append(d.Report.Notes, c.Message)
	}
	failed, err := checkExpectations(ctx, r, *d, p.Expectations)
	return append(wrong, failed...), err
}

// errUncertain says that a version may or may not be in the catalogue. Its file must stay; Sweep will know.
var errUncertain = errors.New("it cannot be told whether the version was published")

// add enters a version, whose file is complete, into the catalogue in the place of another.
func (l *Library) addVersion(ctx context.Context, d herb.Dataset, over string) error {
	failed := l.catalogue.AddVersion(ctx, d, over)
	if failed == nil || errors.Is(failed, store.ErrSuperseded) {
		return failed
	}
	// An error may come after the commit, and then the file is needed.
	if l.opts.Blobs != nil {
		return l.resolveUncertainAdd(ctx, d, failed)
	}
	versions, err := l.catalogue.Versions(context.WithoutCancel(ctx))
	switch {
	case err != nil:
		return errors.Join(failed, err, errUncertain)
	case slices.Contains(versions, d.Version):
		l.opts.Log.Warn("the catalogue reports an error but has the version", "dataset", d.Ref.String(), "version", d.Version, "err", failed)
		return nil
	default:
		return failed
	}
}

// ring tells all processes that the catalogue has changed.
func (l *Library) notifyChange() {
	if err := l.notifier.notify(); err != nil {
		l.opts.Log.Warn("the change of the catalogue is noticed later, because the bell cannot be rung", "err", err)
	}
}

// newVersion makes a name that sorts by time and is never used twice.
func newVersion(now time.Time) string {
	return now.Format(versionTime) + "-" + strings.ToLower(rand.Text()[:10])
}

const versionTime = "20060102T150405Z"

// isVersion reports whether a name could be one that newVersion made.
func isVersion(name string) bool {
	at, random, ok := strings.Cut(name, "-")
	if _, err := time.Parse(versionTime, at); err != nil || !ok || len(random) != 10 {
		return false
	}
	return strings.Trim(random, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// History lists the versions of a dataset, the newest first.
func (l *Library) History(ctx context.Context, ref herb.Ref) ([]store.Version, error) {
	return l.catalogue.History(ctx, ref)
}

// Newest describes the version of a dataset that was published last. It is not the live one after a rollback.
func (l *Library) Newest(ctx context.Context, ref herb.Ref) (herb.Dataset, error) {
	history, err := l.catalogue.History(ctx, ref)
	if err != nil || len(history) == 0 {
		return herb.Dataset{}, err
	}
	return l.catalogue.Version(ctx, ref, history[0].Version)
}

// Version describes a version of a dataset; an empty name means the live one.
func (l *Library) Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error) {
	if living, ok := l.opts.Mutable[ref]; ok {
		return living.Describe(ctx)
	}
	return l.catalogue.Version(ctx, ref, version)
}

// Rollback puts an earlier version live. An empty version means the one before the live one. The error has herb.CodeRefused
// if the live version needs a key and the other one does not, or if another version goes live in the meantime.
func (l *Library) Rollback(ctx context.Context, ref herb.Ref, version string) (string, error) {
	return l.rollback(ctx, ref, version, false)
}

// ForceRollback is Rollback that may make a protected dataset open.
func (l *Library) ForceRollback(ctx context.Context, ref herb.Ref, version string) (string, error) {
	return l.rollback(ctx, ref, version, true)
}

func (l *Library) rollback(ctx context.Context, ref herb.Ref, version string, mayOpen bool) (string, error) {
	history, err := l.catalogue.History(ctx, ref)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(history, func(v store.Version) bool { return v.Live })
	if i < 0 {
		return "", fmt.Errorf("the live version of %s is not in its history", ref)
	}
	live := history[i].Version
	switch {
	case version == "" && i+1 == len(history):
		return "", herb.Invalidf("%s has no version before the live one", ref)
	case version == "":
		version = history[i+1].Version
	}
	if !mayOpen {
		if err := l.checkOpening(ctx, ref, live, version); err != nil {
			return "", err
		}
	}
	err = l.catalogue.SetLive(ctx, ref, version, live)
	if errors.Is(err, store.ErrSuperseded) {
		return "", herb.Wrap(herb.CodeRefused, err, "%s was changed in the meantime, so that it was not rolled back; "+
			"run 'herbarium datasets history %s' and try again", ref, ref)
	}
	if err != nil {
		return "", err
	}
	l.notifyChange()
	return version, nil
}

// checkOpening fails if a protected version would be replaced by an open one.
func (l *Library) checkOpening(ctx context.Context, ref herb.Ref, live, version string) error {
	is, err := l.catalogue.Version(ctx, ref, live)
	if err != nil || accessOf(is) != herb.AccessKey {
		return err
	}
	next, err := l.catalogue.Version(ctx, ref, version)
	if err != nil || accessOf(next) == herb.AccessKey {
		return err
	}
	return herb.Errorf(herb.CodeRefused, "%s needs a key and version %s does not: rolling back would make it public; "+
		"if this is meant, use --allow-breaking", ref, version)
}

// Remove takes a dataset out of the library, with all its versions.
func (l *Library) Remove(ctx context.Context, ref herb.Ref) error {
	if _, ok := l.opts.Mutable[ref]; ok {
		return herb.Invalidf("%q is the plant store and cannot be removed", ref)
	}
	history, err := l.catalogue.History(ctx, ref)
	if err != nil {
		return err
	}
	if err := l.catalogue.RemoveDataset(ctx, ref, l.retireAt()); err != nil {
		return err
	}
	l.notifyChange()
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

func (l *Library) removeFile(version string) error {
	if l.cache != nil {
		l.mu.Lock()
		delete(l.cache.files, version)
		l.mu.Unlock()
	}
	return l.opts.FS.RemoveAll(l.file(version))
}
