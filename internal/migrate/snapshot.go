package migrate

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// Store is the database of an installation.
type Store interface {
	ReadPlants(ctx context.Context, n, limit int) (store.PlantPage, error)
	CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error)
	IdempotencyKeysAfter(ctx context.Context, in store.IdempotencyRange, after store.IdempotencyKey,
		limit int) ([]store.IdempotencyRecord, error)
	AddIdempotencyKeys(ctx context.Context, records []store.IdempotencyRecord) error
	Keys(ctx context.Context) ([]herb.Key, error)
	AddKeys(ctx context.Context, keys []herb.Key) error
	AllVersions(ctx context.Context) ([]store.DatasetVersions, error)
	ReplaceVersions(ctx context.Context, d store.DatasetVersions, had []string, at time.Time) error
	ForgetRetired(ctx context.Context, versions []string) error
	AuditEntries(ctx context.Context, q herb.AuditQuery) ([]herb.AuditEntry, error)
	AddAuditEntries(ctx context.Context, entries []herb.AuditEntry) error
	Webhooks(ctx context.Context) ([]herb.Webhook, error)
	WithdrawnVersions(ctx context.Context) (map[herb.Ref][]herb.Withdrawn, error)
	DraftIDs(ctx context.Context, since time.Time) ([]string, error)
}

// Source is what is loaded.
type Source struct {
	Plants int
	// Entries yields entries in the order of their positions, without idempotency keys that were
	// created before a time. Every call yields the same entries.
	Entries func(ctx context.Context, since time.Time) iter.Seq2[Entry, error]
	Files   Installation // with the files of versions
	Omitted *omissions   // what Entries does not yield, because it cannot be read
}

// Snapshot is the state of an installation at one time. Keys, audit entries, datasets, segments and
// kept sources are held in memory; plants, which never change, and idempotency keys are read on
// demand.
type Snapshot struct {
	of                                       Installation
	plants                                   int
	segments, sources, keys, audit, datasets []Entry
}

// readState reads the state of an installation, without segments and kept sources.
func readState(ctx context.Context, of Installation) (*Snapshot, error) {
	page, err := of.Store.ReadPlants(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	keys, err := of.Store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	log, err := of.Store.AuditEntries(ctx, herb.AuditQuery{})
	if err != nil {
		return nil, err
	}
	datasets, err := of.Store.AllVersions(ctx)
	return &Snapshot{
		of: of, plants: page.Total,
		keys:     sorted(keys, func(k herb.Key) Entry { return &Key{k} }),
		audit:    sorted(log, func(e herb.AuditEntry) Entry { return &AuditEntry{e} }),
		datasets: sorted(datasets, func(d store.DatasetVersions) Entry { return &Dataset{d} }),
	}, err
}

// fileSizes returns the bytes of the files of all versions, for progress reports.
func (s *Snapshot) fileSizes() (bytes int64) {
	for _, d := range s.datasets {
		for f := range d.(*Dataset).files() {
			bytes += s.of.fileSize(f)
		}
	}
	return bytes
}

// fileSize returns the bytes of a file as far as they are known without reading it. Those of a kept
// source in an object store are known before it was compressed.
func (in Installation) fileSize(f versionFile) int64 {
	if in.Dir == "" {
		return f.file().Size
	}
	info, err := os.Stat(filepath.Join(in.Dir, f.name()))
	if err != nil {
		return 0
	}
	return info.Size()
}

// sorted returns entries for rows of a table, in the order of their positions.
func sorted[T any](rows []T, entry func(T) Entry) []Entry {
	entries := make([]Entry, len(rows))
	for i, row := range rows {
		entries[i] = entry(row)
	}
	slices.SortFunc(entries, compareOrder)
	return entries
}

// readSnapshot reads the state of an installation. It completes the datasets with size and hash of
// files that have none in the catalogue. With verify, it reads every file and compares it with the
// catalogue. Missing files are not part of it.
func readSnapshot(ctx context.Context, of Installation, verify bool) (*Snapshot, error) {
	s, err := readState(ctx, of)
	if err != nil {
		return nil, err
	}
	return s, s.addFiles(func(f versionFile) (found bool, err error) {
		if isKnown(f) && !verify {
			return true, nil
		}
		err = of.identify(ctx, f, io.Discard)
		if herb.CodeOf(err) == herb.CodeNotFound {
			return false, nil
		}
		return err == nil, err
	})
}

// addFiles adds the files of all versions that identify finds. It completes them.
func (s *Snapshot) addFiles(identify func(f versionFile) (found bool, err error)) error {
	for _, d := range s.datasets {
		versions := d.(*Dataset).Versions
		for i := range versions {
			v := &versions[i]
			for _, f := range filesOf(*v) {
				found, err := identify(f)
				if err != nil {
					return fileError(err, f)
				}
				if !found {
					continue
				}
				switch f := f.(type) {
				case *Segment:
					v.File = &f.File
					s.segments = append(s.segments, f)
				case *KeptSource:
					s.sources = append(s.sources, f)
				}
			}
		}
	}
	slices.SortFunc(s.segments, compareOrder)
	slices.SortFunc(s.sources, compareOrder)
	return nil
}

// pageSize is the number of plants or idempotency keys that are read at a time.
const pageSize = 2_000

// Entries yields the entries of a Source.
func (s *Snapshot) Entries(ctx context.Context, since time.Time) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		yieldAll := func(page []Entry, err error) bool { // reports whether to continue
			if err != nil {
				yield(nil, err)
				return false
			}
			return !slices.ContainsFunc(page, func(e Entry) bool { return !yield(e, nil) })
		}
		_ = yieldAll(s.segments, nil) && yieldAll(s.sources, nil) && yieldAll(s.keys, nil) &&
			s.plantPages(ctx, yieldAll) &&
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
		read, err := s.of.Store.IdempotencyKeysAfter(ctx, store.IdempotencyRange{Plants: s.plants, Since: since},
			last, pageSize)
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

// Changed returns what has changed in the installation since the snapshot was taken, such as "12
// plants".
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
