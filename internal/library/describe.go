package library

import (
	"context"
	"slices"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// descriptions describes datasets to requests: open versions by what is open, others by the
// catalogue or its copies, and the mutable dataset by its last known state if it fails.
type descriptions struct {
	catalogue *catalogueReader
	table     *table
	folder    *folder
	mutable   Mutable // nil: there is none
	plants    lastKnown
	summaries *summaryCache
	labels    labels
}

// IsMutable reports whether a dataset is the mutable one.
func (d *descriptions) IsMutable(ref herb.Ref) bool { return d.mutable != nil && ref == herb.PlantsRef }

// Live returns the live versions of all datasets, ordered by ref. It reads no descriptions of
// published datasets.
func (l *descriptions) Live(ctx context.Context) ([]herb.LiveVersion, error) {
	if err := l.catalogue.updateEntries(ctx); err != nil {
		return nil, err
	}
	all := l.table.live()
	if l.mutable == nil {
		return all, nil
	}
	d, err := l.describePlants(ctx)
	i, _ := slices.BinarySearchFunc(all, d.Ref, herb.LiveVersion.Compare)
	return slices.Insert(all, i, herb.LiveVersion{Ref: d.Ref, Version: d.Version, Records: d.Records,
		Published: d.Published, Access: d.Access}), err
}

// Datasets describes datasets that Live has returned, in this order. Unless they are open, they may
// have no details, or if details are requested, order, primary key and descriptor. Large
// descriptors are shortened. A dataset that cannot be listed is described as last known and marked
// unavailable. Recently used descriptions are not read again.
func (l *descriptions) Datasets(ctx context.Context, versions []herb.LiveVersion,
	details bool) ([]herb.Dataset, error) {
	all := make([]herb.Dataset, len(versions))
	var missing []herb.LiveVersion
	position := map[herb.Ref]int{}
	for i, v := range versions {
		if l.IsMutable(v.Ref) {
			var err error
			all[i], err = l.describePlants(ctx)
			if err != nil {
				return nil, err
			}
			continue
		}
		d, open := l.describeOpen(v)
		all[i] = d
		if open {
			continue
		}
		if summary, ok := l.summaries.get(v, details); ok {
			summary.Unavailable = d.Unavailable
			all[i] = summary
			continue
		}
		missing, position[v.Ref] = append(missing, v), i
	}
	described, err := l.describe(ctx, missing, details)
	for _, d := range described {
		i := position[d.Ref]
		d = summarize(d)
		l.summaries.add(versions[i], details, d)
		d.Unavailable = all[i].Unavailable
		all[i] = d
		delete(position, d.Ref)
	}
	for _, i := range position {
		all[i].Unavailable = true // without a description it cannot be opened either
	}
	for i, v := range versions {
		all[i].Expected = v.Expected
	}
	return all, err
}

// describeOpen returns the description of the version that is listed, if one is open; otherwise
// what is known without one.
func (l *descriptions) describeOpen(v herb.LiveVersion) (d herb.Dataset, ok bool) {
	d = herb.Dataset{Ref: v.Ref, Access: herb.AccessKey, Version: v.Version, Records: v.Records, Published: v.Published}
	l.table.mu.RLock()
	defer l.table.mu.RUnlock()
	e := l.table.entries[versionKey{ref: v.Ref}]
	if e == nil {
		return d, false
	}
	if open := l.table.listed(e); open != nil {
		d = open.summary
		d.Access = e.access()
		return d, true
	}
	d.Unavailable = e.failed != nil
	return d, false
}

// describe returns the descriptions of versions that are in the catalogue. A node has copies and
// does without the catalogue while it is down.
func (l *descriptions) describe(ctx context.Context, versions []herb.LiveVersion, details bool) (all []herb.Dataset,
	err error) {
	if l.folder.shared() {
		versions = slices.DeleteFunc(slices.Clone(versions), func(v herb.LiveVersion) bool {
			d, err := l.folder.loadDescription(v)
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
	if l.folder.shared() && herb.CodeOf(err) == herb.CodeUnavailable {
		err = nil
	}
	return append(all, described...), err
}

// describeVersion returns the complete description of a version.
func (l *descriptions) describeVersion(ctx context.Context, v herb.LiveVersion) (herb.Dataset, error) {
	if l.folder.shared() {
		if d, err := l.folder.loadDescription(v); err == nil {
			return d, nil
		}
	}
	d, err := l.catalogue.Version(ctx, v.Ref, v.Version)
	if herb.CodeOf(err) == herb.CodeNotFound {
		err = herb.Errorf(herb.CodeNotFound, "version %s of dataset %s is no longer in the catalogue", v.Version, v.Ref)
	}
	if err == nil && l.folder.shared() {
		l.folder.saveDescription(d)
	}
	return d, err
}

// unknownDataset returns the error for an unknown dataset, with a suggestion. It does not query the
// database.
func (l *descriptions) unknownDataset(ref herb.Ref) error {
	return herb.Errorf(herb.CodeNotFound, "no such dataset %q%s GET /api/v1 lists all datasets", clip(ref.String()),
		l.suggestion(ref))
}

// suggestion returns a suggestion of text.Suggestion for an unknown dataset.
func (l *descriptions) suggestion(ref herb.Ref) string {
	var names, others []string
	add := func(r herb.Ref) {
		if r.Namespace == ref.Namespace { // compared first
			names = append(names, r.String())
		} else {
			others = append(others, r.String())
		}
	}
	// comparing takes the product of the lengths
	if len(ref.Namespace) <= herb.MaxName && len(ref.Name) <= herb.MaxName {
		live := l.table.live()
		if l.mutable != nil {
			live = append(live, herb.LiveVersion{Ref: herb.PlantsRef})
		}
		for _, v := range live {
			add(v.Ref)
		}
	}
	return text.Suggestion(ref.String(), append(names, others...))
}

// clip shortens a text of a request for use in a message.
func clip(s string) string { return herb.Clip(s, herb.MaxName) }

// lastKnown is the last description of the mutable dataset.
type lastKnown struct {
	mu       sync.Mutex
	dataset  herb.Dataset // without a version if there was none
	failedAt time.Time    // time of the last failure; zero if the last call succeeded
}

// describePlants describes the mutable dataset. If the database fails, it returns the last
// description, marked unavailable. After a failure, one caller at a time retries after a pause, so
// that lists of all datasets do not wait for it repeatedly.
func (l *descriptions) describePlants(ctx context.Context) (herb.Dataset, error) {
	k := &l.plants
	k.mu.Lock()
	last, now := k.dataset, l.catalogue.now()
	last.Unavailable = true
	if !k.failedAt.IsZero() {
		if now.Sub(k.failedAt) < cataloguePause {
			k.mu.Unlock()
			return last, nil
		}
		k.failedAt = now // other callers do not wait for this one
	}
	k.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, catalogueWait)
	defer cancel()
	d, err := l.mutable.Describe(limited)
	if err != nil && ctx.Err() != nil {
		return herb.Dataset{}, err // canceled by the caller; the dataset did not fail
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.dataset, k.failedAt = d, time.Time{}
		return d, nil
	}
	if k.failedAt.IsZero() {
		l.folder.log.Warn("cannot describe dataset; showing last known state", "dataset", last.Ref.String(), "err", err)
	}
	k.failedAt = l.catalogue.now()
	return last, nil
}

// Describe describes the live version of a dataset without opening it. The error for an unknown
// dataset has a suggestion.
func (l *descriptions) Describe(ctx context.Context, ref herb.Ref) (herb.Dataset, error) {
	if l.IsMutable(ref) {
		return l.mutable.Describe(ctx)
	}
	d, err := l.catalogue.Version(ctx, ref, "")
	if herb.CodeOf(err) == herb.CodeNotFound {
		err = l.catalogue.updateEntries(ctx)
		if err == nil {
			err = l.unknownDataset(ref)
		}
	}
	return d, err
}
