package versions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"herbarium/internal/contenthash"
	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/progress"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// Publication is a version to be published.
type Publication struct {
	Dataset      herb.Dataset                  // Publish sets version, count and time, and completes the report
	Records      iter.Seq2[herb.Record, error] // read once, with values in field order
	Expectations []herb.Expectation            // checked before the version goes live
	UniqueKeys   [][]string                    // fields that together differ in all records, besides the primary key
	Charts       []herb.PinnedChart            // checked against the fields
	Parquet      bool                          // the Parquet file is built before the version goes live
	Keep         herb.Keep                     // versions of the dataset to keep; zero members: those of Options
	// Dataset.Access was set explicitly; only then may the source of a protected dataset be
	// published as open
	AccessSet bool
	Origins   []herb.Origin      // source files, if they have paths
	Live      *herb.Dataset      // the live version as LiveVersion returned it; nil: Publish reads it
	Source    *KeptSource        // kept with the version; nil: none is
	Progress  *progress.Reporter // of Phases
	PublishOptions
}

// PublishOptions are the options of a publish: of a command, of a request over HTTP and of a draft.
// They are passed on as they are. The zero value publishes nothing that requires a consent.
type PublishOptions struct {
	Message  string         // of the version, as herb.ParseMessage returns it; empty: none
	Consents []herb.Consent // what the publisher accepts
	Check    bool           // dry run: do everything except making the version live
	Force    bool           // publish a source that has not changed; package publish decides that
	// SameFormat makes a file of another format than that of the live version a breaking change.
	SameFormat bool
	// Expected is the live version that the publisher knows, or empty if there was none; the
	// publish is rejected if another one is live or goes live meanwhile. nil: it replaces any.
	Expected *string
	// Authorize fails if the publisher must not publish anymore; it is called before the switch.
	// nil: nothing is checked.
	Authorize func(ctx context.Context) error
}

// The phases of a publish, besides segment.PhaseSorting.
const (
	PhaseIndexing  = "indexing"  // reading the records; counts records
	PhaseChecking  = "checking"  // verifying the version before it goes live
	PhaseUploading = "uploading" // storing the file for all nodes; counts bytes
)

// Phases returns the phases of a publish.
func (s *Service) Phases() []string {
	phases := []string{PhaseIndexing, segment.PhaseSorting, PhaseChecking}
	if s.shared() {
		phases = append(phases, PhaseUploading)
	}
	return phases
}

// reportBuild reports the progress of segment.Create.
func (p Publication) reportBuild(b segment.Progress) {
	if b.Phase == segment.PhaseReading {
		p.Progress.Update(PhaseIndexing, func(s *progress.Progress) { s.Records = b.Done })
	} else {
		p.Progress.Update(b.Phase, func(s *progress.Progress) { s.Done, s.Total = int64(b.Done), int64(b.Total) })
	}
}

// Publish builds a version from records and makes it live. It is atomic: after an error nothing has
// changed; files that could not be removed are left to Sweep and Collect. The error has
// herb.CodeRejected if the version is valid but rejected: it breaks consumers of the live version,
// its primary key is not unique, or an expectation fails. Concurrent publishes of one dataset are
// serialized: each is compared with the version that it actually replaces.
//
// A panic becomes a *herb.PanicError: publishes run in servers, and no source may crash one.
func (s *Service) Publish(ctx context.Context, p Publication) (r Result, err error) {
	defer func() {
		if err != nil {
			r.Fail(p.Dataset.Ref, err)
		}
	}()
	defer herb.Recover(&err)
	p.Dataset.Access = cmp.Or(p.Dataset.Access, herb.AccessOpen)
	d := p.Dataset
	if s.library.IsMutable(d.Ref) {
		return NewResult(StatusFailed, d),
			herb.Invalidf("%q is the plant store and cannot be published over; choose another name", d.Ref)
	}
	if err := checkCharts(p.Charts, d.Fields); err != nil {
		return NewResult(StatusFailed, d), err
	}
	d.Message = p.Message
	d.Published = s.opts.Now().UTC().Truncate(time.Millisecond)
	d.Version = herb.NewVersion(d.Published)
	if d.Access.NeedsKey() {
		d.Origins = p.Origins
	}
	lock, err := store.LockVersions(s.opts.Dir)
	if err != nil {
		return NewResult(StatusFailed, d), err
	}
	defer lock.Close()
	cells := contenthash.New(d.Fields)
	n, err := segment.Create(ctx, s.file(d.Version), d.Fields, cells.Of(p.Records), segment.Options{
		Progress: p.reportBuild,
		Memory:   s.opts.Memory,
		FS:       s.opts.FS,
		Program:  s.opts.Program,
		Declared: geo.Declared(d.Descriptor, d.Fields),
	})
	if err != nil {
		return NewResult(StatusFailed, d), err
	}
	d.Records = n
	if p.Source != nil && !p.Check {
		if err := s.keepSource(ctx, &d, *p.Source); err != nil {
			return NewResult(StatusFailed, d), errors.Join(err, s.library.RemoveFiles(d.Version))
		}
	}
	r, dropped, err := s.activate(ctx, p, &d, cells)
	if p.Check {
		r.Status, r.Version, r.Published = StatusChecked, "", time.Time{}
	}
	if err != nil || p.Check {
		if !errors.Is(err, errUncertain) {
			err = errors.Join(err, s.library.RemoveFiles(d.Version))
		}
		return r, err
	}
	s.library.NotifyChange()
	// the new version is live regardless; Sweep removes the files later
	if err := s.removeRetired(ctx, dropped); err != nil {
		s.opts.Log.Warn("cannot remove old versions; will retry", "dataset", d.Ref.String(), "err", err)
	}
	if s.shared() {
		s.library.AddFile(store.SegmentFile(d.Version), d.File.Size)
	}
	return r, nil
}

