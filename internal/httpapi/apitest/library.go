// Package apitest has what tests of the API and of the pages serve: a library in memory, and keys.
package apitest

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/store"
	"herbarium/internal/text"
	"herbarium/internal/versions"
)

// Library lists datasets in memory through the oracle. Put may be called while requests are served.
type Library struct {
	Views     []library.View                  // live versions, sorted by name
	Kept      []library.View                  // earlier versions
	Histories map[herb.Ref][]versions.Version // results of History
	Err       error                           // returned by methods that read live versions; nil: none

	mu sync.Mutex
}

// Put makes a version live. A version without a name gets one, and a time.
func (l *Library) Put(d herb.Dataset, records []herb.Record) {
	d.Records = len(records)
	if d.Version == "" {
		d.Version, d.Published = "v1", time.Date(2026, 3, 20, 8, 30, 0, 0, time.UTC)
	}
	d.Coordinates = geo.Recognize(d.Fields, records, geo.Declared(d.Descriptor, d.Fields))
	d.Access = cmp.Or(d.Access, herb.AccessOpen)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Views = slices.DeleteFunc(slices.Clone(l.Views), func(v library.View) bool { return v.Ref == d.Ref })
	l.Views = append(l.Views, library.View{Dataset: d, Engine: segmenttest.NewOracle(d.Fields, records)})
	slices.SortFunc(l.Views, func(a, b library.View) int { return a.Ref.Compare(b.Ref) })
}

// Keep adds a version that is not live.
func (l *Library) Keep(d herb.Dataset, records []herb.Record) {
	d.Records = len(records)
	d.Coordinates = geo.Recognize(d.Fields, records, geo.Declared(d.Descriptor, d.Fields))
	d.Access = cmp.Or(d.Access, herb.AccessOpen)
	l.Kept = append(l.Kept, library.View{Dataset: d, Engine: segmenttest.NewOracle(d.Fields, records)})
	if l.Histories == nil {
		l.Histories = map[herb.Ref][]versions.Version{}
	}
	l.Histories[d.Ref] = append(l.Histories[d.Ref], versions.Version{Dataset: d, First: true})
}

// View returns the live version of a dataset; nil if there is none.
func (l *Library) View(ref herb.Ref) *library.View {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.Views, func(v library.View) bool { return v.Ref == ref }); i >= 0 {
		return &l.Views[i]
	}
	return nil
}

// Live implements gate.Library.
func (l *Library) Live(context.Context) (live []herb.LiveVersion, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.Views {
		live = append(live, herb.LiveVersion{Ref: v.Ref, Version: v.Version, Records: v.Records, Published: v.Published,
			Access: v.Access})
	}
	return live, l.Err
}

// Search implements gate.Library.
func (l *Library) Search(ctx context.Context, search, keyword string) ([]herb.LiveVersion, error) {
	live, err := l.Live(ctx)
	words := text.AppendWords(nil, search)
	return slices.DeleteFunc(live, func(v herb.LiveVersion) bool {
		matches := store.NewSearchFilter(search, keyword).Match(store.NewSearchWords(l.View(v.Ref).Dataset))
		return !matches || strings.TrimSpace(search) != "" && len(words) == 0
	}), err
}

// OpenParquet implements gate.Library. Every version has the same file, without a name and content.
func (l *Library) OpenParquet(context.Context, library.View, bool) (*os.File, error) {
	return filesystem.TempFile("")
}

// ProtectedRefs implements gate.Library.
func (l *Library) ProtectedRefs(context.Context) ([]herb.Ref, error) { return nil, nil }

// MayMatch implements gate.Library.
func (l *Library) MayMatch(herb.LiveVersion, *query.Search) bool { return true }

// IsClosed implements gate.Library.
func (l *Library) IsClosed(herb.LiveVersion) bool { return false }

// Datasets implements gate.Library.
func (l *Library) Datasets(_ context.Context, versions []herb.LiveVersion, details bool) (all []herb.Dataset,
	err error) {
	for _, v := range versions {
		d := l.View(v.Ref).Dataset
		if !details {
			d.Details = herb.Details{}
		}
		all = append(all, d)
	}
	return all, l.Err
}

// Acquire implements gate.Library.
func (l *Library) Acquire(_ context.Context, ref herb.Ref) (library.View, error) {
	if l.Err != nil {
		return library.View{}, l.Err
	}
	if v := l.View(ref); v != nil {
		return *v, nil
	}
	return library.View{}, herb.Errorf(herb.CodeNotFound, "no such dataset %q; GET /api/v1 lists all datasets", ref)
}

// AcquireVersion implements gate.Library.
func (l *Library) AcquireVersion(ctx context.Context, ref herb.Ref, version string) (library.View, error) {
	live, err := l.Acquire(ctx, ref)
	if err != nil {
		return library.View{}, err
	}
	var names []string
	for _, v := range append([]library.View{live}, l.Kept...) {
		if v.Ref == ref && v.Version == version {
			return v, nil
		}
		if v.Ref == ref {
			names = append(names, v.Version)
		}
	}
	return library.View{}, herb.Errorf(herb.CodeGone, "dataset %q has no version %q; versions: %s", ref, version,
		strings.Join(names, ", "))
}

// ListVersions implements gate.Library.
func (l *Library) ListVersions(ctx context.Context, ref herb.Ref) (list herb.VersionList, err error) {
	live, err := l.Acquire(ctx, ref)
	if err != nil {
		return list, err
	}
	list.Live = live.Version
	for _, v := range append(slices.Clone(l.Kept), live) {
		if v.Ref == ref {
			list.Versions = append(list.Versions, herb.ListedVersion{
				Ref: ref, Version: v.Version, Access: v.Access, Published: v.Published, Records: v.Records,
				Labels: v.Labels, VersionSummary: v.Details.Summary(),
			})
		}
	}
	return list, nil
}

// History returns the versions of a dataset.
func (l *Library) History(_ context.Context, ref herb.Ref) ([]versions.Version, error) {
	return l.Histories[ref], nil
}
