package library

import (
	"context"
	"slices"
	"time"

	"herbarium/internal/herb"
)

// VersionList is a list of the versions of a dataset in JSON, each newest first.
type VersionList struct {
	Versions  []ListedVersion    `json:"versions"`
	Withdrawn []WithdrawnVersion `json:"withdrawn,omitempty"`
}

// ListedVersion is an entry of a VersionList.
type ListedVersion struct {
	herb.Ref
	Version     string    `json:"version"`
	Published   time.Time `json:"published_at,omitzero"` // zero if the dataset is mutable
	Records     int       `json:"records"`
	Live        bool      `json:"live"`
	ContentHash string    `json:"content_hash,omitempty"` // empty if it is unknown
	Labels      []string  `json:"labels"`
	Message     string    `json:"message,omitempty"`
	*Counts               // nil if they are unknown, or the reader must not know them
}

// Counts counts how the records of a version differ from those of an earlier one.
type Counts struct {
	Since   string `json:"since"` // the earlier version
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Changed int    `json:"changed"`
}

// WithdrawnVersion is a version of a VersionList that nobody may read any more.
type WithdrawnVersion struct {
	Version   string    `json:"version"`
	Published time.Time `json:"published_at"`
	Since     time.Time `json:"withdrawn_at"`
}

// NewVersionList returns the JSON of a list of versions.
func NewVersionList(list herb.VersionList) VersionList {
	body := VersionList{Versions: []ListedVersion{}}
	for _, v := range slices.Backward(list.Versions) {
		body.Versions = append(body.Versions, NewListedVersion(v, v.Version == list.Live))
	}
	for _, w := range slices.Backward(list.Withdrawn) {
		body.Withdrawn = append(body.Withdrawn, WithdrawnVersion{w.Version, w.Published.UTC(), w.Since.UTC()})
	}
	return body
}

// NewListedVersion returns the entry of a version.
func NewListedVersion(v herb.ListedVersion, live bool) ListedVersion {
	entry := ListedVersion{
		Ref: v.Ref, Version: v.Version, Published: v.Published.UTC(), Records: v.Records, Live: live,
		ContentHash: v.ContentHash, Labels: append([]string{}, v.Labels...), Message: v.Message,
	}
	if c := v.Compared; c != nil {
		entry.Counts = &Counts{c.Since, c.Added, c.Removed, c.Changed}
	}
	return entry
}

// ListVersions lists the kept versions of a dataset, and those that were withdrawn. What a client
// may see of them is decided by herb.VersionList.See.
func (l *descriptions) ListVersions(ctx context.Context, ref herb.Ref) (herb.VersionList, error) {
	if l.IsMutable(ref) {
		d, err := l.mutable.Describe(ctx)
		v := herb.ListedVersion{Ref: d.Ref, Version: d.Version, Access: d.Access, Published: d.Published,
			Records: d.Records}
		return herb.VersionList{Live: d.Version, Versions: []herb.ListedVersion{v}}, err
	}
	list, err := l.catalogue.ListVersions(ctx, ref)
	if herb.CodeOf(err) == herb.CodeNotFound {
		err = l.catalogue.updateEntries(ctx)
		if err == nil {
			err = l.unknownDataset(ref)
		}
	}
	return list, err
}

// ListVersions is Library.ListVersions for a reader, who may know of the live version.
func (p Private) ListVersions(ctx context.Context, ref herb.Ref) (herb.VersionList, error) {
	if err := p.Check(ctx, ref); err != nil {
		return herb.VersionList{}, err
	}
	list, err := p.Library.ListVersions(ctx, ref)
	return list, p.Hide(ctx, ref, err)
}
