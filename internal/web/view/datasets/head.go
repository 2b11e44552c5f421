package datasets

import (
	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/citation"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// Head is the top bar of all pages of a dataset.
type Head struct {
	*herb.Dataset
	Path     string // of the table
	Title    string
	Locked   bool // the dataset requires a key
	Unlocked bool // the browser has a valid key
	Mutable  bool // rows are added one by one
	License  *state.Link
	Tab      string // the current view: "table", "map", "chart", "about", "api" or "versions"
	HasMap   bool
	Download *Download         // nil: not offered
	Rejected *herb.SourceError // of the newest source; nil: it was not rejected, or the visitor may not see it
	// position of the version among those that are kept, in words; empty: it is the live one
	Older   string
	Newest  string              // link to the same view of the live version
	Preview string              // address of the image that other sites show beside a link to the view; empty: none
	Embed   *Embed              // HTML that shows the view on other sites; nil: they cannot show it
	Cited   []citation.Citation // of the version, for the menu that shares the view; nil: no menu
	Publish string              // link to the page that publishes the next version; empty: the visitor may not
	Done    *Done               // what the visitor has just done; nil: nothing

	query     string // query string of all views
	selection string // query string of the filters and the search; empty: all rows
}

// Embed is the HTML that shows a view on other sites.
type Embed struct {
	Path   string // of the page in the frame, with its query
	HTML   string // the frame
	Script string // gives frames the height of their pages
}

// Feeds returns the links to the feed of the view, if it has filters, and of the dataset.
func (h Head) Feeds() (links []state.Link) {
	if h.Mutable {
		return nil
	}
	if h.selection != "" {
		links = append(links, state.Link{Label: "Changes of these rows", Href: h.Path + FeedFile + "?" + h.selection})
	}
	return append(links, state.Link{Label: "Changes of the dataset", Href: h.Path + FeedFile})
}

// FeedFile is the name of the feed of a dataset, below the path of its page.
const FeedFile = "/feed.atom"

// Done is what a publisher has just done with a dataset.
type Done struct {
	Ref      herb.Ref
	Path     string // of the page of the dataset
	Message  string
	Page     string   // absolute address of Path
	API      string   // absolute address of the records in the API
	Changes  []string // what changed for the users of the dataset; empty: nothing, or it is the first version
	Live     string   // the version that is live since then
	Previous string   // the version that was live before; empty: there is nothing to undo
	Exposes  []string // what becomes public if Previous is live again
}

// Download is the menu of files with the rows and columns of a view.
type Download struct {
	Rows, Columns int
	Formats       []export.Format
	Parquet       string // link to the file of the whole version; empty: there is none
	path          string
	query         query.Params
	coordinates   string // those of the map; empty: those of the query, or the first ones
}

// Href returns the link to the file in a format.
func (d *Download) Href(f export.Format) string {
	ps := d.query
	if f == export.GeoJSON && d.coordinates != "" {
		ps = ps.WithValue(query.ParamCoordinates, d.coordinates)
	}
	return state.Join(d.path+"/data."+string(f), ps.Encode())
}

// NewHead returns the head of a page of a dataset. path is that of its table; version is the one
// that the URL of the page names, or empty.
func NewHead(d *columns.Dataset, path, version, tab string) Head {
	h := Head{
		Dataset: d.Dataset, Path: path, Title: Title(d.Dataset), Locked: d.Access.NeedsKey(),
		Mutable: d.Ref == herb.PlantsRef,
		License: ReadDescriptor(d.Dataset).License(), HasMap: len(d.Pairs) > 0, Tab: tab,
	}
	h.Newest = h.Href(tab)
	ps := query.Params{}.WithValue(query.ParamVersion, version)
	h.query = ps.Encode()
	if !h.Locked {
		h.Download = &Download{Rows: d.Records, Columns: len(d.Fields), Formats: h.Formats(),
			Parquet: h.parquet(version), path: path, query: ps}
	}
	return h
}

// Formats returns the formats of the files of the dataset.
func (h Head) Formats() []export.Format { return export.FormatsOf(h.Dataset) }

// Files returns the files that the metadata of the page name.
func (h Head) Files() []export.File { return export.Files(h.Dataset) }

// Href returns the link to a view.
func (h Head) Href(tab string) string { return state.Join(h.path(tab), h.query) }

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
	return state.Join(h.Path, ps.Without(query.ParamVersion).WithValue(query.ParamVersion, version).Encode())
}

// SetState makes all views those of a state.
func (h *Head) SetState(s *state.State) {
	h.query = s.WithOwn(s.AnyPage()).Encode()
	if !s.HasArea() { // changes cannot be selected by it
		h.selection = s.Selection().Encode()
	}
	newest := *s
	newest.Version = ""
	h.Newest = state.Join(h.path(h.Tab), newest.WithOwn(s.AnyPage()).Encode())
}

// SetListing makes all views, and the files to download, those of a listing with this many rows.
func (h *Head) SetListing(s *state.State, rows int) {
	columns := len(s.Fields)
	if ps := s.ColumnParams(); len(ps) == 1 { // the files have the selected columns
		columns = len(s.Columns)
	}
	h.SetState(s)
	h.Download = &Download{Rows: rows, Columns: columns, Formats: h.Formats(), Parquet: h.parquet(s.Version),
		path:  h.Path,
		query: s.Call().Without(query.ParamPage, query.ParamPerPage)}
	if !s.HasArea() && herb.CoordinatesIndex(h.Coordinates, s.Map) >= 0 {
		h.Download.coordinates = s.Map
	}
}

// parquet returns the link to the Parquet file of a version; that of the live one if version is
// empty.
func (h *Head) parquet(version string) string {
	switch {
	case h.Mutable:
		return ""
	case version == "":
		return h.Path + "/data.parquet"
	}
	return state.Join(h.Path+"/data.parquet", query.Params{{Name: query.ParamVersion, Value: version}}.Encode())
}

// Title returns the title of a dataset, or its name in readable form.
func Title(d *herb.Dataset) string {
	if format.PlainText(d.Title) != "" {
		return d.Title
	}
	return readableName(d.Ref.Name)
}

// Describe returns a description of a dataset for search engines and previews, as plain text.
func Describe(d *herb.Dataset) string {
	if s := format.MarkdownText(d.Description); s != "" {
		return s
	}
	return herb.Plural(d.Records, "row", "rows") + " with " + herb.Plural(len(d.Fields), "column", "columns") +
		": browse, search and filter them, or read them through the API."
}
