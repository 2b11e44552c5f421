package versions

import (
	"context"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// Version describes a version in the history of a dataset.
type Version struct {
	herb.Dataset
	Live    bool
	State   State
	First   bool     // the version before it is not kept, or hidden, so its changes are unknown
	Changes []Change // since the previous version
}

// State says whether a version is or was live.
type State string

// The states. A version has none if it was live before the previous one.
const (
	StateLive       State = "live"
	StatePrevious   State = "previous"    // was live before the live one: a rollback makes it live
	StateRolledBack State = "rolled back" // was live and is not among the predecessors of the live one
)

func stateOf(version, live string, before []string) State {
	switch i := slices.Index(before, version); {
	case version == live:
		return StateLive
	case i < 0:
		return StateRolledBack
	case i == 0:
		return StatePrevious
	}
	return ""
}

// History returns the kept versions of a dataset, newest first. A mutable dataset has one.
func (s *Service) History(ctx context.Context, ref herb.Ref) (history []Version, err error) {
	if s.library.IsMutable(ref) {
		d, err := s.Version(ctx, ref, "")
		return []Version{{Dataset: d, Live: true, State: StateLive, First: true}}, err
	}
	kept, err := s.catalogue.History(ctx, ref)
	var before []string
	for _, v := range kept.Versions {
		if v.Version == kept.Live {
			before = v.PredecessorsOf(kept.Live, kept.VersionNames())
		}
	}
	for i, v := range slices.Backward(kept.Versions) {
		if v.Compared != nil && slices.ContainsFunc(kept.Withdrawn,
			func(w herb.Withdrawn) bool { return w.Version == v.Compared.Since }) {
			v.Compared = nil
		}
		info := Version{Dataset: v, Live: v.Version == kept.Live, State: stateOf(v.Version, kept.Live, before),
			First: i == 0}
		if !info.First {
			info.Changes = Compare(kept.Versions[i-1], v, nil)
		}
		history = append(history, info)
	}
	return history, err
}

// VisibleHistory is History in a private catalogue for the reader of a context: without the
// versions that the reader must not know of, and without what changed since one of these.
func (s *Service) VisibleHistory(ctx context.Context, ref herb.Ref) (visible []Version, err error) {
	catalogue := library.Private{Library: s.library}
	if err := catalogue.Check(ctx, ref); err != nil {
		return nil, err
	}
	history, err := s.History(ctx, ref)
	visible = Visible(history, func(d herb.Dataset) bool { return library.IsVisible(ctx, d) })
	return visible, catalogue.Hide(ctx, ref, err)
}

// Visible returns the versions of a history that a reader may know of, without what changed since
// one of the others.
func Visible(history []Version, isVisible func(herb.Dataset) bool) (visible []Version) {
	for i, v := range history { // newest first
		if !isVisible(v.Dataset) {
			continue
		}
		if i+1 < len(history) && !isVisible(history[i+1].Dataset) {
			v.First, v.Changes = true, nil
		}
		visible = append(visible, v)
	}
	return visible
}

// ForReaders returns what readers see of a version: not what became public with it, because that
// names hidden columns.
func (v Version) ForReaders() Version {
	v.Dataset = v.Dataset.ForReaders()
	v.Changes = slices.DeleteFunc(slices.Clone(v.Changes), func(c Change) bool { return c.Exposure })
	return v
}

// Summary is a version in the history of a dataset in JSON: a line of 'datasets history
// --json' and an element of a SummaryList.
type Summary struct {
	library.ListedVersion
	State  State      `json:"state,omitempty"`
	Bytes  int64      `json:"bytes,omitempty"`  // size of the source; 0 if it is unknown
	Source *herb.Kept `json:"source,omitempty"` // the file that is kept with the version; nil: none
	// Changes are relative to the previous version; nil if that is not kept.
	Changes []Change `json:"changes,omitzero"`
}

// Summary returns the summary of a version.
func (v Version) Summary() Summary {
	s := Summary{ListedVersion: library.NewListedVersion(herb.ListedVersion{
		Ref: v.Ref, Version: v.Version, Published: v.Published, Records: v.Records, Labels: v.Labels,
		VersionSummary: v.Details.Summary(),
	}, v.Live), State: v.State}
	if v.Report != nil {
		s.Bytes = v.Report.Bytes
	}
	if v.Settings != nil {
		s.Source = v.Settings.Kept
	}
	if !v.First {
		s.Changes = append([]Change{}, v.Changes...)
	}
	return s
}

// SummaryList is the history of a dataset in JSON, as the API returns it to publishers.
type SummaryList struct {
	Versions  []Summary                  `json:"versions"`            // newest first
	Withdrawn []library.WithdrawnVersion `json:"withdrawn,omitempty"` // newest first
}

// Summaries returns the kept versions of a dataset and those that were withdrawn, for publishers.
func (s *Service) Summaries(ctx context.Context, ref herb.Ref) (SummaryList, error) {
	list := SummaryList{Versions: []Summary{}}
	history, err := s.History(ctx, ref)
	if err != nil {
		return list, err
	}
	for _, v := range history {
		list.Versions = append(list.Versions, v.Summary())
	}
	all, err := s.library.ListVersions(ctx, ref)
	list.Withdrawn = library.NewVersionList(all).Withdrawn
	return list, err
}

// CheckReport fails with herb.CodeNotFound if a version has no import report.
func CheckReport(d herb.Dataset) error {
	if d.Report == nil {
		return herb.Errorf(herb.CodeNotFound, "no report for version %s of %s; publish the dataset again to create one",
			d.Version, d.Ref)
	}
	return nil
}
