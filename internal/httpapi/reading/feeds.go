package reading

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/atom"
	"herbarium/internal/changes"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/versions"
)

// Limits of feeds.
const (
	maxFeedVersions = 50  // of a dataset, the newest
	maxFeedDatasets = 100 // of the catalogue, those with the newest versions
)

// Feed sends the Atom feed of a view of a dataset: an entry for each kept version that changed one
// of its records, up to the live version. A version that the client may not read is left out, and
// the next one compared with the one before.
func (h *Handlers) Feed(w *response.Writer, r *http.Request, v gate.DatasetView) error {
	switch {
	case v.Pinned != "":
		return herb.Invalidf("a feed is about all versions; remove %q", query.ParamVersion)
	case v.Reader == nil || h.opts.Changes == nil:
		return herb.Invalidf("%s has no versions: its records are listed as they are, so it has no feed", v.Ref)
	}
	req, err := v.Query.Changes(v.Fields, v.Fields, true)
	if err != nil {
		return err
	}
	kept, err := h.feedVersions(w, r, v)
	if err != nil {
		return err
	}
	view := datasetFeed{Handlers: h, DatasetView: v, kept: kept, params: req.Canonical(),
		resultKey: req.ResultKey(), origin: h.opts.Origin(r)}
	if f := v.FreshnessAt(time.Now()); f.State == herb.Overdue && view.params == "" && len(kept) > 0 {
		view.overdue = f.Overdue
	}
	return h.sendFeed(w, r, view.tag(w.Path), func() (atom.Feed, error) { return view.feed(r.Context()) })
}

// feedVersions returns the versions of a dataset that the client may read, oldest first: those of
// the feed, and the one before them. Versions after the live one are no news: it was rolled back.
func (h *Handlers) feedVersions(w *response.Writer, r *http.Request, live gate.DatasetView) (kept []herb.Dataset,
	err error) {
	history, err := h.opts.History(r.Context(), live.Ref)
	if err != nil {
		return nil, err
	}
	client := h.gate.OptionalPrincipal(w, r)
	isLive := func(v versions.Version) bool { return v.Live }
	for _, v := range history[max(0, slices.IndexFunc(history, isLive)):] { // newest first
		if v.Access.NeedsKey() { // the feed differs for other clients
			w.SetKeyVary()
		}
		if client.See(v.Dataset, live.Dataset).Values && len(kept) <= maxFeedVersions {
			kept = append(kept, v.Dataset)
		}
	}
	if client.ID != "" {
		w.SetCaching(r, herb.AccessKey)
	}
	slices.Reverse(kept)
	return kept, nil
}

// sendFeed sends a feed, which is made once per entity tag.
func (h *Handlers) sendFeed(w *response.Writer, r *http.Request, tag string, make func() (atom.Feed, error)) error {
	w.Immutable = true
	if w.NotModified(r, tag) {
		return nil
	}
	body := w.CachedBody(tag)
	if body == nil {
		f, err := make()
		if err == nil {
			body, err = f.Marshal()
		}
		if err != nil {
			return err
		}
		w.CacheBody(tag, body)
	}
	w.Send(r, http.StatusOK, atom.ContentType, body)
	return nil
}

// datasetFeed makes the feed of a view of a dataset.
type datasetFeed struct {
	*Handlers
	gate.DatasetView
	kept   []herb.Dataset // oldest first
	params string         // the filters, in their canonical form
	// the filters with the instants of those that move with time
	resultKey string
	origin    string
	overdue   time.Time // when the next version became overdue; zero: it is not, or the feed has filters
}

// tag returns the entity tag of the feed, which costs no comparison.
func (f datasetFeed) tag(path string) string {
	names := f.origin
	if !f.overdue.IsZero() {
		names += "\noverdue"
	}
	for _, v := range f.kept {
		names += "\n" + v.Version
	}
	return response.EntityTag(path, f.resultKey, names, atom.ContentType)
}

// feed compares the versions and returns the feed.
func (f datasetFeed) feed(ctx context.Context) (atom.Feed, error) {
	path := "/datasets/" + f.Ref.String()
	title := cmp.Or(strings.TrimSpace(f.Title), f.Ref.Name)
	feed := atom.Feed{
		ID: atom.ID(f.origin, f.Ref.String(), f.params), Title: title + ": changes", Author: title,
		Self: address(f.origin+path+"/feed.atom", f.params), Alternate: address(f.origin+path, f.params),
	}
	if f.params != "" {
		feed.Title = title + ": changes of " + f.params
	}
	feed.Updated = f.Published
	if !f.overdue.IsZero() {
		feed.Entries = append(feed.Entries, atom.Entry{
			ID: atom.ID(f.Ref.String(), "overdue", f.Version), Title: title + ": overdue", Updated: f.overdue,
			Summary: fmt.Sprintf("The last version is of %s, and the next one was expected by %s.",
				f.Published.UTC().Format(time.DateOnly), f.overdue.Format(time.DateOnly)),
			Alternate: f.origin + path,
		})
	}
	for i := len(f.kept) - 1; i > 0; i-- {
		to := f.kept[i]
		s, err := f.compare(ctx, f.kept[i-1], to)
		if err != nil {
			return feed, err
		}
		if s == nil {
			continue
		}
		feed.Entries = append(feed.Entries, atom.Entry{
			ID: atom.ID(f.Ref.String(), f.params, to.Version), Title: title + ": " + cmp.Or(to.Message, countsOf(*s)),
			Updated: to.Published, Summary: describeChanges(to.Message, *s),
			Alternate: address(f.origin+path+"/changes", query.ParamFrom+"="+s.From+"&"+query.ParamTo+"="+
				s.To, f.params),
		})
	}
	if len(feed.Entries) > 0 {
		feed.Updated = feed.Entries[0].Updated
	}
	return feed, nil
}

