package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Head is the top bar of all pages of a dataset.
type Head struct {
	*herb.Dataset
	Path     string // of the table
	Title    string
	Locked   bool // the dataset requires a key
	Unlocked bool // the browser has a valid key
	Mutable  bool // rows are added one by one
	License  *Link
	Tab      string // the current view: "table", "map", "chart", "about", "api" or "versions"
	HasMap   bool
	Download *Download         // nil: not offered
	Rejected *herb.SourceError // of the newest source; nil: it was not rejected, or the visitor may not see it
	Older    string            // position of the version among those that are kept, in words; empty: it is the live one
	Newest   string            // link to the same view of the live version
	Preview  string            // address of the image that other sites show beside a link to the view; empty: none
	Publish  string            // link to the page that publishes the next version; empty: the visitor may not
	Done     *Done             // what the visitor has just done; nil: nothing

	query string // query string of all views
}

// Done is what a publisher has just done with a dataset.
type Done struct {
	Ref      herb.Ref
	Path     string // of the page of the dataset
	Message  string
	Live     string   // the version that is live since then
	Previous string   // the version that was live before; empty: there is nothing to undo
	Exposes  []string // what becomes public if Previous is live again
}

// Link is a link, or only a label and a detail if it has no address.
type Link struct {
	Label, Detail, Href string
	Current             bool // it leads to what the page shows
}

// Download is the menu of files with the rows and columns of a view.
type Download struct {
	Rows, Columns int
	path, query   string
}

// Href returns the link to the file in a format.
func (d *Download) Href(format string) string { return Join(d.path+"/data."+format, d.query) }

// NewHead returns the head of a page of a dataset. path is that of its table; version is the one
// that the URL of the page names, or empty.
func NewHead(d *herb.Dataset, path, version, tab string) Head {
	h := Head{
		Dataset: d, Path: path, Title: Title(d), Locked: d.Access == herb.AccessKey, Mutable: d.Ref == herb.PlantsRef,
		License: ReadDescriptor(d).License(), HasMap: len(MapPairs(d)) > 0, Tab: tab,
	}
	h.Newest = h.Href(tab)
	h.query = query.Params{}.WithValue(query.ParamVersion, version).Encode()
	if !h.Locked {
		h.Download = &Download{d.Records, len(d.Fields), path, h.query}
	}
	return h
}

// Href returns the link to a view.
func (h Head) Href(tab string) string { return Join(h.path(tab), h.query) }

func (h Head) path(tab string) string {
	if tab == "table" {
		return h.Path
	}
	return h.Path + "/" + tab
}

// VersionHref returns the link to the table of a version, with the filters of the page.
func (h Head) VersionHref(version string) string {
	ps, err := query.Split(h.query).Params()
	if err != nil { // it was encoded from parameters
		return h.Path
	}
	return Join(h.Path, ps.Without(query.ParamVersion).WithValue(query.ParamVersion, version).Encode())
}

// SetState makes all views those of a state.
func (h *Head) SetState(s *State) {
	h.query = s.withOwn(s.AnyPage()).Encode()
	newest := *s
	newest.Version = ""
	h.Newest = Join(h.path(h.Tab), newest.withOwn(s.AnyPage()).Encode())
}

// SetListing makes all views, and the files to download, those of a listing with this many rows.
func (h *Head) SetListing(s *State, rows int) {
	columns := len(s.fields)
	if ps := s.columnParams(); len(ps) == 1 { // the files have the selected columns
		columns = len(s.Columns)
	}
	h.SetState(s)
	h.Download = &Download{rows, columns, h.Path, s.Call().Without(query.ParamPage, query.ParamPerPage).Encode()}
}

// Title returns the title of a dataset, or its name in readable form.
func Title(d *herb.Dataset) string {
	if PlainText(d.Title) != "" {
		return d.Title
	}
	return readableName(d.Ref.Name)
}

// Describe returns a description of a dataset for search engines and previews, as plain text.
func Describe(d *herb.Dataset) string {
	if s := MarkdownText(d.Description); s != "" {
		return s
	}
	return herb.Plural(d.Records, "row", "rows") + " with " + herb.Plural(len(d.Fields), "column", "columns") +
		": browse, search and filter them, or read them through the API."
}

// Quality summarizes the publish report of a dataset.
type Quality struct {
	Complete int    // columns without empty values
	Sparse   []Link // the columns with the most empty values, and their share
	Notes    []Link // for the publisher; without a label: about the whole file
}

// NewQuality summarizes the publish report; nil if there is none.
func NewQuality(d *herb.Dataset) *Quality {
	const maxSparse, maxNotes = 8, 50
	if d.Report == nil {
		return nil
	}
	var q Quality
	for _, note := range d.Report.Notes {
		q.Notes = append(q.Notes, Link{Detail: note})
	}
	var sparse []int
	for i, f := range d.Fields {
		c := ColumnReport(d, i)
		if c == nil {
			continue
		}
		if c.Empty > 0 {
			sparse = append(sparse, i)
		} else {
			q.Complete++
		}
		for _, note := range c.Notes {
			q.Notes = append(q.Notes, Link{Label: Heading(f), Detail: note})
		}
	}
	slices.SortStableFunc(sparse, func(a, b int) int { return cmp.Compare(ColumnReport(d, b).Empty, ColumnReport(d, a).Empty) })
	for _, i := range sparse[:min(len(sparse), maxSparse)] {
		q.Sparse = append(q.Sparse, Link{Label: Heading(d.Fields[i]), Detail: Percent(ColumnReport(d, i).Empty, d.Records)})
	}
	q.Notes = q.Notes[:min(len(q.Notes), maxNotes)]
	return &q
}

