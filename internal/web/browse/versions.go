package browse

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"time"

	"herbarium/internal/fetch"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/versions"
	"herbarium/internal/web/drafts"
	"herbarium/internal/web/view/comparisons"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/state"
)

// versionsPage lists the versions of a dataset.
type versionsPage struct {
	Head     datasets.Head
	Versions []keptVersion
	Compare  string       // path of the page that compares two of them; empty: there is nothing to compare
	Filters  query.Params // that this page keeps
	Hidden   bool         // no version is listed, because the browser has no valid key
	Live     string       // the live version
	Fetch    *fetch.State // nil: the dataset is not fetched, or the visitor may not publish it
	// Unreachable is since when the source has failed, after a while; zero: it has not
	Unreachable time.Time
	// Withdrawn are the versions that nobody may read any more, newest first.
	Withdrawn []herb.Withdrawn
	versions  []versions.Version
}

// keptVersion is a version in the list.
type keptVersion struct {
	versions.Version
	Counts *comparisons.Counts // of the changes since the version that it replaced; nil: unknown, or hidden
	// link to the changes since the previous version; empty: there is no previous version
	Changed      string
	IsFrom, IsTo bool // it is chosen at first
	Earliest     bool // no earlier version is listed
}

// LabelPattern returns the pattern of the input of a label.
func (*versionsPage) LabelPattern() string { return herb.LabelPattern() }

// IsKept reports whether the file of the live version is kept, so that its settings can be changed
// without it.
func (page *versionsPage) IsKept() bool {
	return slices.ContainsFunc(page.versions, func(v versions.Version) bool {
		return v.Live && v.Settings != nil && v.Settings.Kept != nil
	})
}

// RefPattern returns the pattern of the input that confirms the removal of the dataset.
func (page *versionsPage) RefPattern() string { return regexp.QuoteMeta(page.Head.Ref.String()) }

// MaxLabel returns the maximum length of a label.
func (*versionsPage) MaxLabel() int { return herb.MaxLabel }

// Exposes returns what becomes public if a version goes live.
func (page *versionsPage) Exposes(v versions.Version) []string {
	return drafts.Exposures(page.versions, page.Live, v.Version)
}

func (p *versionPages) versions(w *httpapi.Page, r *http.Request, v datasetView) error {
	history, err := p.visibleHistory(r.Context(), w, v.Ref)
	if err != nil {
		return err
	}
	h := versionsPage{Live: v.Live, versions: history}
	var s *state.State
	h.Head, s, _, err = p.documentHead(w, r, v, "versions")
	if err != nil {
		return err
	}
	h.Hidden = len(history) == 0
	if err := p.addFetch(r.Context(), &h, w.Visitor().MayPublish(v.Ref)); err != nil {
		return err
	}
	var seen map[string]herb.ListedVersion
	if !h.Head.Mutable {
		seen, h.Withdrawn, err = p.seenVersions(r.Context(), w.Visitor(), v.Ref)
		if err != nil {
			return err
		}
	}
	counts := countChanges(seen, history)
	if len(history) > 1 && p.Opts.Changes != nil {
		h.Compare, h.Filters = h.Head.Path+"/changes", s.WithOwn(s.Selection()).Without(query.ParamVersion)
	}
	live := max(0, slices.IndexFunc(history, func(i versions.Version) bool { return i.Live }))
	from := live + 1
	if from >= len(history) { // the earliest version is live again
		from, live = live, 0
	}
	for i, info := range history {
		kept := keptVersion{Counts: counts[i], IsFrom: i == from, IsTo: i == live, Earliest: i+1 == len(history)}
		if !w.Visitor().MayPublish(v.Ref) {
			info = info.ForReaders()
		}
		kept.Version = info
		if h.Compare != "" && i+1 < len(history) {
			kept.Changed = state.Join(h.Compare, query.Params{
				{Name: query.ParamFrom, Value: history[i+1].Version}, {Name: query.ParamTo, Value: info.Version},
			}.With(h.Filters...).Encode())
		}
		h.Versions = append(h.Versions, kept)
	}
	return p.renderDocument(w, r, v, "versions", "Versions", &h)
}

// addFetch adds the state of a dataset that is fetched.
func (p *versionPages) addFetch(ctx context.Context, h *versionsPage, publishes bool) error {
	if p.fetches == nil || h.Hidden || h.Head.Descriptor == nil || h.Head.Descriptor.Fetch.Address == "" {
		return nil
	}
	states, err := p.fetches.States(ctx, h.Head.Ref)
	state, ok := states[h.Head.Ref]
	if err != nil || !ok {
		return err
	}
	h.Unreachable = state.Unreachable(time.Now())
	if publishes {
		h.Fetch = &state
	}
	return nil
}

// visibleHistory returns the kept versions of a dataset that the visitor may know of, newest first:
// those of herb.VersionList.See.
func (p *datasetPages) visibleHistory(ctx context.Context, w *httpapi.Page, ref herb.Ref) ([]versions.Version, error) {
	history, err := p.history(ctx, ref)
	live := slices.IndexFunc(history, func(v versions.Version) bool { return v.Live })
	if err != nil || live < 0 {
		return nil, err
	}
	visitor := w.Visitor()
	if visitor.ID != "" {
		w.SetPrivate()
	}
	return versions.Visible(history, func(d herb.Dataset) bool { return visitor.See(d, history[live].Dataset).Report }),
		nil
}

// seenVersions returns what lists of versions show a visitor: the kept versions by their names, and
// the withdrawn ones, newest first.
func (p *datasetPages) seenVersions(ctx context.Context, visitor herb.Principal,
	ref herb.Ref) (map[string]herb.ListedVersion, []herb.Withdrawn, error) {
	list, err := p.Opts.Library.ListVersions(ctx, ref)
	list = list.See(visitor)
	seen := map[string]herb.ListedVersion{}
	for _, v := range list.Versions {
		seen[v.Version] = v
	}
	slices.Reverse(list.Withdrawn)
	return seen, list.Withdrawn, err
}

// countChanges returns how many records changed in each version of a history; nil where that is
// unknown, or where the visitor may not know it.
func countChanges(seen map[string]herb.ListedVersion, history []versions.Version) []*comparisons.Counts {
	compared := make([]*herb.RecordChanges, len(history))
	for i, info := range history {
		compared[i] = seen[info.Version].Compared
	}
	return comparisons.NewCounts(compared)
}

// maxListed is the number of versions that a page of changes lists, and that a history reads.
const maxListed = 100

// keptVersions returns the newest versions, for a page that compares two of them, which are listed
// in any case.
func (p *versionPages) keptVersions(ctx context.Context, w *httpapi.Page, c *comparedVersions) (
	kept []comparisons.Version, err error) {
	ref := c.to.Ref
	seen, _, err := p.seenVersions(ctx, w.Visitor(), ref)
	if err != nil {
		return nil, err
	}
	counts := countChanges(seen, c.history)
	for i, info := range c.history {
		v := comparisons.NewVersion(&info.Dataset, info.Live)
		v.IsFrom, v.IsTo, v.Counts = info.Version == c.from.Version, info.Version == c.to.Version, counts[i]
		if i >= maxListed && !v.IsFrom && !v.IsTo {
			continue
		}
		if i+1 < len(c.history) {
			v.Href = state.Join(p.DatasetPath(ref)+"/changes", query.Params{
				{Name: query.ParamFrom, Value: c.history[i+1].Version}, {Name: query.ParamTo, Value: info.Version},
			}.Encode())
		}
		kept = append(kept, v)
	}
	return kept, nil
}
