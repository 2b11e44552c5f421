package library

import (
	"context"
	"fmt"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// liveVersions returns the live versions of the published datasets, ordered by ref.
func (l *Library) liveVersions() []herb.LiveVersion {
	l.mu.RLock()
	defer l.mu.RUnlock()
	all := make([]herb.LiveVersion, len(l.sorted))
	for i, e := range l.sorted {
		all[i] = e.LiveVersion
	}
	return all
}

// Live returns the live versions of all datasets, ordered by ref. It reads no descriptions of published datasets.
func (l *Library) Live(ctx context.Context) ([]herb.LiveVersion, error) {
	if err := l.updateEntries(ctx); err != nil {
		return nil, err
	}
	all := l.liveVersions()
	if l.opts.Plants == nil {
		return all, nil
	}
	d, err := l.describePlants(ctx)
	i, _ := slices.BinarySearchFunc(all, d.Ref, func(v herb.LiveVersion, ref herb.Ref) int { return v.Compare(ref) })
	return slices.Insert(all, i, herb.LiveVersion{Ref: d.Ref, Version: d.Version, Records: d.Records, Published: d.Published}), err
}

// Datasets describes datasets that Live has returned, in this order. Unless they are open, they have no details, or if details
// are requested, order, primary key and descriptor. A dataset that cannot be listed is described as last known and marked unavailable.
func (l *Library) Datasets(ctx context.Context, versions []herb.LiveVersion, details bool) ([]herb.Dataset, error) {
	all := make([]herb.Dataset, len(versions))
	var missing []herb.LiveVersion
	position := map[herb.Ref]int{}
	for i, v := range versions {
		if l.isPlants(v.Ref) {
			var err error
			if all[i], err = l.describePlants(ctx); err != nil {
				return nil, err
			}
			continue
		}
		d, open := l.describeOpen(v)
		if all[i] = d; !open {
			missing, position[v.Ref] = append(missing, v), i
		}
	}
	described, err := l.describe(ctx, missing, details)
	for _, d := range described {
		i := position[d.Ref]
		d.Unavailable = all[i].Unavailable
		all[i] = publicDescription(d)
		delete(position, d.Ref)
	}
	for _, i := range position {
		all[i].Unavailable = true // without a description it cannot be opened either
	}
	return all, err
}

// describeOpen returns the description of the version that is listed, if one is open; otherwise what is known without one.
func (l *Library) describeOpen(v herb.LiveVersion) (d herb.Dataset, ok bool) {
	d = herb.Dataset{Ref: v.Ref, Access: herb.AccessKey, Version: v.Version, Records: v.Records, Published: v.Published}
	l.mu.RLock()
	defer l.mu.RUnlock()
	e := l.entries[versionKey{ref: v.Ref}]
	if e == nil {
		return d, false
	}
	if open := l.listed(e); open != nil {
		return open.dataset, true
	}
	d.Unavailable = e.failed != nil
	return d, false
}

// describe returns the descriptions of versions that are in the catalogue. A node has copies and does without the catalogue
// while it is down.
func (l *Library) describe(ctx context.Context, versions []herb.LiveVersion, details bool) (all []herb.Dataset, err error) {
	if l.shared() {
		versions = slices.DeleteFunc(slices.Clone(versions), func(v herb.LiveVersion) bool {
			d, err := l.loadDescription(v)
			if err == nil {
				all = append(all, d)
			}
			return err == nil
		})
	}
	if len(versions) == 0 {
		return all, nil
	}
	described, err := l.catalogue.Descriptions(ctx, versions, details)
	if l.shared() && herb.CodeOf(err) == herb.CodeUnavailable {
		err = nil
	}
	return append(all, described...), err
}

// describeVersion returns the complete description of a version.
func (l *Library) describeVersion(ctx context.Context, v herb.LiveVersion) (herb.Dataset, error) {
	if l.shared() {
		if d, err := l.loadDescription(v); err == nil {
			return d, nil
		}
	}
	d, err := l.catalogue.Version(ctx, v.Ref, v.Version)
	if herb.CodeOf(err) == herb.CodeNotFound {
		err = herb.Errorf(herb.CodeNotFound, "version %s of dataset %s is no longer in the catalogue", v.Version, v.Ref)
	}
	if err == nil && l.shared() {
		l.saveDescription(d)
	}
	return d, err
}

// maxSteps limits the steps of comparing names for a suggestion to about ten milliseconds, because clients without a key can
// request unknown names.
const maxSteps = 4 << 20

// unknownDataset returns the error for an unknown dataset, with a suggestion. It does not query the database.
func (l *Library) unknownDataset(ref herb.Ref) error {
	guess := ""
	if name, ok := text.Closest(ref.String(), l.similarNames(ref)); ok {
		guess = fmt.Sprintf(" did you mean %q?", name)
	}
	return herb.Errorf(herb.CodeNotFound, "no such dataset %q;%s GET /api/v1 lists all datasets", clip(ref.String()), guess)
}

// similarNames returns names of datasets that may be meant by an unknown one: those of about the same length, those of the
// same namespace first, and as many as can be compared with it.
func (l *Library) similarNames(ref herb.Ref) (names []string) {
	length := len(ref.String())
	if len(ref.Namespace) > herb.MaxName || len(ref.Name) > herb.MaxName {
		return nil
	}
	var others []string
	add := func(r herb.Ref) {
		switch name := r.String(); {
		case max(len(name), length) > 2*min(len(name), length):
		case r.Namespace == ref.Namespace:
			names = append(names, name)
		default:
			others = append(others, name)
		}
	}
	if l.opts.Plants != nil {
		add(herb.PlantsRef)
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, e := range l.sorted {
		add(e.Ref)
	}
	names = append(names, others...)
	return names[:min(len(names), maxSteps/(length*length))]
}
