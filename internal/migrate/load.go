package migrate

import (
	"context"
	"reflect"
	"slices"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// batchSize is the number of entries that one transaction adds. The larger it is, the fewer times a
// page of an index is written.
const batchSize = 10_000

// loader writes the entries that an installation lacks.
type loader struct {
	source  Source
	to      Installation
	had     *Snapshot // of the target
	retired []store.Retired
	options Options
	result  *Result

	section int
	batch   []Entry // of the section, not written yet
}

// add handles an entry of the source. t is the entry of the target, nil if it has none.
func (l *loader) add(ctx context.Context, s, t Entry) error {
	if s == nil {
		return nil // compareEarlier has permitted it
	}
	if section, _ := s.position(); section != l.section || len(l.batch) == batchSize {
		if err := l.flush(ctx); err != nil {
			return err
		}
		l.section = section
	}
	switch s := s.(type) {
	case versionFile:
		return l.addFile(ctx, s)
	case *Dataset:
		return l.addDataset(ctx, s, t)
	case *Key:
		if had, ok := t.(*Key); ok {
			return l.updateKey(ctx, s, had)
		}
	}
	if t == nil {
		l.batch = append(l.batch, s)
	}
	return nil
}

func (l *loader) flush(ctx context.Context) error {
	batch := l.batch
	if l.batch = nil; len(batch) == 0 {
		return nil
	}
	switch l.section {
	case keys:
		l.result.NewKeys += len(batch)
		return l.to.Store.AddKeys(ctx, values(batch, func(k *Key) herb.Key { return k.Key }))
	case plants:
		return l.createPlants(ctx, values(batch, func(p *Plant) store.Creation {
			return store.Creation{Plant: herb.NewPlant{ID: p.ID, Plant: p.Plant}}
		}))
	case idempotencyKeys:
		return l.to.Store.AddIdempotencyKeys(ctx, values(batch, func(k *IdempotencyKey) store.IdempotencyRecord {
			return k.IdempotencyRecord
		}))
	default:
		return l.to.Store.AddAuditEntries(ctx, values(batch, func(e *AuditEntry) herb.AuditEntry { return e.AuditEntry }))
	}
}

// values returns what the entries of a section contain.
func values[E Entry, T any](entries []Entry, value func(E) T) []T {
	all := make([]T, len(entries))
	for i, e := range entries {
		all[i] = value(e.(E))
	}
	return all
}

func (l *loader) createPlants(ctx context.Context, plants []store.Creation) error {
	l.options.report(PhaseLoad, l.result.NewPlants, l.source.Plants-l.had.plants)
	expected := l.had.plants + l.result.NewPlants
	switch page, err := l.to.Store.ReadPlants(ctx, 0, 0); {
	case err != nil:
		return err
	case page.Total != expected:
		return store.ErrSuperseded
	}
	outcomes, err := l.to.Store.CreatePlants(ctx, plants)
	if err != nil {
		return err
	}
	for i, o := range outcomes {
		if o.Err != nil {
			return differs("plant %d cannot be created in the target: %v", expected+i+1, o.Err)
		}
	}
	l.result.NewPlants += len(plants)
	return nil
}

// addFile copies a file of a version unless the target has it.
func (l *loader) addFile(ctx context.Context, f versionFile) error {
	if slices.ContainsFunc(l.retired, func(r store.Retired) bool { return r.Version == f.ofVersion() }) {
		// Servers must not delete the file from here on.
		if err := l.to.Store.ForgetRetired(ctx, []string{f.ofVersion()}); err != nil {
			return err
		}
	}
	return ensureFile(ctx, l.source.Files, l.to, f, l.options.files.next(f.file().Size), l.result)
}

// updateKey updates the revocation and last use of a key that the target has.
func (l *loader) updateKey(ctx context.Context, k, had *Key) error {
	if !k.Revoked.IsZero() && had.Revoked.IsZero() {
		if err := l.to.Store.RevokeKey(ctx, k.ID, k.Revoked); err != nil {
			return err
		}
	}
	if !k.LastUsed.After(had.LastUsed) {
		return nil
	}
	return l.to.Store.TouchKeys(ctx, map[string]time.Time{k.ID: k.LastUsed})
}

// addDataset replaces the versions of a dataset unless the target has the same, including their
// files.
func (l *loader) addDataset(ctx context.Context, d *Dataset, t Entry) error {
	had, ok := t.(*Dataset)
	if !ok {
		had = &Dataset{}
	}
	if reflect.DeepEqual(had, d) {
		return nil
	}
	return l.to.Store.ReplaceVersions(ctx, d.DatasetVersions, had.VersionNames(), time.Now())
}
