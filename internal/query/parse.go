package query

import (
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// Parse parses a request from the raw query of a URL. Errors have herb.CodeInvalid and say what is
// valid.
func Parse(raw string, fields []herb.Field) (*Request, error) {
	return Split(raw).Listing(fields, herb.Order{})
}

// Listing parses a listing request for a dataset with a default order. The default order applies if
// the request has neither a sort nor a search, which is ordered by relevance. The result equals
// that of a request with an explicit sort.
func (s String) Listing(fields []herb.Field, order herb.Order) (*Request, error) {
	return s.records(fields, order, KindListing, "")
}

// Export parses a listing request for the complete result: parameters of pages are rejected.
func (s String) Export(fields []herb.Field, order herb.Order) (*Request, error) {
	return s.records(fields, order, KindExport, "an export has no pages: it is the whole result")
}

// records parses a request for records. kind and scope are those of Request.parse.
func (s String) records(fields []herb.Field, defaultOrder herb.Order, kind Kind, scope string) (*Request, error) {
	r := newRequest(fields)
	var sort, order string
	err := r.parse(s, scope, kind, func(p Param) (err error) {
		switch p.Name {
		case ParamPage:
			r.Page, err = parseWhole(p, 1, MaxPage, "a whole number from 1 to %d")
		case ParamPerPage:
			r.PerPage, err = parsePerPage(p.Value)
		case ParamSort:
			sort = p.Value
		case ParamOrder:
			order = p.Value
		case ParamFields:
			r.Selected, err = parseFields(p.Value, fields)
		}
		return err
	})
	if err == nil {
		err = r.checkLabels()
	}
	if err == nil {
		var byDistance bool
		byDistance, err = r.parseDistance(sort, order)
		if err == nil && !byDistance {
			r.Sort, err = parseSort(sort, order, fields)
		}
	}
	if err != nil {
		return nil, err
	}
	if i := herb.FieldIndex(fields, defaultOrder.Field); len(r.Sort) == 0 && r.Distance == AnyDistance &&
		r.Search == nil && i >= 0 && fields[i].Sortable {
		r.Sort = []SortField{{i, defaultOrder.Desc}}
	}
	return r, nil
}

func newRequest(fields []herb.Field) *Request {
	return &Request{Page: 1, PerPage: DefaultPerPage, fields: fields}
}

// parse parses the filters and the search of a request, and calls set for each of its other
// parameters that has a value. Only filters, lists and some other parameters may be repeated.
// Parameters of listings that this kind of request does not take are rejected, and scope is the
// reason in the message.
func (r *Request) parse(s String, scope string, kind Kind, set func(Param) error) (err error) {
	if err := s.check(); err != nil {
		return err
	}
	s = s.joinLists()
	if len(s.params) > 0 {
		r.given = make(Params, 0, len(s.params))
	}
	r.kind, r.moving.source = kind, s
	exact := s.Get(ParamWords) == WordsExact
	filters := filterParser{fields: r.fields, kind: kind, moving: &r.moving,
		exact: exact || slices.ContainsFunc(r.fields, func(f herb.Field) bool { return f.ExactWords })}
	zoned := false
	var seen, any []string
	for i := range s.params {
		p, effective := s.params[i].Param, true
		own := kind.takes(p.Name)
		var err error
		switch {
		case p.Name == ParamAPIKey:
			effective = false
		case p.Name == ParamFilter, !own && !IsReserved(p.Name):
			before := filters.values
			err = filters.add(p)
			effective = filters.values > before
		case !own && p.Value == "":
			effective = false
		case !own && p.Name == ParamMatches:
			err = herb.Invalidf("%q applies to listings in JSON only; leave it out", ParamMatches)
		case !own:
			err = herb.Invalidf("%q is given, but %s; leave %q out", p.Name, scope, p.Name)
		case slices.Contains(seen, p.Name):
			err = givenTwice(p.Name)
		default:
			if !isRepeatable(p.Name) {
				seen = append(seen, p.Name)
			}
			switch {
			case p.Value == "":
				effective = false
			case p.Name == ParamAny:
				any = append(any, p.Value)
			case p.Name == ParamZone && kind != KindAggregate:
				_, err = parseZone(p.Value)
				zoned = true
			case p.Name == ParamSearch:
				r.Search, err = filters.search(p.Value)
			case p.Name == ParamWords:
				err, effective = checkChoice(p, WordsExact), false
			case p.Name == ParamVersion:
				err = herb.Invalidf("%q applies to listings, exports, records, facets and grids of the API only; "+
					"leave it out", ParamVersion)
			case p.Name == ParamTyped:
				r.Typed, err = ParseTyped(Params{p})
				effective = r.Typed
			case p.Name == ParamMatches:
				r.Matches, err = p.Value == "true", checkChoice(p, "true", "false")
				effective = r.Matches
			case p.Name == ParamLabels:
				r.Labels, err = parseLabels(p)
				effective = r.Labels
			default:
				var isArea bool
				isArea, err = r.Area.set(p)
				if !isArea {
					err = set(p)
				}
			}
		}
		if err != nil {
			return err
		}
		if effective {
			r.given = append(r.given, p)
		}
	}
	r.Conditions, r.words = filters.conditions(), filters.words
	if exact && slices.ContainsFunc(r.clauses(), func(c Clause) bool { return c.Exact }) {
		r.given = append(r.given, Param{ParamWords, WordsExact})
	}
	r.given.sortCanonically()
	if zoned && r.moving.resolved == nil {
		return herb.Invalidf("%s has no effect: no filter has a date that moves with time, such as today-30d; "+
			"remove it", ParamZone)
	}
	if any == nil {
		return nil
	}
	r.Any, err = parseAny(any, r.fields, r.Conditions)
	return err
}

// parseSort parses the values of ParamSort and ParamOrder. It returns nil if there is no sort.
func parseSort(value, order string, fields []herb.Field) ([]SortField, error) {
	if order != "" {
		if err := checkChoice(Param{ParamOrder, order}, "asc", "desc"); err != nil {
			return nil, err
		}
	}
	if value == "" {
		return nil, nil
	}
	sort, err := parseSortFields(value, fields)
	if err != nil || order == "" {
		return sort, err
	}
	if len(sort) > 1 || sort[0].Desc {
		return nil, herb.Invalidf(
			"%q is given, so %q must be one field without -; leave %q out and write - before each descending field, "+
				"such as sort=-%s", ParamOrder, ParamSort, ParamOrder, clip(strings.TrimPrefix(value, "-")))
	}
	sort[0].Desc = order == "desc"
	return sort, nil
}

// parseSortFields parses a comma-separated list of fields, each with a - before it if its order is
// descending. A field whose name contains a comma or begins with - can only be given alone; its
// exact name takes precedence.
func parseSortFields(value string, fields []herb.Field) (sort []SortField, err error) {
	parts := strings.Split(value, ",")
	exact := herb.FieldIndex(fields, value) >= 0
	if exact || herb.FieldIndex(fields, strings.TrimPrefix(value, "-")) >= 0 {
		parts = []string{value}
	}
	if len(parts) > MaxSortFields {
		return nil, herb.Invalidf("%q has more than %d fields; give at most %d", ParamSort, MaxSortFields,
			MaxSortFields)
	}
	use := fieldUse{func(f herb.Field) bool { return f.Sortable }, "sort field %q", "is not sortable",
		"sortable fields"}
	if len(parts) > 1 && slices.ContainsFunc(parts, func(p string) bool {
		return strings.TrimPrefix(p, "-") == SortDistance && herb.FieldIndex(fields, SortDistance) < 0
	}) {
		return nil, herb.Invalidf("%q is %q; %s must be its only field", ParamSort, clip(value), SortDistance)
	}
	for _, name := range parts {
		key := SortField{}
		if !exact {
			name, key.Desc = strings.CutPrefix(name, "-")
		}
		key.Field, err = resolveField(fields, name, use)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(sort, func(f SortField) bool { return f.Field == key.Field }) {
			return nil, herb.Invalidf("field %q is given more than once in %q; give it once", name, ParamSort)
		}
		sort = append(sort, key)
	}
	return sort, nil
}

// parseWhole parses a whole number between two limits. valid describes them in the error; its %d is
// the upper limit.
func parseWhole(p Param, low, high int, valid string) (int, error) {
	n, err := strconv.Atoi(p.Value)
	if err != nil || !onlyDigits(p.Value) || n < low || n > high {
		return 0, herb.Invalidf("%s is %q; it must be "+valid, p.Name, clip(p.Value), high)
	}
	return n, nil
}

func parsePerPage(s string) (int, error) {
	n, _ := strconv.Atoi(s) // the maximum integer if it is out of range
	if !onlyDigits(s) || n == 0 {
		return 0, herb.Invalidf("per_page is %q; it must be a whole number from 1 (over %d is served as %d)",
			clip(s), MaxPerPage, MaxPerPage)
	}
	return min(n, MaxPerPage), nil
}

func onlyDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// fieldNames returns the names of the fields for which include returns true, or of all if it is
// nil, in alphabetical order.
func fieldNames(fields []herb.Field, include func(herb.Field) bool) []string {
	var out []string
	for _, f := range fields {
		if include == nil || include(f) {
			out = append(out, f.Name)
		}
	}
	slices.Sort(out)
	return out
}

// joinNames joins names for a message, truncated: a dataset may have ten thousand columns.
func joinNames(names []string) string {
	const limit = 40
	if len(names) == 0 {
		return "none"
	}
	if len(names) > limit {
		return strings.Join(names[:limit], ", ") + " and " + strconv.Itoa(len(names)-limit) + " more"
	}
	return strings.Join(names, ", ")
}

// clip truncates client input for use in a message.
func clip(s string) string { return herb.Clip(s, 60) }
