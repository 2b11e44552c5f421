package herb

import (
	"slices"
	"time"
)

// VersionList is what lists show of the versions of a dataset.
type VersionList struct {
	Live      string
	Versions  []ListedVersion // oldest first
	Withdrawn []Withdrawn     // oldest first
}

// Withdrawn is a version that nobody may read any more.
type Withdrawn struct {
	Version   string    `json:"version"`
	Access    Access    `json:"access"`
	Published time.Time `json:"published"`
	Since     time.Time `json:"withdrawn"` // when it was withdrawn
}

// ListedVersion is what lists show of a version, without its fields and its details.
type ListedVersion struct {
	Ref
	Version   string
	Access    Access
	Published time.Time
	Records   int
	Labels    []string // sorted
	VersionSummary
}

// Dataset returns the version as far as Principal.See needs it.
func (v ListedVersion) Dataset() Dataset {
	return Dataset{Ref: v.Ref, Access: v.Access, Version: v.Version}
}

// VersionSummary is the part of a version's details that lists show.
type VersionSummary struct {
	Message     string         `json:"message,omitempty"`
	ContentHash string         `json:"content_hash,omitempty"` // empty if the version has no report
	Compared    *RecordChanges `json:"compared,omitempty"`     // without fields
	Expected    Frequency      `json:"expected,omitempty"`     // how often the dataset changes
	Fetch       FetchSource    `json:"fetch,omitzero"`
}

// Summary returns the summary of a version.
func (d *Details) Summary() VersionSummary {
	s := VersionSummary{Message: d.Message}
	if d.Descriptor != nil {
		s.Expected, s.Fetch = d.Descriptor.Expected, d.Descriptor.Fetch
	}
	if d.Report != nil {
		s.ContentHash = d.Report.Cells
	}
	if c := d.Compared; c != nil {
		s.Compared = &RecordChanges{Since: c.Since, SinceAccess: c.SinceAccess, Added: c.Added, Removed: c.Removed,
			Changed: c.Changed, Unchanged: c.Unchanged}
	}
	return s
}

// See returns what a client may see of the versions of a dataset: those whose report it may see, as
// Principal.See decides, and the counts against such versions only. Nobody sees counts against a
// withdrawn version.
func (l VersionList) See(p Principal) VersionList {
	i := l.index(l.Live)
	if i < 0 {
		return VersionList{}
	}
	live := l.Versions[i].Dataset()
	sees := func(access Access) bool {
		return p.See(Dataset{Ref: live.Ref, Access: access}, live).Report
	}
	seen := VersionList{Live: l.Live}
	for _, v := range l.Versions {
		if !sees(v.Access) {
			continue
		}
		if c := v.Compared; c != nil && !sees(l.accessOf(c)) {
			v.Compared = nil
		}
		seen.Versions = append(seen.Versions, v)
	}
	for _, w := range l.Withdrawn {
		if sees(w.Access) {
			seen.Withdrawn = append(seen.Withdrawn, w)
		}
	}
	for i := range seen.Versions {
		if c := seen.Versions[i].Compared; c != nil &&
			slices.ContainsFunc(l.Withdrawn, func(w Withdrawn) bool { return w.Version == c.Since }) {
			seen.Versions[i].Compared = nil
		}
	}
	return seen
}

// accessOf returns the access of the earlier version of a comparison.
func (l VersionList) accessOf(c *RecordChanges) Access {
	if i := l.index(c.Since); i >= 0 {
		return l.Versions[i].Access
	}
	return c.SinceAccess
}

// index returns the position of a version, or -1.
func (l VersionList) index(version string) int {
	return slices.IndexFunc(l.Versions, func(v ListedVersion) bool { return v.Version == version })
}
