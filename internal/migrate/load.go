package migrate

import (
	"context"
	"errors"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// batchSize is the number of entries that one transaction adds. The larger it is, the fewer times a
// page of an index is written.
const batchSize = 10_000

// loader writes entries into an empty installation.
type loader struct {
	source  Source
	to      Installation
	options Options
	result  *Result

	section int
	batch   []Entry // of the section, not written yet
}

// add handles an entry of the source.
func (l *loader) add(ctx context.Context, e Entry) error {
	if section, _ := e.position(); section != l.section || len(l.batch) == batchSize {
		if err := l.flush(ctx); err != nil {
			return err
		}
		l.section = section
	}
	switch e := e.(type) {
	case versionFile:
		return l.addFile(ctx, e)
	case *Dataset:
		return l.to.Store.ReplaceVersions(ctx, e.DatasetVersions, nil, time.Now())
	}
	l.batch = append(l.batch, e)
	return nil
}

// loadError explains the error of a target that another process has changed.
func (l *loader) loadError(err error) error {
	if errors.Is(err, store.ErrSuperseded) {
		return herb.Wrap(herb.CodeUnavailable, err,
			"another process writes to the target; stop it, empty the target and run the command again")
	}
	return err
}

func (l *loader) flush(ctx context.Context) error {
	batch := l.batch
	l.batch = nil
	if len(batch) == 0 {
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
		return l.to.Store.AddAuditEntries(ctx,
			values(batch, func(e *AuditEntry) herb.AuditEntry { return e.AuditEntry }))
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
	l.options.report(PhaseLoad, l.result.NewPlants, l.source.Plants)
	expected := l.result.NewPlants
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

// addFile copies a file of a version unless the target has it. Servers must not delete it from here
// on, as they do if the target had the version before.
func (l *loader) addFile(ctx context.Context, f versionFile) error {
	if err := l.to.Store.ForgetRetired(ctx, []string{f.ofVersion()}); err != nil {
		return err
	}
	return ensureFile(ctx, l.source.Files, l.to, f, l.options.files.next(f.file().Size), l.result)
}
