package migrate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// Store is the database of an installation.
type Store interface {
	CountPlants(ctx context.Context) (int, error)
	PlantsAfter(ctx context.Context, n, limit int) ([]herb.NewPlant, error)
	CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error)
	IdempotencyKeysAfter(ctx context.Context, in Range, after store.Retry, limit int) ([]store.IdempotencyRecord, error)
	AddIdempotencyKeys(ctx context.Context, records []store.IdempotencyRecord) error
	Keys(ctx context.Context) ([]herb.Key, error)
	AddKeys(ctx context.Context, keys []herb.Key) error
	RevokeKey(ctx context.Context, id string, at time.Time) error
	TouchKeys(ctx context.Context, used map[string]time.Time) error
	AllVersions(ctx context.Context) ([]store.DatasetVersions, error)
	ReplaceVersions(ctx context.Context, d store.DatasetVersions, had []string, retireAt time.Time) error
	Retired(ctx context.Context) ([]store.Retired, error)
	ForgetRetired(ctx context.Context, versions []string) error
}

// Installation is where one installation keeps its data.
type Installation struct {
	Store Store
	Files Files
}

// Range restricts a stream to the first plants, and to idempotency keys of these plants that were used since a time.
type Range = store.IdempotencyRange

func everything() Range { return Range{Plants: math.MaxInt} }

// Source yields entries in the order of their positions. Every call yields the same entries.
type Source interface {
	Entries(ctx context.Context, in Range) iter.Seq2[Entry, error]
	Plants() int
}

// Snapshot is the state of an installation at one time. Keys, datasets and segments are held in memory; plants, which
// never change, and idempotency keys are read on demand.
type Snapshot struct {
	of       Installation
	plants   int
	keys     []*Key
	datasets []store.DatasetVersions
	segments []*Segment
}

// TakeSnapshot reads the state of an installation.
func TakeSnapshot(ctx context.Context, of Installation) (s *Snapshot, err error) {
	s = &Snapshot{of: of}
	if s.plants, err = of.Store.CountPlants(ctx); err != nil {
		return nil, err
	}
	keys, err := of.Store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(keys, func(a, b herb.Key) int { return strings.Compare(a.ID, b.ID) })
	for _, k := range keys {
		s.keys = append(s.keys, &Key{k.ID, k.Name, k.Scopes, k.Hash, k.Created, k.Expires, k.Revoked, k.LastUsed})
	}
	s.datasets, err = of.Store.AllVersions(ctx)
	return s, err
}

// readSegments completes the catalogue with size and hash of segment files that it has none for. With verify, it reads
// every file and compares it with the catalogue. A file that does not exist is an error if it is required.
func (s *Snapshot) readSegments(ctx context.Context, verify, required bool) error {
	for _, d := range s.datasets {
		for i := range d.Versions {
			v := &d.Versions[i]
			name := segmentName(v.Version)
			if v.File == nil || verify {
				got, err := s.of.Files.hash(ctx, name)
				switch {
				case herb.CodeOf(err) == herb.CodeNotFound && !required:
					continue
				case err == nil && v.File != nil:
					err = compareFile(got, *v.File, "the file is damaged")
				case err == nil:
					err = verifySegment(s.of.Files.path(name))
				}
				if err != nil {
					return segmentError(err, v.Version)
				}
				v.File = &got
			}
			s.segments = append(s.segments, &Segment{v.Version, *v.File})
		}
	}
	slices.SortFunc(s.segments, func(a, b *Segment) int { return strings.Compare(a.Version, b.Version) })
	return nil
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

// Entries implements Source.
func (s *Snapshot) Entries(ctx context.Context, in Range) iter.Seq2[Entry, error] {
	in.Plants = min(in.Plants, s.plants)
	return func(yield func(Entry, error) bool) {
		_ = yieldAll(s.segments, yield) && yieldAll(s.keys, yield) && s.yieldPlants(ctx, in, yield) &&
			s.yieldIdempotencyKeys(ctx, in, yield) && s.yieldDatasets(yield)
	}
}

func yieldAll[E Entry](all []E, yield func(Entry, error) bool) bool {
	for _, e := range all {
		if !yield(e, nil) {
			return false
		}
	}
	return true
}

// pageSize is the number of plants or idempotency keys that are read at a time.
const pageSize = 2_000

func (s *Snapshot) yieldPlants(ctx context.Context, in Range, yield func(Entry, error) bool) bool {
	for n := 0; n < in.Plants; {
		page, err := s.of.Store.PlantsAfter(ctx, n, min(pageSize, in.Plants-n))
		if err == nil && len(page) == 0 {
			err = fmt.Errorf("plant %d of %d is missing; the database is damaged", n+1, in.Plants)
		}
		if err != nil {
			yield(nil, err)
			return false
		}
		for _, p := range page {
			n++
			if !yield(&Plant{Number: n, ID: p.ID, Plant: p.Plant}, nil) {
				return false
			}
		}
	}
	return true
}

func (s *Snapshot) yieldIdempotencyKeys(ctx context.Context, in Range, yield func(Entry, error) bool) bool {
	for after := (store.Retry{}); ; {
		page, err := s.of.Store.IdempotencyKeysAfter(ctx, in, after, pageSize)
		if err != nil {
			yield(nil, err)
			return false
		}
		if len(page) == 0 {
			return true
		}
		for _, r := range page {
			if !yield(&IdempotencyKey{r.Credential, r.Key, r.Body, r.Plant, r.Created}, nil) {
				return false
			}
			after = r.Retry
		}
	}
}

func (s *Snapshot) yieldDatasets(yield func(Entry, error) bool) bool {
	for _, d := range s.datasets {
		if !yield(&Dataset{d}, nil) {
			return false
		}
	}
	return true
}

// Changed returns what has changed in the installation since the snapshot was taken, such as "12 plants".
func (s *Snapshot) Changed(ctx context.Context) (changed []string, err error) {
	now, err := TakeSnapshot(ctx, s.of)
	if err != nil {
		return nil, err
	}
	if n := now.plants - s.plants; n > 0 {
		changed = append(changed, herb.Count(n)+" plants")
	}
	if !slices.EqualFunc(now.keys, s.keys, func(a, b *Key) bool { return encode(a) == encode(b) }) {
		changed = append(changed, "keys")
	}
	if !slices.EqualFunc(now.datasets, s.datasets, func(a, b store.DatasetVersions) bool {
		return encode(&Dataset{a}) == encode(&Dataset{b})
	}) {
		changed = append(changed, "datasets")
	}
	return changed, nil
}