// activate verifies a version whose file is complete, completes its report, and makes it live
// unless it is rejected. If another version went live in the meantime, the catalogue does not
// switch; activate then compares with that one and tries again. It returns the versions that left
// the catalogue.
func (s *Service) activate(ctx context.Context, p Publication, d *herb.Dataset, cells *contenthash.Hash) (r Result,
	dropped []string, err error) {
	problems, err := s.checkVersion(ctx, p, d, cells)
	if err != nil {
		return NewResult(StatusFailed, *d), nil, err
	}
	defer func() {
		if s.shared() && err != nil && !errors.Is(err, errUncertain) {
			s.deleteUpload(ctx, *d)
		}
	}()
	live, built := p.Live, false
	for {
		if live == nil {
			read, err := s.LiveVersion(ctx, d.Ref)
			if err != nil {
				r = NewResult(StatusFailed, *d)
				r.Changes = problems
				return r, nil, err
			}
			live = &read
		}
		var shared HiddenFields
		r, shared, err = s.gate(ctx, p, *d, *live, problems)
		if herb.CodeOf(err) == herb.CodeRejected && live == p.Live && p.Expected == nil {
			live = nil // it may have been replaced while the version was built
			continue
		}
		if err != nil || p.Check {
			return r, nil, err
		}
		if p.Parquet && !built {
			if err := s.buildParquet(ctx, *d); err != nil {
				return NewResult(StatusFailed, *d), nil, err
			}
			built = true
		}
		if r.Compared != nil {
			if err := s.comparisons.StoreKept(ctx, live.Version, d.Version); err != nil {
				return r, nil, err
			}
		}
		if s.shared() && d.File == nil {
			d.File, err = s.upload(ctx, *d, p.Progress.Bytes(PhaseUploading))
			if err != nil {
				return r, nil, err
			}
		}
		if p.Authorize != nil {
			if err := p.Authorize(ctx); err != nil {
				return r, nil, err
			}
		}
		next := *d
		rememberHidden(*live, &next, shared)
		next.Compared = r.Compared
		next.Predecessors, err = s.predecessorsAfter(ctx, *live)
		if err != nil {
			return r, nil, err
		}
		dropped, err = s.addVersion(ctx, next, live.Version, p.Keep.Or(s.opts.Keep))
		if !errors.Is(err, store.ErrSuperseded) {
			return r, dropped, err
		}
		if p.Expected != nil {
			return r, nil, ErrConcurrent(d.Ref)
		}
		live = nil
	}
}

// buildParquet builds the Parquet file of a version that is not live yet.
func (s *Service) buildParquet(ctx context.Context, d herb.Dataset) (err error) {
	defer herb.Recover(&err) // so that the files are removed, as after any other error
	r, err := segment.Open(s.file(d.Version))
	if err != nil {
		return fmt.Errorf("cannot read back the written segment: %w", err)
	}
	defer func() { err = errors.Join(err, r.Release()) }()
	if err := s.library.BuildParquet(ctx, library.View{Dataset: d, Engine: r, Reader: r}); err != nil {
		return fmt.Errorf("building the Parquet file, which \"parquet\" in the descriptor requests: %w", err)
	}
	return nil
}

// ErrConcurrent returns the error of an exclusive publish that was overtaken by another one.
func ErrConcurrent(ref herb.Ref) error {
	return herb.Wrap(herb.CodeRejected, store.ErrSuperseded,
		"another version of %s went live in the meantime; nothing has changed; "+
			"compare it with yours and publish again", ref)
}

