package library

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// VersionInfo describes a version in the history of a dataset.
type VersionInfo struct {
	herb.Dataset
	Live    bool
	First   bool     // no earlier version is kept, so its changes are unknown
	Changes []Change // since the previous version
}

// History returns the kept versions of a dataset, newest first. A mutable dataset has one.
func (l *Library) History(ctx context.Context, ref herb.Ref) (history []VersionInfo, err error) {
	if l.isPlants(ref) {
		d, err := l.opts.Plants.Describe(ctx)
		return []VersionInfo{{Dataset: d, Live: true, First: true}}, err
	}
	kept, err := l.catalogue.History(ctx, ref)
	for i, v := range slices.Backward(kept.Versions) {
		info := VersionInfo{Dataset: v, Live: v.Version == kept.Live, First: i == 0}
		if !info.First {
			info.Changes = compare(kept.Versions[i-1], v, true)
		}
		history = append(history, info)
	}
	return history, err
}

// Version describes a version of a dataset; an empty name means the live one.
func (l *Library) Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error) {
	if l.isPlants(ref) {
		return l.opts.Plants.Describe(ctx)
	}
	return l.catalogue.Version(ctx, ref, version)
}

// Describe describes the live version of a dataset without opening it. The error for an unknown dataset has a suggestion.
func (l *Library) Describe(ctx context.Context, ref herb.Ref) (herb.Dataset, error) {
	d, err := l.Version(ctx, ref, "")
	if herb.CodeOf(err) == herb.CodeNotFound {
		if err = l.updateEntries(ctx); err == nil {
			err = l.unknownDataset(ref)
		}
	}
	return d, err
}

// Rollback makes an earlier version live. An empty version means the one before the live one. The error has herb.CodeRefused
// if the live version is protected and the other one is open, unless mayOpen, or if another version goes live concurrently.
func (l *Library) Rollback(ctx context.Context, ref herb.Ref, version string, mayOpen bool) (string, error) {
	kept, err := l.catalogue.History(ctx, ref)
	if err != nil {
		return "", err
	}
	named := func(version string) int {
		return slices.IndexFunc(kept.Versions, func(v herb.Dataset) bool { return v.Version == version })
	}
	i := named(kept.Live)
	switch {
	case i < 0:
		return "", fmt.Errorf("the live version of %s is not in its history", ref)
	case version == "" && i == 0:
		return "", herb.Invalidf("%s has no version before the live one", ref)
	case version == "":
		version = kept.Versions[i-1].Version
	}
	next := named(version)
	if !mayOpen && next >= 0 && accessOf(kept.Versions[i]) == herb.AccessKey && accessOf(kept.Versions[next]) != herb.AccessKey {
		return "", herb.Errorf(herb.CodeRefused, "%s needs a key and version %s does not: rolling back would make it public; "+
			"if this is intended, use --allow-breaking", ref, version)
	}
	err = l.catalogue.SetLive(ctx, ref, version, kept.Live)
	if errors.Is(err, store.ErrSuperseded) {
		return "", herb.Wrap(herb.CodeRefused, err, "%s was not rolled back because it was changed concurrently; "+
			"run 'herbarium datasets history %s' and try again", ref, ref)
	}
	if err != nil {
		return "", err
	}
	l.notifyChange()
	return version, nil
}

// Remove removes a dataset with all its versions.
func (l *Library) Remove(ctx context.Context, ref herb.Ref) error {
	if l.isPlants(ref) {
		return herb.Invalidf("%q is the plant store and cannot be removed", ref)
	}
	versions, err := l.catalogue.RemoveDataset(ctx, ref, l.opts.Now())
	if err != nil {
		return err
	}
	l.notifyChange()
	return l.removeRetired(ctx, versions)
}