// compare returns what changed in the view between two versions; nil: nothing, or one of them is
// not kept any more or does not have the fields of the filters.
func (f datasetFeed) compare(ctx context.Context, from, to herb.Dataset) (*changes.Summary, error) {
	s, err := f.summarizeChanges(ctx, from, to)
	if s == nil || s.Total() > 0 || f.params == "" && len(s.Fields.Added)+len(s.Fields.Removed)+
		len(s.Fields.Retyped) > 0 {
		return s, err
	}
	return nil, err
}

func (f datasetFeed) summarizeChanges(ctx context.Context, from, to herb.Dataset) (*changes.Summary, error) {
	if c := to.Compared; f.params == "" && c != nil && c.Since == from.Version { // counted by the publish
		return &changes.Summary{
			From: from.Version, To: to.Version, Added: c.Added, Removed: c.Removed, Changed: c.Changed,
			Fields: changes.FieldsOf(from.Fields, to.Fields),
		}, nil
	}
	earlier, err := f.opts.Library.AcquireVersion(ctx, f.Ref, from.Version)
	if err != nil {
		return nil, unlessGone(err)
	}
	defer earlier.Release()
	later, err := f.opts.Library.AcquireVersion(ctx, f.Ref, to.Version)
	if err != nil {
		return nil, unlessGone(err)
	}
	defer later.Release()
	req, err := f.Query.Changes(earlier.Fields, later.Fields, true)
	if err != nil {
		return nil, nil
	}
	found, err := operations.CompareVersions(ctx, f.opts.Changes, &earlier, &later, req)
	if err != nil {
		return nil, err
	}
	defer found.Release()
	return &found.Selected[0].Summary, nil
}

// unlessGone returns an error unless it says that a version is not kept any more.
func unlessGone(err error) error {
	if herb.CodeOf(err) == herb.CodeGone {
		return nil
	}
	return err
}

// countsOf returns the counts of changes in words.
func countsOf(s changes.Summary) string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{s.Added, "added"}, {s.Removed, "removed"}, {s.Changed, "changed"}} {
		if c.n > 0 {
			parts = append(parts, herb.Count(c.n)+" "+c.what)
		}
	}
	if parts == nil {
		return "other fields"
	}
	return strings.Join(parts, ", ")
}

// describeChanges returns the summary of an entry.
func describeChanges(message string, s changes.Summary) string {
	var lines []string
	if message != "" {
		lines = append(lines, message)
	}
	lines = append(lines, fmt.Sprintf("Records: %s added, %s removed, %s changed.", herb.Count(s.Added),
		herb.Count(s.Removed), herb.Count(s.Changed)))
	for _, f := range []struct {
		what  string
		names []string
	}{{"added", s.Fields.Added}, {"removed", s.Fields.Removed}, {"with another type", s.Fields.Retyped}} {
		if len(f.names) > 0 {
			lines = append(lines, "Fields "+f.what+": "+strings.Join(f.names, ", ")+".")
		}
	}
	return strings.Join(lines, "\n")
}

// address returns an address with query strings that are not empty.
func address(path string, queries ...string) string {
	queries = slices.DeleteFunc(queries, func(q string) bool { return q == "" })
	if len(queries) == 0 {
		return path
	}
	return path + "?" + strings.Join(queries, "&")
}

// CatalogueFeed sends the Atom feed of the newest versions of the datasets that need no key,
// whatever key the client has.
func (h *Handlers) CatalogueFeed(w *response.Writer, r *http.Request) error {
	live, err := h.opts.Library.Live(r.Context())
	if err != nil {
		return err
	}
	live = slices.DeleteFunc(slices.Clone(live), func(v herb.LiveVersion) bool {
		return v.Access.NeedsKey() ||
			v.Published.IsZero()
	})
	slices.SortFunc(live, func(a, b herb.LiveVersion) int {
		return cmp.Or(b.Published.Compare(a.Published), cmp.Compare(a.Ref.String(), b.Ref.String()))
	})
	live = live[:min(len(live), maxFeedDatasets)]
	origin := h.opts.Origin(r)
	state := origin
	for _, v := range live {
		state += "\n" + v.Ref.String() + " " + v.Version
	}
	w.SetCaching(r, herb.AccessOpen)
	return h.sendFeed(w, r, response.EntityTag(w.Path, "", state, atom.ContentType), func() (atom.Feed, error) {
		feed := atom.Feed{ID: atom.ID(origin, "feed"), Title: "New data", Author: "Herbarium",
			Self: origin + "/feed.atom", Alternate: origin + "/"}
		if len(live) > 0 {
			feed.Updated = live[0].Published
		}
		described, err := h.opts.Library.Datasets(r.Context(), live, false)
		for _, d := range described {
			if d.Access.NeedsKey() { // it may have changed meanwhile
				continue
			}
			feed.Entries = append(feed.Entries, atom.Entry{
				ID: atom.ID(d.Ref.String(), d.Version), Title: cmp.Or(strings.TrimSpace(d.Title), d.Ref.String()),
				Updated: d.Published,
				Summary: fmt.Sprintf("%s: %s, %s.\n%s", d.Ref, herb.Plural(d.Records, "record", "records"),
					herb.Plural(len(d.Fields), "field", "fields"), d.Description),
				Alternate: origin + "/datasets/" + d.Ref.String(),
			})
		}
		return feed, err
	})
}