// IsConcurrent reports whether an exclusive publish was overtaken by another one.
func IsConcurrent(err error) bool { return errors.Is(err, store.ErrSuperseded) }

// gate compares a version with the live one and with protected datasets. The error has
// herb.CodeRejected if it must not go live.
func (s *Service) gate(ctx context.Context, p Publication, d, live herb.Dataset, problems []Change) (Result,
	HiddenFields, error) {
	r := NewResult(StatusPublished, d)
	r.Replaces = live.Version
	shared, err := s.findHiddenValues(ctx, live, d)
	if err != nil {
		return r, nil, err
	}
	r.Compared, err = s.compareRecords(ctx, live, d, p.Check)
	if err != nil {
		return r, nil, err
	}
	exposed, err := s.findProtected(ctx, p)
	r.Changes = slices.Concat(Compare(live, d, shared), problems, exposed)
	if p.SameFormat {
		r.Changes = append(r.Changes, compareFormats(live, d)...)
	}
	return r, shared, cmp.Or(err, Reject(r.Changes, p.Consents...))
}

// findHiddenValues searches a version, whose file is on this machine, for values that the live
// version hides.
func (s *Service) findHiddenValues(ctx context.Context, live, d herb.Dataset) (_ HiddenFields, err error) {
	if live.Version == "" || len(hidingOf(live).Columns) == 0 {
		return nil, nil
	}
	r, err := segment.Open(s.file(d.Version))
	if err != nil {
		return nil, fmt.Errorf("cannot read back the written segment: %w", err)
	}
	defer func() { err = errors.Join(err, r.Release()) }()
	return FindHiddenValues(ctx, s.library.AcquireVersion, live, d, r.Records(ctx))
}

// checkVersion opens a version that is not live yet, verifies that its content is that of the
// source, and returns the problems that do not depend on the live version.
func (s *Service) checkVersion(ctx context.Context, p Publication, d *herb.Dataset,
	cells *contenthash.Hash) (problems []Change, err error) {
	defer herb.Recover(&err) // so that the file is removed, as after any other error
	report := func(records int) {
		p.Progress.Update(PhaseChecking, func(s *progress.Progress) {
			s.Done, s.Total = int64(records),
				int64(d.Records)
		})
	}
	report(0)
	r, err := segment.Open(s.file(d.Version))
	if err != nil {
		return nil, fmt.Errorf("cannot read back the written segment: %w", err)
	}
	defer func() { err = errors.Join(err, r.Release()) }()
	if err := verifySegment(ctx, r, d.Fields, cells, d.Report, report); err != nil {
		return nil, err
	}
	d.Coordinates = r.Coordinates()
	d.Report, err = completeReport(ctx, d.Report, r, *d, cells.String())
	if err != nil {
		return nil, err
	}
	dropInvalidKey(d)
	inferKey(d)
	for i, key := range append([][]string{d.PrimaryKey}, p.UniqueKeys...) {
		found, err := findDuplicates(ctx, r, *d, key, i == 0,
			segment.SortOptions{Dir: s.opts.Dir, Memory: s.opts.Memory})
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	for _, c := range problems { // if allowed, they are only visible in the report
		d.Report.Notes = append(d.Report.Notes, c.Message)
	}
	failed, err := checkExpectations(ctx, r, *d, p.Expectations)
	return append(problems, failed...), err
}

// errUncertain reports that it is unknown whether a version is in the catalogue. Its file must not
// be removed; Sweep decides.
var errUncertain = errors.New("unknown whether the version was published")

// addVersion adds a version, whose file is complete, to the catalogue in place of the version
// replaces, and returns the versions that left the catalogue, as far as they are known.
func (s *Service) addVersion(ctx context.Context, d herb.Dataset, replaces string, keep herb.Keep) ([]string, error) {
	dropped, failed := s.catalogue.AddVersion(ctx, d, replaces, keep, s.opts.Now())
	if failed == nil || errors.Is(failed, store.ErrSuperseded) {
		return dropped, failed
	}
	// The error may have occurred after the commit, in which case the file is needed. A read is not
	// enough: the transaction may still be in flight. Retiring the version waits for it or makes it
	// fail.
	retired, err := s.catalogue.RetireVersion(context.WithoutCancel(ctx), d.Version, s.opts.Now())
	switch {
	case err != nil:
		return nil, errors.Join(failed, err, errUncertain)
	case !retired:
		s.opts.Log.Warn("catalogue returned an error but has the version", "dataset", d.Ref.String(), "version",
			d.Version, "err", failed)
		return nil, nil
	}
	return nil, failed
}
