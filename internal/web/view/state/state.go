package state

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/columns"
)

// ImageHref returns the address of the chart as an image.
func (s *State) ImageHref(path string) string {
	return Join(path, s.Picture.params(s.Selection().With(s.Question...)).WithValue(query.ParamVersion,
		s.Version).Encode())
}

// PreviewHref returns the address of the preview of the view of a version.
func (s *State) PreviewHref(path, version string) string {
	return Join(path, s.WithOwn(s.Selection()).WithValue(ParamSmall, version).Encode())
}

// Parameters that only the pages use. A field with such a name is filtered as name[eq].
const (
	ParamPin   = "_pin"   // the column that stays in view
	ParamWidth = "_width" // the width of a column in pixels, as in "title:320", repeated
	ParamView  = "_view"  // "table": phones show a table instead of cards
	// "1": the page contains the distributions of the columns, for browsers without a script
	ParamDistributions = "_distributions"
	ParamMap           = "_map"     // the latitude field of a map, if there are several
	ParamColor         = "_color"   // the field that colors the points of a map
	ParamSize          = "_size"    // the field that sizes them
	ParamRecord        = "_record"  // the open record, by its position on the page
	ParamRow           = "_row"     // the open record, by its content hash
	ParamFacet         = "_facet"   // the filter to edit; in requests for counts also several
	ParamMore          = "_more"    // the filter to edit, with more values
	ParamOffset        = "_offset"  // the number of values to skip before those
	ParamValues        = "_values"  // text that the values offered by that filter contain
	ParamFind          = "_find"    // text that the columns contain which the script requests for a menu
	ParamCount         = "_columns" // a column whose distribution the script requests, repeated
	ParamKind          = "_kind"    // the form of the chart
	ParamGaps          = "_gaps"    // lines end where intervals have no rows
	ParamSplit         = "_split"   // the number of series of the chart
	ParamSmall         = "_small"   // the version of which an image is a preview, so that browsers cache it
	// a column that the search has brought into view, in requests for more rows, repeated
	ParamMoved = "_moved"

	// These change the selected columns and values. A page redirects to the result, so that they
	// are in no URL.
	ParamColumn = "_column" // a column to show, repeated
	ParamAt     = "_at"     // the row to show, by its position in the listing
	ParamNot    = "_not"    // a column whose selected values are left out
	ParamSet    = "_set_"   // with the name of a clause, such as _set_by: what that clause of a chart's sentence says
)

// PageRows is the number of rows per page unless the URL says otherwise. It fills a large screen.
const PageRows = 50

// State is the state of a page of rows, which is completely contained in its URL.
type State struct {
	Path    string // of the page
	Version string // that the URL names; empty: the live version
	// path of the image files beside the dataset, with a trailing slash; empty: they are not served
	Files         string
	Listing       query.Params // the parameters of the listing, as the API takes them, except the selected fields
	Columns       []int        // positions of the selected fields; nil: the default ones
	Pin           int          // position of the column that stays in view; -1: the first one
	Widths        []ColumnWidth
	Distributions bool
	NoCards       bool   // phones show a table
	Embed         bool   // the page is shown in a frame of another site
	Map           string // latitude field of the map; empty: the first one
	Bounds        string // part of the map that is shown, as query.ParamBounds has it; empty: all rows
	Color, Size   string // fields of the points of the map; empty: all points look the same
	Record        int    // position of the open record, from 1; 0: none
	Row           string // content hash of the open record, if it is named by that
	// Question is the parameters of the chart; none: the default chart. Other views carry them
	// along.
	Question query.Params
	Picture  Picture // how the chart looks as a file
	// Versions is the parameters that name the versions of a comparison and its kinds of changes;
	// none: the view is not a comparison.
	Versions query.Params
	Small    string // the image is a preview of the chart of this version; empty: it is the chart

	Set     query.Params // the clauses of the sentence of the chart that a form sets
	Facets  []string     // filters to edit, or to count
	More    bool         // with more values
	Offset  int          // values to skip before those
	Values  string       // text that the values contain
	Find    string       // text that the offered columns contain
	Counted []int        // positions of the fields whose distributions are requested
	// positions of the fields that the search has brought into view; nil: those of the rows of the
	// page
	Moved []int

	at int // the row that the page shows first, by its position in the listing, from 1; 0: that of the page

	Dataset *columns.Dataset
	Fields  []herb.Field
}

