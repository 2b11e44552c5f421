// Package library keeps the published datasets: which version of each is live, where its file is, and how a new one takes
// its place.
//
// # Consistency
//
// The catalogue, a table of the store, says which version of a dataset is live; a version's file never changes. So a
// publish is one transaction after the file is complete, and a reader that has acquired a snapshot keeps listing that
// version however many newer ones appear. Several processes may share a library: one that changes the catalogue rings a
// bell that the others hear on their next look-up.
package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/store"
	"herbarium/internal/text"
)

// Catalogue is where the library writes down what is published.
type Catalogue interface {
	Generation(ctx context.Context) (int64, error)
	Datasets(ctx context.Context) ([]herb.Dataset, error)
	Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error)
	AddVersion(ctx context.Context, d herb.Dataset, live string) error
	SetLive(ctx context.Context, ref herb.Ref, version string) error
	RemoveDataset(ctx context.Context, ref herb.Ref) error
	History(ctx context.Context, ref herb.Ref) ([]store.Version, error)
	PruneVersions(ctx context.Context, ref herb.Ref, keep int) ([]string, error)
	Versions(ctx context.Context) ([]string, error)
}

// Source lists the records of one dataset.
type Source interface {
	List(ctx context.Context, r *query.Request) (query.Page, error)
	// Stream finds everything that meets a request, whatever page it names.
	Stream(ctx context.Context, r *query.Request) (query.Stream, error)
	// Facets counts the values of fields among the records that meet a request.
	Facets(ctx context.Context, r *query.FacetRequest) (query.Facets, error)
}

// Living is a dataset that is not published but grows by itself.
type Living interface {
	Source
	// Describe returns the dataset as it is now, with its version and count.
	Describe(ctx context.Context) (herb.Dataset, error)
}

// Options of a library.
type Options struct {
	Dir    string              // where the files of versions are; it must exist
	Living map[herb.Ref]Living // datasets that live elsewhere
	Keep   int                 // versions to keep of each dataset; 0: DefaultKeep
	Now    func() time.Time    // nil: time.Now
	Log    *slog.Logger        // nil: no log

	Memory int        // bytes that a publish may sort in before it writes parts to disk; 0: as segment.Options
	FS     segment.FS // how files are written and removed; nil: segment.OS
}

// DefaultKeep is how many versions of a dataset are kept, the live one included.
const DefaultKeep = 5

// Library is safe for use by any number of goroutines.
type Library struct {
	catalogue Catalogue
	opts      Options
	bell      *bell
	refresh   sync.Mutex // held while the shelf is replaced
	shelf     atomic.Pointer[shelf]
}

// shelf is what is live at one moment. It is replaced, never changed.
type shelf struct {
	generation int64
	entries    map[herb.Ref]entry
}

type entry struct {
	dataset herb.Dataset
	segment *segment.Reader
	err     error // why there is no segment
}

// Snapshot is one version of a dataset, to be listed until it is released.
type Snapshot struct {
	herb.Dataset
	Source
	held *segment.Reader
}

// Release gives the snapshot back, with all that was listed from it. The version may be gone afterwards.
func (s Snapshot) Release() {
	if s.held != nil {
		_ = s.held.Release() // unmapping fails only for what is not mapped
	}
}

// Open opens a library. Nothing is read before the first look-up.
func Open(catalogue Catalogue, opts Options) (*Library, error) {
	if opts.Keep == 0 {
		opts.Keep = DefaultKeep
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.FS == nil {
		opts.FS = segment.OS{}
	}
	b, err := openBell(opts.FS, filepath.Join(opts.Dir, bellFile))
	if err != nil {
		return nil, err
	}
	l := &Library{catalogue: catalogue, opts: opts, bell: b}
	l.shelf.Store(&shelf{generation: -1})
	return l, nil
}

// Close gives back what the library holds open. Snapshots stay good until they are released.
func (l *Library) Close() error {
	l.refresh.Lock()
	defer l.refresh.Unlock()
	l.replace(&shelf{generation: -1})
	return l.bell.Close()
}

// replace puts a new shelf in the place of the old one and lets go of the versions that are not in it.
func (l *Library) replace(next *shelf) {
	old := l.shelf.Swap(next)
	if old == nil {
		return
	}
	for ref, e := range old.entries {
		if e.segment != nil && next.entries[ref].segment != e.segment {
			_ = e.segment.Release()
		}
	}
}

// Acquire returns the live version of a dataset, to be released by the caller.
func (l *Library) Acquire(ctx context.Context, ref herb.Ref) (Snapshot, error) {
	if living, ok := l.opts.Living[ref]; ok {
		d, err := living.Describe(ctx)
		return Snapshot{Dataset: d, Source: living}, err
	}
	for {
		s, err := l.current(ctx)
		if err != nil {
			return Snapshot{}, err
		}
		e, ok := s.entries[ref]
		switch {
		case !ok:
			ds, err := l.Datasets(ctx)
			return Snapshot{}, cmp.Or(err, unknown(ref, ds))
		case e.err != nil:
			return Snapshot{}, e.err
		case e.segment.Acquire():
			return Snapshot{e.dataset, e.segment, e.segment}, nil
		}
		// It was retired since the shelf was looked at, so there is a newer shelf.
	}
}

// unknown is the error for a dataset that is not there.
func unknown(ref herb.Ref, datasets []herb.Dataset) error {
	known := make([]string, len(datasets))
	for i, d := range datasets {
		known[i] = d.Ref.String()
	}
	guess := ""
	if name, ok := text.Closest(ref.String(), known); ok {
		guess = fmt.Sprintf(" did you mean %q?", name)
	}
	return herb.Errorf(herb.CodeNotFound, "there is no dataset %q;%s GET /api/v1 lists what there is", ref, guess)
}

// Datasets describes everything that is served, in the order of the names.
func (l *Library) Datasets(ctx context.Context) ([]herb.Dataset, error) {
	s, err := l.current(ctx)
	if err != nil {
		return nil, err
	}
	ds := make([]herb.Dataset, 0, len(s.entries)+len(l.opts.Living))
	for e := range maps.Values(s.entries) {
		ds = append(ds, e.dataset)
	}
	return l.withLiving(ctx, ds)
}

// Catalogued describes everything that the catalogue has, without opening any of it.
func (l *Library) Catalogued(ctx context.Context) ([]herb.Dataset, error) {
	ds, err := l.catalogue.Datasets(ctx)
	if err != nil {
		return nil, err
	}
	return l.withLiving(ctx, ds)
}

func (l *Library) withLiving(ctx context.Context, ds []herb.Dataset) ([]herb.Dataset, error) {
	for living := range maps.Values(l.opts.Living) {
		d, err := living.Describe(ctx)
		if err != nil {
			return nil, err
		}
		ds = append(ds, d)
	}
	slices.SortFunc(ds, func(a, b herb.Dataset) int { return a.Ref.Compare(b.Ref) })
	return ds, nil
}

// Describe describes one dataset of the catalogue without opening it.
func (l *Library) Describe(ctx context.Context, ref herb.Ref) (herb.Dataset, error) {
	ds, err := l.Catalogued(ctx)
	if err != nil {
		return herb.Dataset{}, err
	}
	i, ok := slices.BinarySearchFunc(ds, ref, func(d herb.Dataset, r herb.Ref) int { return d.Ref.Compare(r) })
	if !ok {
		return herb.Dataset{}, unknown(ref, ds)
	}
	return ds[i], nil
}

// Run notices changes of the catalogue that were made without the bell, until ctx ends.
func (l *Library) Run(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := l.Refresh(ctx); err != nil && ctx.Err() == nil {
				l.opts.Log.Error("the catalogue cannot be read; what was read before is still served", "err", err)
			}
		}
	}
}

