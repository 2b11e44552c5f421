package versions

import (
	"context"
	"errors"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// Remove removes a dataset with all its versions. If live is not empty, that must be the live
// version; otherwise the error is that of a concurrent change.
func (s *Service) Remove(ctx context.Context, ref herb.Ref, live string) error {
	if s.library.IsMutable(ref) {
		return herb.Invalidf("%q is the plant store and cannot be removed", ref)
	}
	versions, err := s.catalogue.RemoveDataset(ctx, ref, live, s.opts.Now())
	if errors.Is(err, store.ErrSuperseded) {
		return ErrConcurrent(ref)
	}
	if err != nil {
		return err
	}
	s.library.NotifyChange()
	return s.removeRetired(ctx, versions)
}

// garbage describes where the files of versions are stored for good, and when to delete them.
type garbage struct {
	stored map[string]time.Time // modification times by version; those of the catalogue may be missing
	// age at which a file that is neither in the catalogue nor retired belongs to no running
	// publish
	orphanAge time.Duration
	retention time.Duration // how long the file of a retired version is kept
	margin    time.Duration // how long its retirement is remembered afterwards
	remove    func(version string) error
}

// collect retires versions that will not enter the catalogue, and deletes the files of retired
// ones.
//
// A retired version never enters the catalogue again, which the catalogue enforces in one
// transaction: if the last statement of a publish is still in flight, retiring its version waits
// for it or makes it fail. So no second check is needed.
func (s *Service) collect(ctx context.Context, inCatalogue map[string]bool, g garbage) error {
	retired, err := s.catalogue.Retired(ctx)
	if err != nil {
		return err
	}
	now, known, removed := s.opts.Now(), map[string]bool{}, 0
	for _, r := range retired {
		known[r.Version] = true
	}
	var errs []error
	for version, modified := range g.stored {
		if inCatalogue[version] || known[version] || now.Sub(modified) < g.orphanAge {
			continue
		}
		is, err := s.catalogue.RetireVersion(ctx, version, now)
		errs = append(errs, err)
		if is {
			retired = append(retired, store.Retired{Version: version, Since: now})
		}
	}
	var forget []string
	for _, r := range retired {
		age := now.Sub(r.Since) - g.retention
		_, stored := g.stored[r.Version]
		if stored && age >= 0 {
			err := g.remove(r.Version)
			errs = append(errs, err)
			if err == nil {
				removed++
			}
			stored = err != nil || g.margin > 0
		}
		if !stored && age >= g.margin {
			forget = append(forget, r.Version)
		}
	}
	if len(forget) > 0 {
		errs = append(errs, s.catalogue.ForgetRetired(ctx, forget))
	}
	if removed > 0 {
		s.opts.Log.Info("deleted unreferenced files", "files", removed)
	}
	return errors.Join(errs...)
}

// removeRetired removes the files of versions that have left the catalogue. A process that is
// killed meanwhile leaves the record of their retirement, by which Sweep removes them; with an
// object store, Collect needs that record.
func (s *Service) removeRetired(ctx context.Context, versions []string) error {
	err := s.library.RemoveFiles(versions...)
	if err != nil || s.shared() || len(versions) == 0 {
		return err
	}
	return s.catalogue.ForgetRetired(ctx, versions)
}