// ParseState reads the state from a URL of a page. It does not validate the listing. canonical is
// false if the URL contains parameters without effect, as submitted forms do, or a key, which must
// not stay in a URL; redirect to URL then.
func ParseState(path string, q query.String, d *columns.Dataset) (s State, canonical bool, err error) {
	return State{Path: path}.parse(q, d)
}

// ParseEmbed is ParseState of a page in a frame of another site.
func ParseEmbed(path string, q query.String, d *columns.Dataset) (s State, canonical bool, err error) {
	return State{Path: path, Embed: true}.parse(q, d)
}

func (s State) parse(q query.String, d *columns.Dataset) (_ State, canonical bool, err error) {
	s.Pin, s.Dataset, s.Fields = -1, d, d.Fields
	ps, err := q.Params()
	if err != nil {
		return s, true, err
	}
	for _, p := range ps {
		if expanded, ok := query.ExpandFilter(p.Value, s.Fields); ok && p.Name == query.ParamFilter {
			p = expanded
		}
		if !s.setOwn(p) && !hasNoEffect(p, s.Fields) {
			s.Listing = append(s.Listing, s.normalize(p))
		}
	}
	if s.Listing.Get(query.ParamSort) == "" {
		s.Listing = s.Listing.Without(query.ParamOrder)
	}
	if !s.More {
		s.Offset = 0
	}
	if s.Embed {
		s.dropControls()
	}
	s.showRow()
	for _, p := range ps {
		s.excludeValues(p)
	}
	s.Listing = s.pruneGroups(s.Listing)
	if zone := s.Question.Get(query.ParamZone); zone != "" && s.moves() {
		s.Listing, s.Question = s.Listing.WithValue(query.ParamZone, zone), s.Question.Without(query.ParamZone)
	}
	sorted := func(ps query.Params) []string { return slices.Sorted(strings.SplitSeq(ps.Encode(), "&")) }
	return s, slices.Equal(sorted(ps), sorted(s.Params())), nil
}

// moves reports whether a filter moves with time, so that the zone is one of the rows, not only of
// the chart.
func (s *State) moves() bool {
	return slices.ContainsFunc(s.Listing, func(p query.Param) bool {
		i, _, ok := query.ResolveFilter(p.Name, s.Fields)
		return ok && (s.Fields[i].Type == herb.TypeDate || s.Fields[i].Type == herb.TypeDateTime) &&
			slices.ContainsFunc(strings.Split(p.Value, ","), query.IsMoving)
	})
}

// setOwn sets the part of the state that a parameter of the page describes. It returns false for
// other parameters.
func (s *State) setOwn(p query.Param) bool {
	field := herb.FieldIndex(s.Fields, p.Value)
	switch p.Name {
	case query.ParamFields:
		return s.selectFields(p)
	case ParamColumn:
		if field >= 0 && !slices.Contains(s.Columns, field) && len(s.Columns) < maxColumns {
			s.Columns = append(s.Columns, field)
		}
	case ParamPin:
		s.Pin = field
	case ParamWidth:
		s.setWidth(p.Value)
	case ParamView:
		s.NoCards = p.Value == "table"
	case ParamDistributions:
		s.Distributions = p.Value == "1"
	case ParamMap:
		if field >= 0 {
			s.Map = p.Value
		}
	case query.ParamBounds:
		if _, err := query.ParseBounds(p.Value); err == nil {
			s.Bounds = p.Value
		}
	case ParamColor:
		if field >= 0 && s.Dataset.CanColor(field) {
			s.Color = p.Value
		}
	case ParamSize:
		if field >= 0 && s.Dataset.CanSize(field) {
			s.Size = p.Value
		}
	case ParamRecord:
		s.Record = ParseUpTo(p.Value, query.MaxPerPage)
	case ParamRow:
		s.Row = p.Value
	case ParamOffset:
		s.Offset = ParseUpTo(p.Value, query.MaxValueOffset)
	case ParamCount:
		if field >= 0 {
			s.Counted = append(s.Counted, field)
		}
	case ParamMoved:
		if s.Moved == nil {
			s.Moved = []int{}
		}
		if field >= 0 && len(s.Moved) < maxColumns && !slices.Contains(s.Moved, field) {
			s.Moved = append(s.Moved, field)
		}
	case ParamAt:
		s.at = ParseUpTo(strings.NewReplacer(",", "", " ", "").Replace(p.Value), math.MaxInt32)
	case ParamFacet, ParamMore:
		if field >= 0 {
			s.Facets, s.More = append(s.Facets, p.Value), s.More || p.Name == ParamMore
		}
	case ParamValues:
		s.Values = p.Value
	case ParamFind:
		s.Find = p.Value
	case query.ParamBy, query.ParamMeasure, query.ParamGroupSort, query.ParamTopGroups, query.ParamZone, ParamKind,
		ParamSplit, ParamGaps,
		query.ParamSeries, query.ParamSeriesEmpty:
		s.Question = s.Question.WithValue(p.Name, p.Value)
	case ParamSmall:
		s.Small = p.Value
	case ParamNot, ParamEmbed:
	default:
		if clause, ok := strings.CutPrefix(p.Name, ParamSet); ok && !strings.Contains(clause, "[") { // else a filter
			s.Set = append(s.Set, p)
			return true
		}
		return s.Picture.set(p)
	}
	return true
}

