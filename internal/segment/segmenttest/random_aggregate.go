package segmenttest

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// aggregate returns a raw aggregate query with the filters and the search of a listing, or "" if no
// field is filterable.
func (g *generator) aggregate(o *Oracle, listing string) string {
	fields := o.fields
	choices := indexes(fields, func(f herb.Field) bool { return f.Filterable })
	if len(choices) == 0 {
		return ""
	}
	params := countingParams(listing)
	bys := pick(g, []int{0, 1, 1, 1, 2, 2})
	for len(params[query.ParamBy]) < bys {
		by := g.by(fields[pick(g, choices)])
		if slices.Contains(params[query.ParamBy], by) {
			break
		}
		params.Add(query.ParamBy, by)
	}
	measure := func() string {
		f := fields[pick(g, choices)]
		same := indexes(fields, func(o herb.Field) bool { return o.Filterable && o.Type == f.Type })
		if query.MeasureRatio.AppliesTo(&f) && g.chance(20) {
			return "ratio:" + f.Name + "/" + fields[pick(g, same)].Name
		}
		return g.measure(f)
	}
	for range g.IntN(5) {
		if m := measure(); !slices.Contains(params[query.ParamMeasure], m) {
			params.Add(query.ParamMeasure, m)
		}
	}
	if g.chance(50) {
		params.Set(query.ParamGroupSort, pick(g, []string{"", "-"})+pick(g, []string{"count", measure(), "by1"}))
		if len(params[query.ParamBy]) == 2 && g.chance(30) {
			params.Set(query.ParamGroupSort, "-by2,by1")
		}
	}
	if g.chance(30) {
		params.Add(query.ParamHaving,
			pick(g, []string{"count[gte]=2", "count[lt]=3", "count=1", "count[ne]=1", measure() + "[empty]=false"}))
	}
	isFew := func(by string) bool { return !strings.Contains(by, ":") }
	if by := params[query.ParamBy]; len(by) > 0 && g.chance(50) && (len(by) == 2 && isFew(by[0]) ||
		slices.ContainsFunc([]string{":year", ":quarter", ":minute", ":weekday", ":month_of_year", ":hour_of_day"},
			func(grain string) bool { return strings.HasSuffix(by[0], grain) })) {
		params.Set(query.ParamFill, "zero") // of other intervals, there may be millions
	}
	usesZone := func(by string) bool {
		_, err := query.ParseAggregate(query.Params{{Name: query.ParamBy, Value: by},
			{Name: query.ParamZone, Value: "UTC"}}.Encode(), fields)
		return err == nil
	}
	if g.chance(40) && slices.ContainsFunc(params[query.ParamBy], usesZone) {
		params.Set(query.ParamZone, pick(g, []string{"UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu"}))
	}
	if r, err := query.ParseAggregate(params.Encode(), fields); err == nil {
		for i, b := range r.By {
			if g.chance(20) || r.Fill && g.chance(50) {
				g.selectLabels(params, []string{query.ParamGroup, query.ParamSeries}[i], o, b, r.Zone)
			}
		}
	}
	for _, p := range []struct {
		name   string
		values []int
	}{{query.ParamTopGroups, []int{1, 2, 5, 1000}}, {query.ParamOffset, []int{0, 1, 3, 1000}}} {
		if g.chance(40) {
			params.Set(p.name, strconv.Itoa(pick(g, p.values)))
		}
	}
	raw := params.Encode()
	if _, err := query.ParseAggregate(raw, fields); err != nil {
		return "" // such as a sort by the label of no group
	}
	return raw
}

// selectLabels adds labels of groups to return: of groups that occur, of intervals after these, and
// some that no group has.
func (g *generator) selectLabels(params url.Values, param string, o *Oracle, b query.By, zone *time.Location) {
	for range 1 + g.IntN(4) {
		l := label{text: pick(g, []string{"0", "10", "2024", "2024-02", "2024-Q1", "10:00", "nonsense"})}
		if len(o.records) > 0 && g.chance(85) {
			value := pick(g, o.records)[b.Field]
			elements := parts(o.fields[b.Field], value)
			if _, missing := missingPosition(o.fields[b.Field], value); !missing && len(elements) > 0 {
				l = o.label(b, pick(g, elements), zone)
				for range pick(g, []int{0, 0, 1, 2, 3}) {
					if (b.Grain != "" || b.Width != "") && !b.IsCyclic() {
						l = nextLabel(l, b, o.fields[b.Field], zone)
					}
				}
			}
		}
		selected := []label{l}
		o.trimZones(selected, b)
		if len(l.text) <= maxOperand {
			params.Add(param, selected[0].text)
		}
	}
	if g.chance(30) {
		params.Set(param+"[empty]", "true")
	}
}

func (g *generator) by(f herb.Field) string {
	intervals := map[herb.Type][]string{
		herb.TypeNumber: {":10", ":0.5", ":3", ":1000", ":0.07", ":log", ":log0.01", ":log100"},
		herb.TypeDate:   {":year", ":quarter", ":month", ":week", ":day", ":weekday", ":month_of_year"},
		herb.TypeDateTime: {":year", ":quarter", ":month", ":week", ":day", ":hour", ":weekday", ":month_of_year",
			":hour_of_day"},
		herb.TypeTime:     {":hour", ":minute", ":hour_of_day"},
		herb.TypeDuration: {":600", ":0.5", ":86400"},
	}[f.Type]
	if f.Type == herb.TypeDate {
		switch format := f.Notation.DateFormat; {
		case strings.Contains(format, "%V"):
			intervals = []string{":year", ":quarter", ":month", ":week", ":month_of_year"}
		case strings.Contains(format, "%q"):
			intervals = []string{":year", ":quarter"}
		case format != "" && !strings.Contains(format, "%d"):
			intervals = []string{":year", ":quarter", ":month", ":month_of_year"}
		}
	}
	return f.Name + pick(g, append([]string{""}, intervals...))
}

func (g *generator) measure(f herb.Field) string {
	kinds := []string{"filled", "distinct"}
	switch f.Type {
	case herb.TypeNumber, herb.TypeDuration:
		kinds = append(kinds, "sum", "mean", "stddev", "median", "p0", "p25", "p90", "p100", "min", "max")
	case herb.TypeText, herb.TypeDate, herb.TypeDateTime, herb.TypeTime:
		kinds = append(kinds, "min", "max")
	}
	if g.chance(10) {
		return "count"
	}
	return pick(g, kinds) + ":" + f.Name
}
