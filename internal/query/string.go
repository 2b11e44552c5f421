package query

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// String is the query string of a URL, split and decoded once: the key, the version, the
// parameters, links and the log of a request are read from it.
//
// A malformed query string can be split, because the key of a request is verified before the client
// may learn what is wrong with the rest. Methods that interpret parameters report the error.
type String struct {
	length int // in bytes as written
	params []RawParam
	now    time.Time // of the request; zero: when it is parsed
	err    error     // why it is malformed, with herb.CodeInvalid
}

// RawParam is one parameter of a query string.
type RawParam struct {
	Param            // decoded; as written where that is impossible
	Raw       string // as written
	Malformed bool   // the name or the value cannot be decoded
}

// Split splits a raw query string.
func Split(raw string) String {
	s := String{length: len(raw)}
	if raw == "" {
		return s
	}
	const most = 16 // of an allocation for parameters that may be empty
	s.params = make([]RawParam, 0, min(strings.Count(raw, "&")+1, most))
	for piece := range strings.SplitSeq(raw, "&") {
		if piece == "" {
			continue
		}
		p := newRawParam(piece)
		switch {
		case s.err != nil:
		case p.Malformed:
			s.err = herb.Invalidf("malformed query string: a %% must be followed by two hexadecimal digits; write " +
				"%%25 for a percent sign")
		case !p.isText():
			s.err = herb.Invalidf("malformed query string: it is not UTF-8")
		}
		s.params = append(s.params, p)
	}
	return s
}

func newRawParam(raw string) RawParam {
	p := RawParam{Raw: raw}
	p.Name, p.Value, _ = strings.Cut(raw, "=")
	for _, text := range []*string{&p.Name, &p.Value} {
		decoded, err := url.QueryUnescape(*text)
		if err != nil {
			p.Malformed = true
			continue
		}
		*text = decoded
	}
	return p
}

func (p *RawParam) isText() bool { return utf8.ValidString(p.Name) && utf8.ValidString(p.Value) }

// Of returns the query string of parameters.
func Of(ps Params) String {
	s := String{params: make([]RawParam, len(ps))}
	for i, p := range ps {
		s.params[i].Param = p
		s.length += len(url.QueryEscape(p.Name)) + len("=&") + len(url.QueryEscape(p.Value))
	}
	s.length -= min(s.length, len("&"))
	return s
}

// At returns the query string for a request at a given time, on which the operands depend that move
// with time.
func (s String) At(now time.Time) String {
	s.now = now
	return s
}

// RawParams returns the parameters in their order, malformed ones included.
func (s String) RawParams() []RawParam { return s.params }

// Key returns the first key that is not empty, and whether the query string has a parameter for
// keys. A malformed key is empty.
func (s String) Key() (secret string, found bool) {
	for i := range s.params {
		p := &s.params[i]
		if p.Name != ParamAPIKey {
			continue
		}
		found = true
		if p.Value != "" && !p.Malformed {
			return p.Value, true
		}
	}
	return "", found
}

// Get returns the first value of a parameter, or "" if there is none.
func (s String) Get(name string) string {
	i := slices.IndexFunc(s.params, func(p RawParam) bool { return p.Name == name && !p.Malformed })
	if i < 0 {
		return ""
	}
	return s.params[i].Value
}

// CutVersion returns the value of ParamVersion, or "" if there is none, and the query string
// without it. The version decides which fields the other parameters may name, so it is read first.
// Other errors are left to the methods that interpret parameters.
func (s String) CutVersion() (version string, rest String, err error) {
	isVersion := func(p RawParam) bool { return p.Name == ParamVersion && !p.Malformed && p.isText() }
	i := slices.IndexFunc(s.params, isVersion)
	if i < 0 {
		return "", s, nil
	}
	if slices.ContainsFunc(s.params[i+1:], isVersion) {
		return "", String{}, givenTwice(ParamVersion)
	}
	rest = s
	rest.params = slices.Concat(s.params[:i], s.params[i+1:])
	rest.length -= min(rest.length, len(s.params[i].Raw)+len("&"))
	return s.params[i].Value, rest, nil
}

// Without returns the query string without the parameters with the given names.
func (s String) Without(names ...string) String {
	s.params = slices.DeleteFunc(slices.Clone(s.params), func(p RawParam) bool {
		removed := slices.Contains(names, p.Name)
		if removed {
			s.length -= min(s.length, len(p.Raw)+len("&"))
		}
		return removed
	})
	return s
}