// excludeValues applies a parameter that leaves out the selected values of a field.
func (s *State) excludeValues(p query.Param) {
	if p.Name != ParamNot {
		return
	}
	for k, selected := range s.Listing {
		if i, op, ok := query.ResolveFilter(selected.Name, s.Fields); ok && op == query.OpEq &&
			s.Fields[i].Name == p.Value {
			s.Listing[k].Name = query.FilterParam(p.Value, query.OpNe)
		}
	}
}

// ParseUpTo returns a number from 1 to most; 0 for anything else.
func ParseUpTo(value string, most int) int {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		return 0
	}
	return n
}

// selectFields sets the selected columns. It returns false if the API rejects the parameter, so
// that the page shows why.
func (s *State) selectFields(p query.Param) bool {
	if p.Value == "" {
		return true
	}
	req, err := query.Parse(query.Params{p}.Encode(), s.Fields)
	if err != nil || s.Columns != nil {
		return false
	}
	s.Columns = req.Selected
	if s.Columns == nil { // all fields in their order
		for i := range s.Fields {
			s.Columns = append(s.Columns, i)
		}
	}
	s.Columns = s.Columns[:min(len(s.Columns), maxColumns)]
	return true
}

// normalize rewrites a number in the form in which pages show numbers, such as 50,000,000, to one
// that the API reads.
func (s *State) normalize(p query.Param) query.Param {
	i, op, ok := query.ResolveFilter(p.Name, s.Fields)
	if !ok || s.Fields[i].Type != herb.TypeNumber || op == query.OpIn || op == query.OpPrefix {
		return p
	}
	if _, status := text.Operand(&s.Fields[i], p.Value); status != text.Invalid {
		return p
	}
	plain := strings.NewReplacer(",", "", " ", "", "\u00a0", "", "\u202f", "", "'", "", "\u2212", "-").Replace(p.Value)
	if _, status := text.Operand(&s.Fields[i], plain); status == text.Valid {
		p.Value = plain
	}
	return p
}

// hasNoEffect reports whether a parameter can be left out of a URL.
func hasNoEffect(p query.Param, fields []herb.Field) bool {
	switch {
	case p.Name == query.ParamTyped, p.Name == query.ParamMatches, p.Name == query.ParamLabels,
		p.Name == query.ParamPage && p.Value == "1":
		return true
	case p.Value != "":
		return false
	case query.IsReserved(p.Name):
		return true
	}
	_, op, ok := query.ResolveFilter(p.Name, fields)
	return ok && !op.AcceptsEmpty()
}

// Request parses the listing.
func (s *State) Request(order herb.Order) (*query.Request, error) {
	return query.Of(s.Call().Without(query.ParamVersion)).Listing(s.Fields, order)
}

// InvalidParam is a parameter that the API rejects.
type InvalidParam struct{ Name, Message string }

// ValidListing returns the parameters of the listing without invalid ones, and those.
func (s *State) ValidListing() (valid query.Params, invalid []InvalidParam) {
	dependent := map[string]query.Params{} // valid only with the filters of their fields
	for _, p := range s.Listing {
		if p.Name == query.ParamAny || p.Name == query.ParamZone {
			dependent[p.Name] = append(dependent[p.Name], p)
		} else if _, err := query.Parse(query.Params{p}.Encode(), s.Fields); err != nil {
			invalid = append(invalid, InvalidParam{p.Name, herb.MessageOf(err)})
		} else {
			valid = append(valid, p)
		}
	}
	if _, err := query.Parse(valid.Encode(), s.Fields); err != nil { // valid only one by one
		return nil, invalid
	}
	for _, name := range []string{query.ParamAny, query.ParamZone} {
		joined := s.pruneGroups(valid.With(dependent[name]...))
		if _, err := query.Parse(joined.Encode(), s.Fields); err != nil {
			invalid = append(invalid, InvalidParam{name, herb.MessageOf(err)})
		} else {
			valid = joined
		}
	}
	return valid, invalid
}

