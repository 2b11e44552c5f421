package library

import (
	"context"
	"slices"
	"time"

	"herbarium/internal/herb"
)

// VersionInfo describes a version in the history of a dataset.
type VersionInfo struct {
	herb.Dataset
	Live    bool
	First   bool     // no earlier version is kept, so its changes are unknown
	Changes []Change // since the previous version

	previous herb.Dataset // the previous version; zero if it is not kept
}

// WithoutValues returns the description of a version for readers who may not see its report: its
// changes quote no values.
func (v VersionInfo) WithoutValues() VersionInfo {
	v.Dataset, v.previous = v.Dataset.WithoutValues(), v.previous.WithoutValues()
	v.Changes = Compare(v.previous, v.Dataset, nil)
	return v
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
			info.previous = kept.Versions[i-1]
			info.Changes = Compare(info.previous, v, nil)
		}
		history = append(history, info)
	}
	return history, err
}

// VersionSummary is a version in the history of a dataset in JSON: a line of 'datasets history
// --json' and an element of the list that the API returns.
type VersionSummary struct {
	herb.Ref
	Version   string     `json:"version"`
	Published time.Time  `json:"published_at,omitzero"` // zero if the dataset is mutable
	Records   int        `json:"records"`
	Live      bool       `json:"live"`
	Bytes     int64      `json:"bytes,omitempty"`  // size of the source; 0 if it is unknown
	Source    *herb.Kept `json:"source,omitempty"` // the file that is kept with the version; nil: none
	// Changes are relative to the previous version; nil if that is not kept.
	Changes []Change `json:"changes,omitzero"`
}

// Summary returns the summary of a version.
func (v VersionInfo) Summary() VersionSummary {
	s := VersionSummary{Ref: v.Ref, Version: v.Version, Published: v.Published, Records: v.Records, Live: v.Live}
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

// Summaries returns the summaries of a history.
func Summaries(history []VersionInfo) []VersionSummary {
	all := make([]VersionSummary, len(history))
	for i, v := range history {
		all[i] = v.Summary()
	}
	return all
}

// CheckReport fails with herb.CodeNotFound if a version has no import report.
func CheckReport(d herb.Dataset) error {
	if d.Report == nil {
		return herb.Errorf(herb.CodeNotFound, "no report for version %s of %s; publish the dataset again to create one", d.Version, d.Ref)
	}
	return nil
}