// listParams are the parameters whose values are lists of fields, separated by commas.
var listParams = []string{ParamSort, ParamFields}

// joinLists returns the query string with one parameter for each list that is given several times,
// as generated clients do: sort=a&sort=-b is sort=a,-b.
func (s String) joinLists() String {
	for _, name := range listParams {
		first := slices.IndexFunc(s.params, func(p RawParam) bool { return p.Name == name })
		if first < 0 || !slices.ContainsFunc(s.params[first+1:], func(p RawParam) bool { return p.Name == name }) {
			continue
		}
		var values []string
		var params []RawParam
		for _, p := range s.params {
			if p.Name == name && p.Value != "" {
				values = append(values, p.Value)
			}
		}
		for i, p := range s.params {
			if i == first {
				p.Value = strings.Join(values, ",")
			}
			if i == first || p.Name != name {
				params = append(params, p)
			}
		}
		s.params = params
	}
	return s
}

// Params returns the parameters. A repeated list is one parameter.
func (s String) Params() (Params, error) {
	s = s.joinLists()
	if s.err != nil || len(s.params) == 0 {
		return nil, s.err
	}
	ps := make(Params, len(s.params))
	for i := range s.params {
		ps[i] = s.params[i].Param
	}
	return ps, nil
}

// Check rejects a request without filters unless it has only the parameters of its kind, each at
// most once. Requests with filters are checked when they are parsed, against the fields of their
// dataset.
func (s String) Check(kind Kind) error {
	if kind&kindsOfFilters != 0 {
		return nil
	}
	_, err := s.only(kind.takes, kind.Parameters)
	if err != nil && kind == KindParquet {
		return herb.Invalidf("data.parquet is the whole version and takes only %s and %s; for a part of the records, "+
			"download data.csv with the same filters", ParamTypes, ParamVersion)
	}
	return err
}

// OnlyOf returns the parameters of a request that has only the valid ones, each at most once, and a
// key.
func (s String) OnlyOf(valid ...string) (Params, error) { return s.onlyOf(append(valid, ParamAPIKey)) }

// OnlyOfPage is OnlyOf for pages and their documents, which take no key.
func (s String) OnlyOfPage(valid ...string) (Params, error) { return s.onlyOf(valid) }

func (s String) onlyOf(valid []string) (Params, error) {
	return s.only(func(name string) bool { return slices.Contains(valid, name) }, func() []string { return valid })
}

func (s String) only(isValid func(name string) bool, valid func() []string) (Params, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	ps, _ := s.Params()
	for i, p := range ps {
		switch {
		case !isValid(p.Name):
			names := valid()
			if len(names) == 0 {
				return nil, herb.Invalidf("unknown parameter %q; there are no parameters", clip(p.Name))
			}
			return nil, herb.Invalidf("unknown parameter %q%s valid parameters: %s", clip(p.Name),
				suggestion(clip(p.Name), names), joinNames(names))
		case p.Name == ParamAPIKey:
		case slices.ContainsFunc(ps[:i], func(earlier Param) bool { return earlier.Name == p.Name }):
			return nil, givenTwice(p.Name)
		}
	}
	return ps, nil
}

// check rejects a query string that is too long or malformed.
func (s String) check() error {
	if s.length > MaxQueryBytes {
		return herb.Invalidf("the query string has %s bytes; at most %s are read", herb.Count(s.length),
			herb.FormatBytes(MaxQueryBytes))
	}
	return s.err
}

// Encode returns the parameters except those with the given names as a raw query string.
func (s String) Encode(except ...string) string {
	var b strings.Builder
	b.Grow(s.length)
	for i := range s.params {
		if p := &s.params[i]; !slices.Contains(except, p.Name) {
			p.appendTo(&b)
		}
	}
	return b.String()
}

// appendTo appends a parameter to a raw query string.
func (p Param) appendTo(b *strings.Builder) {
	if b.Len() > 0 {
		b.WriteByte('&')
	}
	b.WriteString(url.QueryEscape(p.Name))
	b.WriteByte('=')
	b.WriteString(url.QueryEscape(p.Value))
}

// sortCanonically sorts the parameters that determine a result, so that requests with the same ones
// are equal. The order of values matters only for parameters that are lists, such as the fields of
// facets.
func (ps Params) sortCanonically() {
	slices.SortStableFunc(ps, func(a, b Param) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 || hasOrder(a.Name) {
			return c
		}
		return cmp.Compare(a.Value, b.Value)
	})
}
