package library

import (
	"context"

	"herbarium/internal/herb"
)

// Edition is a version of a dataset as a reader of its history sees it.
type VersionInfo struct {
	herb.Dataset
	Live    bool
	First   bool     // no earlier version is kept, so that nothing is known of changes
	Changes []Change // since the version before
}

// Editions lists the versions that are kept of a dataset, the newest first. A living dataset has one.
func (l *Library) DescribeVersions(ctx context.Context, ref herb.Ref) ([]VersionInfo, error) {
	if living, ok := l.opts.Mutable[ref]; ok {
		d, err := living.Describe(ctx)
		return []VersionInfo{{Dataset: d, Live: true, First: true}}, err
	}
	history, err := l.catalogue.History(ctx, ref)
	if err != nil {
		return nil, err
	}
	editions := make([]VersionInfo, 0, len(history))
	for _, v := range history {
		d, err := l.catalogue.Version(ctx, ref, v.Version)
		if herb.CodeOf(err) == herb.CodeNotFound {
			continue // it was pruned since the history was read
		}
		if err != nil {
			return nil, err
		}
		editions = append(editions, VersionInfo{Dataset: d, Live: v.Live, First: true})
	}
	for i := range len(editions) - 1 {
		editions[i].First = false
		editions[i].Changes = compare(editions[i+1].Dataset, editions[i].Dataset)
	}
	return editions, nil
}