// Descriptor contains the members of a Data Package descriptor that pages show.
type Descriptor struct {
	Keywords []string
	Homepage string // a web address, or empty
	// The details of links are roles and organizations.
	Licenses, Sources, Contributors []Link
	Publisher, Contact              *Agent // nil: not known
}

// Agent is a person or an organization.
type Agent struct{ Name, Href, Email string }

// descriptorEntry is an entry of the lists in a descriptor, as written by the publisher.
type descriptorEntry struct {
	Name, Title, Path, Organization, Role, Email string
	Roles                                        []string
	FN                                           string // of a contactPoint, as in vCard
	HasEmail                                     string
	URL, Homepage                                string
}

// agent returns who an entry names; nil if it has neither a name nor an address.
func (e descriptorEntry) agent() *Agent {
	email := strings.TrimPrefix(cmp.Or(e.Email, e.HasEmail), "mailto:")
	if !strings.Contains(email, "@") || strings.ContainsAny(email, " <>\"'\\") {
		email = ""
	}
	a := Agent{Name: strings.TrimSpace(cmp.Or(e.Title, e.FN, e.Name, e.Organization)), Href: webAddress(cmp.Or(e.Path, e.URL, e.Homepage)), Email: email}
	if a.Name = cmp.Or(a.Name, a.Email); a.Name == "" {
		return nil
	}
	return &a
}

// hasRole reports whether a contributor has a role, such as "publisher".
func (e descriptorEntry) hasRole(role string) bool {
	return slices.ContainsFunc(append([]string{e.Role}, e.Roles...), func(s string) bool { return strings.EqualFold(s, role) })
}

// parseAgent parses a member that is a name or an object.
func parseAgent(member json.RawMessage) *Agent {
	var e descriptorEntry
	if json.Unmarshal(member, &e.Name) != nil {
		_ = json.Unmarshal(member, &e)
	}
	return e.agent()
}

// findAgent returns the first contributor with one of some roles, in the order of the roles.
func findAgent(contributors []descriptorEntry, roles ...string) *Agent {
	for _, role := range roles {
		for _, c := range contributors {
			if a := c.agent(); a != nil && c.hasRole(role) {
				return a
			}
		}
	}
	return nil
}

// ReadDescriptor reads the descriptor of a dataset, which has none if the visitor may not see it.
func ReadDescriptor(d *herb.Dataset) Descriptor { return ParseDescriptor(d.Descriptor) }

// ParseDescriptor parses a descriptor. Members of the resource override those of the package;
// malformed ones are ignored.
func ParseDescriptor(descriptor []byte) Descriptor {
	var out Descriptor
	var parts struct{ Package, Resource map[string]json.RawMessage }
	if json.Unmarshal(descriptor, &parts) != nil {
		return out
	}
	var licenses, sources, contributors []descriptorEntry
	for _, members := range []map[string]json.RawMessage{parts.Package, parts.Resource} {
		// One by one, so that a malformed member does not hide the others.
		_ = json.Unmarshal(members["keywords"], &out.Keywords)
		_ = json.Unmarshal(members["homepage"], &out.Homepage)
		_ = json.Unmarshal(members["licenses"], &licenses)
		_ = json.Unmarshal(members["sources"], &sources)
		_ = json.Unmarshal(members["contributors"], &contributors)
		out.Publisher = cmp.Or(parseAgent(members["publisher"]), out.Publisher)
		out.Contact = cmp.Or(parseAgent(members["contactPoint"]), out.Contact)
	}
	out.Publisher = cmp.Or(out.Publisher, findAgent(contributors, "publisher"))
	out.Contact = cmp.Or(out.Contact, findAgent(contributors, "contact", "contactPoint", "maintainer"))
	out.Keywords = slices.DeleteFunc(out.Keywords, func(s string) bool { return strings.TrimSpace(s) == "" })
	out.Homepage = webAddress(out.Homepage)
	out.Licenses, out.Sources, out.Contributors = links(licenses), links(sources), links(contributors)
	return out
}

// links returns the entries that have a name.
func links(entries []descriptorEntry) (all []Link) {
	const most = 100
	for _, e := range entries[:min(len(entries), most)] {
		c := Link{Label: cmp.Or(e.Title, e.Name, e.Organization, e.Path), Href: webAddress(e.Path)}
		if c.Label == "" {
			continue
		}
		if e.Role != "" {
			e.Roles = append([]string{e.Role}, e.Roles...)
		}
		if e.Organization != "" && e.Organization != c.Label {
			e.Roles = append(e.Roles, e.Organization)
		}
		c.Detail = strings.Join(e.Roles, ", ")
		all = append(all, c)
	}
	return all
}

// webAddress returns a web address, or an empty string for anything else.
func webAddress(s string) string {
	if IsWebAddress(s) {
		return s
	}
	return ""
}

// License returns the first license; nil if there is none.
func (d Descriptor) License() *Link {
	if len(d.Licenses) == 0 {
		return nil
	}
	return &d.Licenses[0]
}
