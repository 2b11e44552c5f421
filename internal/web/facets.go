package web

import (
	"context"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// filter is what narrows a listing by one field. Its counts are those of the records that all other filters leave, so that
// what is not chosen can be compared with what is. They cost more than the page, so that a page comes without them: the
// script asks for those of the opened filters right after, and without a script a link does.
type filter struct {
	herb.Field
	Index   int // of the field
	Heading string
	Mode    filterMode
	Open    bool
	Active  int // conditions on the field

	Loaded    bool // the counts are there
	Values    []facetValue
	Empty     *facetValue // records without a value; nil: none
	More      int         // values that are not shown
	Histogram []bar
	Least     string
	Greatest  string

	FromName, From, ToName, To string // the form of a range
	PrefixName, Prefix         string // the form of a beginning; without a name there is none
}

// filterMode is how a field is filtered.
type filterMode string

const (
	modeValues filterMode = "values" // choose from values with counts
	modeRange  filterMode = "range"  // a range, with a histogram
	modePrefix filterMode = "prefix" // type a beginning: nearly every record has a value of its own
)

// facetValue is a value to choose.
type facetValue struct {
	Value  string
	Count  int
	Share  int // of the most frequent one, in hundredths
	Href   string
	Active bool
}

// bar is a bucket of a histogram.
type bar struct {
	Y, Height int // of barHeight
	Label     string
	Href      string
	Active    bool
}

const (
	barHeight     = 40
	maxFilters    = 40
	maxOpen       = 6
	facetTop      = 10
	facetBuckets  = 24
	maxFacetsOnce = 16
	manyValues    = 5000
)

// filters describes the filters of a dataset. Those that the address opens have their counts; req is nil where the address
// is wrong, and then there are no counts.
func (p *Pages) filters(ctx context.Context, s *state, sh *shell, snap library.Snapshot, req *query.Request) ([]filter, error) {
	out := make([]filter, 0, len(sh.unused))
	used := s.filters(snap.Fields)
	open := 0
	for _, fl := range sh.unused {
		i := fl.Index
		if len(used[i]) > 0 {
			fl = newFilter(&snap.Dataset, i, used[i])
		}
		if fl.Open = fl.Active > 0 || slices.Contains(s.facets, fl.Name); !fl.Open && open < maxOpen {
			fl.Open = worthOpening(fl.Mode, sh.columns[i].Kind, columnReport(&snap.Dataset, i))
		}
		if fl.Open {
			open++
		}
		out = append(out, fl)
	}
	out = ranked(out)
	if req == nil || len(s.facets) == 0 {
		return out, nil
	}
	return out, count(ctx, s, snap, out, s.facets)
}

// worthOpening reports whether the counts of a field are worth showing before anyone asks for them.
func worthOpening(m filterMode, k kind, c *herb.ColumnReport) bool {
	if c == nil {
		return false
	}
	return m == modeValues && c.Distinct > 1 && c.Distinct <= 500 || m == modeRange && k != kindCode && c.Distinct > 1
}

// newFilter makes the filter of a field on which there are some conditions.
func newFilter(d *herb.Dataset, i int, used []condition) filter {
	f := d.Fields[i]
	fl := filter{
		Field: f, Index: i, Heading: headingOf(f), Mode: modeOf(d, i), Active: len(used),
		FromName: withOperator(f.Name, query.OpGte), ToName: withOperator(f.Name, query.OpLte),
	}
	if typed(d, i) {
		fl.PrefixName = withOperator(f.Name, query.OpPrefix)
	}
	for _, p := range used {
		switch p.op {
		case query.OpGte, query.OpGt:
			fl.FromName, fl.From = p.name, p.value
		case query.OpLte, query.OpLt:
			fl.ToName, fl.To = p.name, p.value
		case query.OpPrefix:
			fl.PrefixName, fl.Prefix = p.name, p.value
		}
	}
	return fl
}

// modeOf decides how a field is filtered, by what the publish has seen of its values.
func modeOf(d *herb.Dataset, i int) filterMode {
	f := d.Fields[i]
	if query.HasRange(f.Type) {
		return modeRange
	}
	c := columnReport(d, i)
	if f.Type == herb.TypeList || c == nil || (c.Distinct <= 50 || c.Distinct <= manyValues && 2*c.Distinct <= d.Records) {
		return modeValues
	}
	return modePrefix
}

const ranks = 3

// rank orders filters: what is opened comes first, then what has something to choose from.
func (f *filter) rank() int {
	switch {
	case f.Open:
		return 0
	case f.Mode != modePrefix:
		return 1
	}
	return 2
}

// ranked returns filters in the order of their ranks, those of one rank in the order of the fields.
func ranked(filters []filter) []filter {
	out := make([]filter, 0, len(filters))
	for rank := range ranks {
		for i := range filters {
			if filters[i].rank() == rank {
				out = append(out, filters[i])
			}
		}
	}
	return out
}

// filterList renders the filters, and says how many are left out. Those that are as the shell has them are taken from there.
func (p *Pages) filterList(ctx context.Context, s *state, sh *shell, snap library.Snapshot, req *query.Request) (template.HTML, error) {
	all, err := p.filters(ctx, s, sh, snap, req)
	if err != nil {
		return "", err
	}
	shown, left := shownFilters(all)
	if len(shown) == 0 {
		return `<p class="muted">No field of this dataset can be filtered.</p>`, nil
	}
	var b strings.Builder
	for i := range shown {
		part, err := p.filterPart(sh, &shown[i])
		if err != nil {
			return "", err
		}
		b.WriteString(string(part))
	}
	if left > 0 {
		b.WriteString(`<p class="muted">` + plural(left, "more field", "more fields") + ` can be filtered through the <a href="`)
		b.Write(appendEscaped(nil, s.path))
		b.WriteString(`/api">API</a>.</p>`)
	}
	return template.HTML(b.String()), nil
}

// filterPart renders one filter.
func (p *Pages) filterPart(sh *shell, f *filter) (template.HTML, error) {
	if part, ok := sh.parts[filterState{f.Index, f.Active, f.Open}]; ok && !f.Loaded && f.From == "" && f.To == "" && f.Prefix == "" {
		return part, nil
	}
	return p.execute("browser", "filter", f)
}

// ownedByInput reports whether the form of the filters has an input for a parameter.
func ownedByInput(param string, used map[int][]condition, d *herb.Dataset) bool {
	i, _ := filterOf(param, d.Fields)
	return i >= 0 && d.Fields[i].Filterable && newFilter(d, i, used[i]).owns(param)
}

// typed reports whether the beginning of a value can be typed: where not all values can be shown.
func typed(d *herb.Dataset, i int) bool {
	c := columnReport(d, i)
	return d.Fields[i].Type == herb.TypeText && (c == nil || c.Distinct > facetTop)
}

// owns reports whether the form of the filter has an input for a parameter.
func (f filter) owns(param string) bool {
	return param == f.PrefixName || f.Mode == modeRange && (param == f.FromName || param == f.ToName)
}

// Input returns the type of the inputs of a range.
func (f filter) Input() string {
	if f.Type == herb.TypeDate {
		return "date"
	}
	return "text"
}

// shownFilters returns the filters that a page has room for, and how many are left out. Active ones are always shown.
func shownFilters(all []filter) (shown []filter, left int) {
	for _, f := range all {
		if len(shown) < maxFilters || f.Active > 0 || f.Loaded {
			shown = append(shown, f)
		}
	}
	return shown, len(all) - len(shown)
}

// count fills in the counts of some filters. Fields without a filter of their own are counted at once.
func count(ctx context.Context, s *state, snap library.Snapshot, filters []filter, names []string) error {
	var together []int
	for i := range filters {
		f := &filters[i]
		if f.Mode == modePrefix || !slices.Contains(names, f.Name) {
			continue
		}
		if f.Active == 0 {
			together = append(together, i)
			continue
		}
		field := herb.FieldIndex(snap.Fields, f.Name)
		if err := countSome(ctx, s, snap, s.unfiltered(field, snap.Fields), filters, []int{i}); err != nil {
			return err
		}
	}
	if len(together) == 0 {
		return nil
	}
	return countSome(ctx, s, snap, s.narrowed(), filters, together[:min(len(together), maxFacetsOnce)])
}

// countSome counts the values of some fields under the same conditions.
func countSome(ctx context.Context, s *state, snap library.Snapshot, listing params, filters []filter, which []int) error {
	req, err := query.Parse(listing.without(query.ParamPerPage, query.ParamSort, query.ParamOrder).encode(), snap.Fields)
	if err != nil {
		return err
	}
	ask := &query.FacetRequest{Request: req, Top: facetTop, Buckets: facetBuckets}
	for _, i := range which {
		ask.Fields = append(ask.Fields, herb.FieldIndex(snap.Fields, filters[i].Name))
	}
	found, err := snap.Facets(ctx, ask)
	if err != nil {
		return err
	}
	for k, i := range which {
		filters[i].fill(s, found.Fields[k])
	}
	return nil
}

// fill takes the counts of a field in.
func (f *filter) fill(s *state, c query.Facet) {
	f.Loaded, f.Open = true, true
	if f.Mode == modeRange {
		f.fillRange(s, c)
		return
	}
	f.More = c.Distinct - len(c.Values)
	most := 1
	for _, v := range c.Values {
		most = max(most, v.Count)
	}
	for _, v := range c.Values {
		f.Values = append(f.Values, f.value(s, v.Value, v.Count, most))
	}
	f.addChosen(s)
	if c.Empty > 0 {
		f.Empty = new(f.value(s, "", c.Empty, most))
	}
}

func (f *filter) value(s *state, value string, count, most int) facetValue {
	ps, active := s.toggled(f.Name, value)
	return facetValue{Value: value, Count: count, Share: min(100*count/most, 100), Href: s.href(ps), Active: active}
}

// addChosen adds values that are chosen but not among the most frequent ones.
func (f *filter) addChosen(s *state) {
	for _, p := range s.listing {
		base, op, ok := cutOperator(p.name)
		chosen := p.name == filterName(f.Name) || ok && base == f.Name && op == query.OpEq
		if !chosen || p.value == "" || slices.ContainsFunc(f.Values, func(v facetValue) bool { return v.Value == p.value }) {
			continue
		}
		v := f.value(s, p.value, 0, 1)
		v.Count = -1 // unknown
		f.Values = append(f.Values, v)
	}
}

func (f *filter) fillRange(s *state, c query.Facet) {
	f.Least, f.Greatest = f.human(c.Min), f.human(c.Max)
	most := 1
	for _, b := range c.Histogram {
		most = max(most, b.Count)
	}
	for i, b := range c.Histogram {
		height := (b.Count*barHeight + most - 1) / most
		last := i == len(c.Histogram)-1
		upper := query.OpLt
		if last {
			upper = query.OpLte
		}
		f.Histogram = append(f.Histogram, bar{
			Y: barHeight - height, Height: height, Active: f.covers(b),
			Label: f.human(b.From) + " to " + f.human(b.To) + ": " + plural(b.Count, "record", "records"),
			Href: s.href(s.ranged(f.Name,
				pair{withOperator(f.Name, query.OpGte), b.From}, pair{withOperator(f.Name, upper), b.To})),
		})
	}
	if c.Empty > 0 {
		f.Empty = new(f.value(s, "", c.Empty, most))
	}
}

// covers reports whether a bucket lies within the range that is chosen; without one, all do.
func (f *filter) covers(b query.Bucket) bool {
	within := true
	if low, ok := text.Key(f.Type, f.From); ok && f.From != "" {
		from, _ := text.Key(f.Type, b.From)
		within = within && strings.Compare(from, low) >= 0
	}
	if high, ok := text.Key(f.Type, f.To); ok && f.To != "" {
		to, _ := text.Key(f.Type, b.To)
		within = within && strings.Compare(to, high) <= 0
	}
	return within
}

func (f *filter) human(s string) string {
	if f.Type == herb.TypeDate {
		return humanDate(s)
	}
	return humanNumber(s)
}

// facetFragment answers with the counts of the filters that the address names, for the script to put into a page.
func (p *Pages) facetFragment(w http.ResponseWriter, r *http.Request) error {
	snap, err := p.acquire(r)
	if err != nil {
		return err
	}
	defer snap.Release()
	if err := p.admit(r, snap.Dataset); err != nil {
		return herb.Errorf(herb.CodeUnauthenticated, "dataset %s needs a key; open its page and enter one", snap.Ref)
	}
	s, ok := parseState(p.datasetPath(snap.Ref), r.URL.RawQuery)
	if !ok {
		return herb.Invalidf("malformed query string")
	}
	names := s.facets
	s.facets, s.record, s.columns = nil, 0, knownFields(s.columns, snap.Fields)
	if _, err := query.Parse(s.listing.encode(), snap.Fields); err != nil {
		return err
	}
	sh, err := p.shellOf(r, snap)
	if err != nil {
		return err
	}
	filters, err := p.filters(r.Context(), &s, sh, snap, nil)
	if err != nil {
		return err
	}
	if err := count(r.Context(), &s, snap, filters, names); err != nil {
		return err
	}
	filters = slices.DeleteFunc(filters, func(f filter) bool { return !f.Loaded })
	setCaching(w, snap.Dataset)
	p.secure(w.Header(), false)
	w.Header().Set("X-Robots-Tag", "noindex")
	return p.templates["browser"].ExecuteTemplate(w, "facets", filters)
}
