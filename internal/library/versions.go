package library

import (
	"context"

	"herbarium/internal/herb"
)

// VersionInfo describes a version in the history of a dataset.
type VersionInfo struct {
	herb.Dataset
	Live    bool
	First   bool     // no earlier version is kept, so its changes are unknown
	Changes []Change // since the previous version
}

// DescribeVersions returns the kept versions of a dataset, newest first. A mutable dataset has one.
func (l *Library) DescribeVersions(ctx context.Context, ref herb.Ref) ([]VersionInfo, error) {
	if mutable, ok := l.opts.Mutable[ref]; ok {
		d, err := mutable.Describe(ctx)
		return []VersionInfo{{Dataset: d, Live: true, First: true}}, err
	}
	history, err := l.catalogue.History(ctx, ref)
	if err != nil {
		return nil, err
	}
	infos := make([]VersionInfo, 0, len(history))
	for _, v := range history {
		d, err := l.catalogue.Version(ctx, ref, v.Version)
		if herb.CodeOf(err) == herb.CodeNotFound {
			continue // pruned after the history was read
		}
		if err != nil {
			return nil, err
		}
		infos = append(infos, VersionInfo{Dataset: d, Live: v.Live, First: true})
	}
	for i := range len(infos) - 1 {
		infos[i].First = false
		infos[i].Changes = compare(infos[i+1].Dataset, infos[i].Dataset)
	}
	return infos, nil
}