// Call returns the parameters of the API call that lists the rows of the page.
func (s *State) Call() query.Params {
	ps := s.Listing
	if p := s.ColumnParams(); len(p) == 1 {
		ps = ps.With(p...)
	}
	if ps.Get(query.ParamPerPage) == "" {
		ps = ps.WithValue(query.ParamPerPage, strconv.Itoa(PageRows))
	}
	return ps.WithValue(query.ParamVersion, s.Version)
}

// URL returns the canonical URL of the page.
func (s *State) URL() string {
	url := Join(s.Path, s.Params().Encode())
	if s.at > 0 {
		url += "#" + RowID(s.at)
	}
	return url
}

// RowID returns the id of the element of a row, by its position in the listing, from 1.
func RowID(position int) string { return "row-" + strconv.Itoa(position) }

// showRow selects the page of the row that a form asks for.
func (s *State) showRow() {
	if s.at == 0 {
		return
	}
	s.Listing = s.AnyPage()
	if page := (s.at - 1) / s.perPage(); page > 0 {
		s.Listing = s.Listing.WithValue(query.ParamPage, strconv.Itoa(page+1))
	}
}

// perPage returns the number of rows per page.
func (s *State) perPage() int {
	n, err := strconv.Atoi(s.Listing.Get(query.ParamPerPage))
	if err != nil || n < 1 {
		return PageRows
	}
	return min(n, query.MaxPerPage)
}

// Params returns the complete state.
func (s *State) Params() query.Params {
	ps := s.WithOwn(s.Listing)
	for i, f := range s.Facets {
		name := ParamFacet
		if s.More && i == len(s.Facets)-1 {
			name = ParamMore
		}
		ps = ps.WithValue(name, f)
	}
	number := func(n int) string { return strings.TrimPrefix(strconv.Itoa(n), "0") } // empty: none
	return ps.WithValue(ParamRecord, number(s.Record)).WithValue(ParamRow, s.Row).WithValue(ParamOffset,
		number(s.Offset)).WithValue(ParamValues, s.Values)
}

// Href returns the link to another listing with the same columns, and more parameters of the page.
// It is relative, which saves a third of its bytes.
func (s *State) Href(listing query.Params, more ...query.Param) string {
	if ps := s.pruneGroups(s.WithOwn(listing).With(more...)); len(ps) > 0 {
		return "?" + ps.Encode()
	}
	return s.Path
}

// DistributionsHref returns the link to the page with distributions, for browsers without a script.
func (s *State) DistributionsHref() string {
	other := *s
	other.Distributions = true
	return other.Href(s.Listing)
}

// WithOwn adds the parameters of the page that stay when its listing changes.
func (s *State) WithOwn(listing query.Params) query.Params {
	listing = listing.With(s.ColumnParams()...)
	if s.Pin >= 0 {
		listing = listing.WithValue(ParamPin, s.Fields[s.Pin].Name)
	}
	listing = listing.With(s.widthParams()...)
	if s.Distributions {
		listing = listing.WithValue(ParamDistributions, "1")
	}
	if s.NoCards {
		listing = listing.WithValue(ParamView, "table")
	}
	return listing.WithValue(ParamMap, s.Map).WithValue(query.ParamBounds, s.Bounds).WithValue(ParamColor,
		s.Color).WithValue(ParamSize,
		s.Size).With(s.Picture.params(s.Question)...).With(s.Versions...).WithValue(query.ParamVersion, s.Version)
}

// Hidden returns the parameters that a form carries along: all but those with the given names,
// which have inputs.
func (s *State) Hidden(inputs ...string) query.Params {
	return s.WithOwn(s.AnyPage()).Without(inputs...)
}

// AnyPage returns the parameters of the listing without the page number.
func (s *State) AnyPage() query.Params { return s.Listing.Without(query.ParamPage) }

// Selection returns the parameters that select the rows of the listing: its filters and its search.
func (s *State) Selection() query.Params {
	return s.Listing.Without(query.ParamPage, query.ParamPerPage, query.ParamSort, query.ParamOrder)
}

