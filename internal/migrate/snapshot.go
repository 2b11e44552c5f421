package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// Store is the database of an installation.
type Store interface {
	ReadPlants(ctx context.Context, n, limit int) (store.PlantPage, error)
	CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error)
	IdempotencyKeysAfter(ctx context.Context, in store.IdempotencyRange, after store.IdempotencyKey, limit int) ([]store.IdempotencyRecord, error)
	AddIdempotencyKeys(ctx context.Context, records []store.IdempotencyRecord) error
	Keys(ctx context.Context) ([]herb.Key, error)
	AddKeys(ctx context.Context, keys []herb.Key) error
	RevokeKey(ctx context.Context, id string, at time.Time) error
	TouchKeys(ctx context.Context, used map[string]time.Time) error
	AllVersions(ctx context.Context) ([]store.DatasetVersions, error)
	ReplaceVersions(ctx context.Context, d store.DatasetVersions, had []string, retireAt time.Time) error
	Retired(ctx context.Context) ([]store.Retired, error)
	ForgetRetired(ctx context.Context, versions []string) error
	AuditEntries(ctx context.Context, q herb.AuditQuery) ([]herb.AuditEntry, error)
	AddAuditEntries(ctx context.Context, entries []herb.AuditEntry) error
}

// Installation is where one installation keeps its data. A backup in a folder has only files.
type Installation struct {
	Store   Store
	Files   Files
	closers []io.Closer
}

// Source yields entries in the order of their positions, without idempotency keys that were created before a time. Every
// call yields the same entries.
type Source interface {
	Entries(ctx context.Context, since time.Time) iter.Seq2[Entry, error]
	Plants() int
}

// Snapshot is the state of an installation at one time. Keys, audit entries, datasets and segments are held in memory; plants,
// which never change, and idempotency keys are read on demand.
type Snapshot struct {
	of                              Installation
	plants                          int
	segments, keys, audit, datasets []Entry
}

// readState reads the state of an installation, without segments.
func readState(ctx context.Context, of Installation) (s *Snapshot, err error) {
	page, err := of.Store.ReadPlants(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	s = &Snapshot{of: of, plants: page.Total}
	keys, err := of.Store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		s.keys = append(s.keys, &Key{k})
	}
	slices.SortFunc(s.keys, compareOrder)
	log, err := of.Store.AuditEntries(ctx, herb.AuditQuery{})
	if err != nil {
		return nil, err
	}
	for _, e := range log {
		s.audit = append(s.audit, &AuditEntry{e})
	}
	slices.SortFunc(s.audit, compareOrder)
	datasets, err := of.Store.AllVersions(ctx)
	for _, d := range datasets {
		s.datasets = append(s.datasets, &Dataset{d})
	}
	return s, err
}

// readSnapshot reads the state of an installation. It completes the datasets with size and hash of files that have none in
// the catalogue. With verify, it reads every file and compares it with the catalogue. A missing file is an error if it is
// required.
func readSnapshot(ctx context.Context, of Installation, verify, required bool) (*Snapshot, error) {
	s, err := readState(ctx, of)
	if err != nil {
		return nil, err
	}
	return s, s.addSegments(func(v herb.Dataset) (herb.File, error) {
		if v.File != nil && !verify {
			return *v.File, nil
		}
		file, err := of.Files.identify(ctx, v)
		if herb.CodeOf(err) == herb.CodeNotFound && !required {
			return herb.File{}, nil
		}
		return file, err
	})
}

// addSegments adds the segment files of all versions. identify returns size and hash of a file, or zero if it is missing and
// that is permitted.
func (s *Snapshot) addSegments(identify func(v herb.Dataset) (herb.File, error)) error {
	for _, d := range s.datasets {
		versions := d.(*Dataset).Versions
		for i := range versions {
			v := &versions[i]
			file, err := identify(*v)
			if err != nil {
				return segmentError(err, v.Version)
			}
			if file.Size > 0 {
				v.File = &file
				s.segments = append(s.segments, &Segment{v.Version, file})
			}
		}
	}
	slices.SortFunc(s.segments, compareOrder)
	return nil
}

// identify reads the file of a version and returns its size and hash. It fails if they differ from those in the catalogue.
func (f Files) identify(ctx context.Context, v herb.Dataset) (herb.File, error) {
	name := segmentName(v.Version)
	got, err := f.hash(ctx, name, io.Discard)
	switch {
	case err == nil && v.File != nil:
		err = compareFile(got, *v.File, "the file is damaged")
	case err == nil:
		err = verifySegment(f.path(name))
	}
	return got, err
}

// verifySegment checks a segment file that has no recorded hash. Only files that were never in an object store have none.
func verifySegment(path string) (err error) {
	if path == "" {
		return nil
	}
	r, err := segment.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Release()) }()
	return r.Verify()
}

// Plants implements Source.
func (s *Snapshot) Plants() int { return s.plants }

// pageSize is the number of plants or idempotency keys that are read at a time.
const pageSize = 2_000

// Entries implements Source.
func (s *Snapshot) Entries(ctx context.Context, since time.Time) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		yieldAll := func(page []Entry, err error) bool { // reports whether to continue
			if err != nil {
				yield(nil, err)
				return false
			}
			return !slices.ContainsFunc(page, func(e Entry) bool { return !yield(e, nil) })
		}
		_ = yieldAll(s.segments, nil) && yieldAll(s.keys, nil) && s.plantPages(ctx, yieldAll) &&
			s.idempotencyKeyPages(ctx, since, yieldAll) && yieldAll(s.audit, nil) && yieldAll(s.datasets, nil)
	}
}

// plantPages yields the plants page by page, until yield returns false.
func (s *Snapshot) plantPages(ctx context.Context, yield func([]Entry, error) bool) bool {
	for n := 0; n < s.plants; {
		read, err := s.of.Store.ReadPlants(ctx, n, min(pageSize, s.plants-n))
		if err == nil && len(read.Plants) == 0 {
			err = fmt.Errorf("plant %d of %d is missing; the database is damaged", n+1, s.plants)
		}
		var page []Entry
		for _, p := range read.Plants {
			n++
			page = append(page, &Plant{Number: n, ID: p.ID, Plant: p.Plant})
		}
		if !yield(page, err) {
			return false
		}
	}
	return true
}

// idempotencyKeyPages yields the idempotency keys page by page, until yield returns false.
func (s *Snapshot) idempotencyKeyPages(ctx context.Context, since time.Time, yield func([]Entry, error) bool) bool {
	var last store.IdempotencyKey
	for {
		read, err := s.of.Store.IdempotencyKeysAfter(ctx, store.IdempotencyRange{Plants: s.plants, Since: since}, last, pageSize)
		var page []Entry
		for _, r := range read {
			last = r.IdempotencyKey
			page = append(page, &IdempotencyKey{r})
		}
		if !yield(page, err) {
			return false
		}
		if len(read) < pageSize {
			return true
		}
	}
}

// Changed returns what has changed in the installation since the snapshot was taken, such as "12 plants".
func (s *Snapshot) Changed(ctx context.Context) (changed []string, err error) {
	now, err := readState(ctx, s.of)
	if err != nil {
		return nil, err
	}
	if n := now.plants - s.plants; n > 0 {
		changed = append(changed, herb.Count(n)+" plants")
	}
	same := func(a, b Entry) bool { return encode(a) == encode(b) }
	if !slices.EqualFunc(now.keys, s.keys, same) {
		changed = append(changed, "keys")
	}
	if !slices.EqualFunc(now.datasets, s.datasets, same) {
		changed = append(changed, "datasets")
	}
	return changed, nil
}