// current returns the shelf, replaced first if the bell has rung.
func (l *Library) current(ctx context.Context) (*shelf, error) {
	s := l.shelf.Load()
	if s.generation >= 0 && !l.bell.rung() {
		return s, nil
	}
	if err := l.Refresh(ctx); err != nil {
		if s.generation < 0 {
			return nil, err
		}
		l.opts.Log.Error("the catalogue cannot be read; what was read before is still served", "err", err)
	}
	return l.shelf.Load(), nil
}

// Refresh brings what is served in line with the catalogue.
func (l *Library) Refresh(ctx context.Context) error {
	l.refresh.Lock()
	defer l.refresh.Unlock()
	heard := l.bell.listen() // before the catalogue is read: a later ring must not be missed
	generation, err := l.catalogue.Generation(ctx)
	if err != nil {
		return err
	}
	old := l.shelf.Load()
	if generation == old.generation {
		l.bell.heard(heard)
		return nil
	}
	datasets, err := l.catalogue.Datasets(ctx)
	if err != nil {
		return err
	}
	next := &shelf{generation: generation, entries: make(map[herb.Ref]entry, len(datasets))}
	for _, d := range datasets {
		e, ok := old.entries[d.Ref]
		if !ok || e.dataset.Version != d.Version {
			e = l.open(d, e)
		}
		next.entries[d.Ref] = e
	}
	l.replace(next)
	l.bell.heard(heard)
	return nil
}

// open opens a version. One that cannot be read does not take the place of one that can.
func (l *Library) open(d herb.Dataset, before entry) entry {
	r, err := openSegment(l.file(d.Version))
	if err == nil {
		l.opts.Log.Info("serving", "dataset", d.Ref.String(), "version", d.Version, "records", d.Records)
		return entry{dataset: d, segment: r}
	}
	l.opts.Log.Error("a version cannot be opened", "dataset", d.Ref.String(), "version", d.Version, "err", err)
	if before.segment != nil {
		return before
	}
	return entry{dataset: d, err: herb.Wrap(herb.CodeUnavailable, err, "dataset %s cannot be read at the moment", d.Ref)}
}

// smallSegment is the size up to which a segment is read through when it is opened. A larger one would delay the start;
// it was checked when it was published.
const smallSegment = 64 << 20

func openSegment(path string) (*segment.Reader, error) {
	r, err := segment.Open(path)
	if err != nil {
		return nil, err
	}
	if r.Size() <= smallSegment {
		if err := r.Verify(); err != nil {
			return nil, errors.Join(err, r.Release())
		}
	}
	return r, nil
}

func (l *Library) file(version string) string {
	return filepath.Join(l.opts.Dir, version+fileSuffix)
}

const fileSuffix = ".segment"

// Sweep removes what interrupted publishes have left. Files of the last hour are kept: a publish may be under way.
func (l *Library) Sweep(ctx context.Context) error {
	files, err := l.opts.FS.ReadDir(l.opts.Dir)
	if err != nil {
		return err
	}
	versions, err := l.catalogue.Versions(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range files {
		ext := filepath.Ext(f.Name())
		if ext != fileSuffix && ext != segment.PartSuffix || slices.Contains(versions, f.Name()[:len(f.Name())-len(ext)]) {
			continue
		}
		info, err := f.Info()
		if errors.Is(err, os.ErrNotExist) || err == nil && l.opts.Now().Sub(info.ModTime()) < time.Hour {
			continue
		}
		if err == nil {
			err = l.opts.FS.RemoveAll(filepath.Join(l.opts.Dir, f.Name()))
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sweeping leftovers: %w", err)
	}
	return nil
}
