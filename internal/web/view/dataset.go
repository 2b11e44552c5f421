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
	Base     string // path of the public URL
	Path     string // of the table
	Title    string
	Locked   bool // the dataset requires a key
	Unlocked bool // the browser has a valid key
	Mutable  bool // rows are added one by one
	License  *Link
	Views    []Link
	Download *Download         // nil: not offered
	Rejected *herb.SourceError // of the newest source; nil: it was not rejected, or the visitor may not see it
	Older    *OlderVersion     // nil: the page shows the live version
	Newest   string            // link to the same view of the live version
}

// OlderVersion is the position of a version that is not live among those that are kept, from 1 for the oldest one.
type OlderVersion struct{ Number, Total int }

// Link is a link, or only a label if it has no address.
type Link struct {
	Label, Detail, Href string
	Current             bool // it leads to what the page shows
}

// Download is the menu of files with the rows and columns of a view.
type Download struct {
	Rows    int
	Columns string // in words
	Files   []Link
}

// NewHead returns the head of a page of a dataset. path is that of its table; version is the one that the URL of the page
// names, or empty; tab is the current view: "table", "map", "about", "api" or "versions".
func NewHead(d *herb.Dataset, base, path, version, tab string) Head {
	h := Head{
		Dataset: d, Base: base, Path: path, Title: Title(d), Locked: d.Access == herb.AccessKey, Mutable: d.Ref == herb.PlantsRef,
		License: ReadDescriptor(d).License(),
	}
	if PlainText(d.Title) == "" { // the namespace is beside it
		h.Title = d.Ref.Name
	}
	versioned := query.Params{}.WithValue(query.ParamVersion, version).Encode()
	for _, v := range []Link{{Label: "Table"}, {Label: "Map"}, {Label: "About"}, {Label: "API"}, {Label: "Versions"}} {
		if v.Label == "Map" && len(MapPairs(d)) == 0 {
			continue
		}
		name := strings.ToLower(v.Label)
		href := strings.TrimSuffix(path+"/"+name, "/table")
		if v.Current = name == tab; v.Current {
			h.Newest = href
		}
		v.Href = Join(href, versioned)
		h.Views = append(h.Views, v)
	}
	if !h.Locked {
		h.Download = newDownload(path, versioned, d.Records, len(d.Fields))
	}
	return h
}

// SetListing makes the views of rows, and the files to download, those of a listing with this many rows.
func (h *Head) SetListing(s *State, rows int) {
	columns := len(s.fields)
	if ps := s.columnParams(); len(ps) == 1 { // the files have the selected columns
		columns = len(s.Columns)
	}
	for i, v := range h.Views {
		if v.Label == "Table" || v.Label == "Map" {
			path, _, _ := strings.Cut(v.Href, "?")
			h.Views[i].Href = Join(path, s.withOwn(s.AnyPage()).Encode())
		}
	}
	newest := *s
	newest.Version = ""
	h.Newest = newest.Href(s.AnyPage())
	h.Download = newDownload(h.Path, s.Call().Without(query.ParamPage, query.ParamPerPage).Encode(), rows, columns)
}

// newDownload returns the menu of files for a query.
func newDownload(path, rawQuery string, rows, columns int) *Download {
	d := &Download{Rows: rows, Columns: herb.Plural(columns, "column", "columns")}
	for _, f := range [][2]string{{"CSV", "for spreadsheets and scripts"}, {"NDJSON", "one JSON object per line"}, {"XLSX", "for Excel"}} {
		d.Files = append(d.Files, Link{Label: f[0], Detail: f[1], Href: Join(path+"/data."+strings.ToLower(f[0]), rawQuery)})
	}
	return d
}

// Title returns the title of a dataset, or its name.
func Title(d *herb.Dataset) string {
	if PlainText(d.Title) != "" {
		return d.Title
	}
	return d.Ref.String()
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
	Complete int      // columns without empty values
	Sparse   []Sparse // the columns with the most empty values
	Notes    []Note   // for the publisher
}

// Sparse is a column with empty values.
type Sparse struct{ Heading, Empty string }

// Note is a note of the publish report. Heading is that of the column; empty: it is about the whole file.
type Note struct{ Heading, Text string }

// NewQuality summarizes the publish report; nil if there is none.
func NewQuality(d *herb.Dataset) *Quality {
	const maxSparse, maxNotes = 8, 50
	if d.Report == nil {
		return nil
	}
	var q Quality
	for _, note := range d.Report.Notes {
		q.Notes = append(q.Notes, Note{"", note})
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
			q.Notes = append(q.Notes, Note{Heading(f), note})
		}
	}
	slices.SortStableFunc(sparse, func(a, b int) int { return cmp.Compare(ColumnReport(d, b).Empty, ColumnReport(d, a).Empty) })
	for _, i := range sparse[:min(len(sparse), maxSparse)] {
		q.Sparse = append(q.Sparse, Sparse{Heading(d.Fields[i]), Percent(ColumnReport(d, i).Empty, d.Records)})
	}
	q.Notes = q.Notes[:min(len(q.Notes), maxNotes)]
	return &q
}

// Descriptor contains the members of a Data Package descriptor that pages show.
type Descriptor struct {
	Keywords     []string
	Homepage     string // a web address, or empty
	Licenses     []Link
	Sources      []Link // their details are roles, as are those of contributors
	Contributors []Link
}

// descriptorEntry is an entry of the lists in a descriptor, as written by the publisher.
type descriptorEntry struct {
	Name, Title, Path, Organization, Role string
	Roles                                 []string
}

// ReadDescriptor reads the public descriptor of a dataset. That of a dataset that requires a key is not read, because it may
// quote values.
func ReadDescriptor(d *herb.Dataset) Descriptor {
	if d.Access == herb.AccessKey {
		return Descriptor{}
	}
	return ParseDescriptor(d.Descriptor)
}

// ParseDescriptor parses a descriptor. Members of the resource override those of the package; malformed ones are ignored.
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
	}
	out.Keywords = slices.DeleteFunc(out.Keywords, func(s string) bool { return strings.TrimSpace(s) == "" })
	out.Homepage = webAddress(out.Homepage)
	for _, l := range licenses {
		if name := cmp.Or(l.Title, l.Name, l.Path); name != "" {
			out.Licenses = append(out.Licenses, Link{Label: name, Href: webAddress(l.Path)})
		}
	}
	out.Sources, out.Contributors = credits(sources), credits(contributors)
	return out
}

func credits(entries []descriptorEntry) (all []Link) {
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