// PageHref returns the link to a page of the listing.
func (s *State) PageHref(page int, more ...query.Param) string {
	listing := s.AnyPage()
	if page > 1 {
		listing = listing.WithValue(query.ParamPage, strconv.Itoa(page))
	}
	return s.Href(listing, more...)
}

// EqParam returns the parameter that filters a field by whole values.
func (s *State) EqParam(field int) string {
	name := s.Fields[field].Name
	if query.IsReserved(name) || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "]") {
		return query.FilterParam(name, query.OpEq)
	}
	return name
}

// EqFilter returns the filter that finds the rows with a value as written. A datetime that is
// written as a day is its start, because a day finds all datetimes of it.
func (s *State) EqFilter(field int, value string) query.Param {
	if day := strings.TrimSpace(value); s.Fields[field].Type == herb.TypeDateTime && text.IsDate(day) {
		value = text.StartOfDay(day)
	}
	return query.Param{Name: s.EqParam(field), Value: value}
}

// Toggle returns the parameters with a filter by a whole value added, or removed if it is active.
func (s *State) Toggle(field int, value string) (ps query.Params, active bool) {
	ps = s.AnyPage()
	filter, op := s.EqFilter(field, value), query.OpEq
	if value == "" { // the form of the filter has an input for it, and markers count as empty
		op = query.OpEmpty
		filter = query.Param{Name: query.FilterParam(s.Fields[field].Name, op), Value: "true"}
	}
	for k, p := range ps {
		if i, used, _ := query.ResolveFilter(p.Name, s.Fields); i == field && used == op && p.Value == filter.Value {
			return slices.Delete(ps, k, k+1), true
		}
	}
	return ps.With(filter), false
}

// WithoutFilters returns the parameters without those that filter a field with one of the
// operators; none: with any.
func (s *State) WithoutFilters(field int, ops ...query.Op) query.Params {
	return slices.DeleteFunc(s.AnyPage(), func(p query.Param) bool {
		i, op, ok := query.ResolveFilter(p.Name, s.Fields)
		return ok && i == field && (len(ops) == 0 || slices.Contains(ops, op))
	})
}

// RangeHref returns the link to a listing that is filtered by ranges of fields instead of the ones
// that they have. upper is the operator of their upper ends. The values are the last parameters,
// which are empty: the script fills in both ends of each field.
func (s *State) RangeHref(upper query.Op, fields ...int) string {
	other, ends := *s, query.Params(nil)
	for _, field := range fields {
		other.Listing = other.WithoutFilters(field, query.RangeOps()...)
		name := s.Fields[field].Name
		ends = ends.With(query.Param{Name: query.FilterParam(name, query.OpGte)},
			query.Param{Name: query.FilterParam(name, upper)})
	}
	return other.Href(other.Listing, ends...)
}

// areaParams are the parameters that select rows by where they are.
var areaParams = []string{query.ParamBox, query.ParamNear}

// HasArea reports whether the listing selects rows by where they are.
func (s *State) HasArea() bool { return len(s.Listing.Without(areaParams...)) < len(s.Listing) }

// WithoutArea returns the parameters without some that select rows by where they are; none: without
// all of them. An order by distance and the name of the coordinates go with the last ones that need
// them.
func (s *State) WithoutArea(names ...string) query.Params {
	if names == nil {
		names = areaParams
	}
	ps := s.AnyPage().Without(names...)
	if ps.Get(query.ParamNear) == "" && strings.TrimPrefix(ps.Get(query.ParamSort), "-") == query.SortDistance &&
		herb.FieldIndex(s.Fields, query.SortDistance) < 0 {
		ps = ps.Without(query.ParamSort, query.ParamOrder)
	}
	if ps.Get(query.ParamBox) == "" && ps.Get(query.ParamNear) == "" {
		ps = ps.Without(query.ParamCoordinates)
	}
	return ps
}

// BoxHref returns the link to a listing that is filtered by a box instead of the one that it has.
// The box is the last parameter, which is empty: the script fills it in.
func (s *State) BoxHref(coordinates string) string {
	listing := s.AnyPage().Without(query.ParamBox, query.ParamCoordinates).WithValue(query.ParamCoordinates,
		coordinates)
	return s.Href(listing, query.Param{Name: query.ParamBox})
}

// SwitchHref returns the link that shows a table on phones instead of cards, or the reverse.
func (s *State) SwitchHref() string {
	other := *s
	other.NoCards = !s.NoCards
	return other.Href(s.Listing)
}
