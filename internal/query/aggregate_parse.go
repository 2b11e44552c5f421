package query

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// ParseAggregate parses an aggregate request from the raw query of a URL. Errors have
// herb.CodeInvalid and say what is valid.
func ParseAggregate(raw string, fields []herb.Field) (*AggregateRequest, error) {
	return Split(raw).Aggregate(fields)
}

// Aggregate parses an aggregate request.
func (s String) Aggregate(fields []herb.Field) (*AggregateRequest, error) {
	return s.aggregate(fields, DefaultGroups, MaxGroupsReturned)
}

// AggregateExport parses an aggregate request whose result is streamed: all groups, unless it says
// how many.
func (s String) AggregateExport(fields []herb.Field) (*AggregateRequest, error) {
	return s.aggregate(fields, allGroups, MaxGroups)
}

// aggregate parses an aggregate request that returns a number of groups unless it says how many, up
// to most.
func (s String) aggregate(fields []herb.Field, usual, most int) (*AggregateRequest, error) {
	a := &AggregateRequest{Request: newRequest(fields), Top: usual}
	var measures, having []string
	var sort string
	scope := "aggregates" + countScope
	err := a.Request.parse(s, scope, KindAggregate, func(p Param) (err error) {
		switch p.Name {
		case ParamBy:
			err = a.addBy(p.Value)
		case ParamMeasure:
			measures = append(measures, p.Value)
		case ParamHaving:
			having = append(having, p.Value)
		case ParamGroupSort:
			sort = p.Value
		case ParamTopGroups:
			a.Top, err = parseWhole(p, 1, most, "a whole number from 1 to %d")
		case ParamOffset:
			a.Offset, err = parseWhole(p, 0, MaxGroups, "a whole number from 0 to %d")
		case ParamFill:
			a.Fill = true
			err = checkChoice(p, "zero")
		case ParamZone:
			a.Zone, err = parseZone(p.Value)
		case ParamGroup, ParamSeries:
			err = a.selectLabel(p.Name, p.Value)
		case ParamGroupEmpty, ParamSeriesEmpty:
			err = checkChoice(p, "true")
			if err == nil {
				err = a.selectLabel(p.Name, "")
			}
		}
		return err
	})
	if err == nil {
		err = a.setMeasures(measures)
	}
	if err == nil {
		err = a.setSort(sort)
	}
	if err == nil {
		err = a.setHaving(having)
	}
	if err == nil {
		err = a.checkFill()
	}
	if err == nil {
		err = a.checkLabels()
	}
	if err == nil {
		err = a.checkZone()
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// parseZone loads a time zone of the IANA database. It is embedded, so that every machine has the
// same.
func parseZone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, herb.Invalidf("%s is %q; it must be a time zone of the IANA database, such as Europe/Berlin or UTC",
			ParamZone, clip(name))
	}
	return zone, nil
}

func (r *AggregateRequest) addBy(value string) error {
	if len(r.By) == MaxBy {
		return herb.Invalidf("%q is given more than %d times; give at most %d", ParamBy, MaxBy, MaxBy)
	}
	b := By{Name: value}
	name, interval := value, ""
	if herb.FieldIndex(r.Request.fields, value) < 0 { // an exact name takes precedence
		if i := strings.LastIndexByte(value, ':'); i >= 0 {
			name, interval = value[:i], value[i+1:]
		}
	}
	use := fieldUse{isFilterable, "field %q in " + strconv.Quote(ParamBy),
		"is not filterable, so records are not grouped by it", "filterable fields"}
	var err error
	b.Field, err = resolveField(r.Request.fields, name, use)
	if err != nil {
		return err
	}
	if name != value {
		if err := b.setInterval(r.Request.fields[b.Field], interval); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(r.By, func(o By) bool {
		return o.Field == b.Field && o.Grain == b.Grain && o.Width == b.Width && o.Log == b.Log
	}) {
		return herb.Invalidf("%s=%s is given more than once; give it once", ParamBy, clip(value))
	}
	r.By = append(r.By, b)
	return nil
}

// setInterval sets the grain or the width of the intervals of a field.
func (b *By) setInterval(f herb.Field, interval string) error {
	switch grains := Grains(&f); {
	case len(grains) > 0:
		b.Grain = Grain(interval)
		if !slices.Contains(grains, b.Grain) {
			return herb.Invalidf("unknown grain %q of the %s field %q%s valid grains: %s", clip(interval),
				f.Type, f.Name,
				text.Suggestion(clip(interval), grainNames(grains)), strings.Join(grainNames(grains), ", "))
		}
	case f.Type == herb.TypeNumber || f.Type == herb.TypeDuration:
		if first, ok := strings.CutPrefix(interval, logPrefix); ok && f.Type == herb.TypeNumber {
			return b.setLog(f, first)
		}
		d, ok := parseDecimal(&herb.Field{Type: herb.TypeNumber}, interval)
		if !ok || d.unscaled.Sign() <= 0 {
			if f.Type == herb.TypeDuration {
				return herb.Invalidf("the width %q of the buckets of %q is not a positive number of seconds; write "+
					"it in plain decimal notation, such as %s:600 for ten minutes",
					clip(interval), f.Name, f.Name)
			}
			return herb.Invalidf("the width %q of the buckets of %q is not a positive number; write it in plain "+
				"decimal notation, such as %s:10 or %s:0.5",
				clip(interval), f.Name, f.Name, f.Name)
		}
		b.Width = d.String()
	default:
		return herb.Invalidf("%s=%s:%s: %q is a %s field, which has no intervals; write %s=%s", ParamBy, f.Name,
			clip(interval), f.Name, f.Type, ParamBy, f.Name)
	}
	return nil
}

// logPrefix begins logarithmic intervals of numbers. The width of the first one follows; it is 1 if
// none is given.
const logPrefix = "log"

func (b *By) setLog(f herb.Field, first string) error {
	d, ok := parseDecimal(&herb.Field{Type: herb.TypeNumber}, cmp.Or(first, "1"))
	if !ok || strings.Trim(d.String(), "0.") != "1" {
		return herb.Invalidf("the width %q of the first logarithmic bucket of %q is not a power of ten; write "+
			"%s:log, or such as %s:log0.01",
			clip(first), f.Name, f.Name, f.Name)
	}
	b.Width, b.Log = d.String(), true
	return nil
}

func (r *AggregateRequest) setMeasures(names []string) error {
	if len(names) == 0 {
		names = []string{string(MeasureCount)}
	}
	most := MaxMeasures
	if len(r.By) == 0 {
		most = MaxMeasuresOfAll
	}
	for _, name := range names {
		if r.measure(name) >= 0 {
			return herb.Invalidf("%s=%s is given more than once; give it once", ParamMeasure, clip(name))
		}
		if len(r.Measures) == most {
			return herb.Invalidf("%q is given more than %d times; give at most %d, or %d without %q", ParamMeasure, most,
				MaxMeasures, MaxMeasuresOfAll, ParamBy)
		}
		if _, err := r.addMeasure(name, ParamMeasure); err != nil {
			return err
		}
	}
	r.Returned = len(r.Measures)
	return nil
}

// measure returns the position of a measure, or -1.
func (r *AggregateRequest) measure(name string) int {
	return slices.IndexFunc(r.Measures, func(m Measure) bool { return m.Name == name })
}

// addMeasure returns the position of a measure, which it adds if it is new.
func (r *AggregateRequest) addMeasure(name, param string) (int, error) {
	if i := r.measure(name); i >= 0 {
		return i, nil
	}
	m, err := r.parseMeasure(name, param)
	if err != nil {
		return 0, err
	}
	r.Measures = append(r.Measures, m)
	return len(r.Measures) - 1, nil
}

func (r *AggregateRequest) parseMeasure(name, param string) (m Measure, err error) {
	m = Measure{Name: name, Field: -1, Kind: MeasureCount}
	if name == string(MeasureCount) {
		return m, nil
	}
	kind, field, _ := strings.Cut(name, ":")
	if percent, ok := parsePercent(kind); ok {
		m.Kind, m.Percent = MeasurePercentile, percent
	} else if m.Kind = MeasureKind(kind); m.Kind == MeasurePercentile || !slices.Contains(measureKinds, m.Kind) {
		return m, herb.Invalidf("unknown measure %q in %q%s valid measures: %s", clip(name), param,
			text.Suggestion(clip(kind), measureNames()), strings.Join(measureNames(), ", "))
	}
	use := fieldUse{
		func(f herb.Field) bool { return m.Kind.AppliesTo(&f) },
		"field %q in " + strconv.Quote(clip(name)), "has no " + kind, "fields with a " + kind,
	}
	if m.Kind == MeasureRatio {
		return r.parseRatio(m, field, use)
	}
	m.Field, err = resolveField(r.Request.fields, field, use)
	return m, err
}

// parseRatio sets the fields of a ratio from their names with a slash between them. Names may
// contain slashes as well: the one that separates two fields is found by trying all.
func (r *AggregateRequest) parseRatio(m Measure, names string, use fieldUse) (Measure, error) {
	fields, first, found := r.Request.fields, -1, 0
	positions := map[string]int{} // of the fields that can be divided
	for i, f := range fields {
		if use.allows(f) {
			positions[f.Name] = i
		}
	}
	for i, c := range []byte(names) {
		if c != '/' {
			continue
		}
		if first < 0 {
			first = i
		}
		a, okA := positions[names[:i]]
		b, okB := positions[names[i+1:]]
		if !okA || !okB {
			continue
		}
		found++
		if found > 1 {
			return m, herb.Invalidf(
				"measure %q is ambiguous: it can be %q divided by %q, or %q divided by %q; rename a field",
				clip(m.Name),
				fields[m.Field].Name, fields[m.Divisor].Name, names[:i], names[i+1:])
		}
		m.Field, m.Divisor = a, b
	}
	var err error
	switch {
	case found > 0:
	case first < 0:
		return m, herb.Invalidf("measure %q has one field; write two, as in %s:field/field", clip(m.Name), m.Kind)
	default:
		m.Field, err = resolveField(fields, names[:first], use)
		if err == nil {
			m.Divisor, err = resolveField(fields, names[first+1:], use)
		}
		if err != nil {
			return m, err
		}
	}
	if a, b := fields[m.Field], fields[m.Divisor]; a.Type != b.Type {
		return m, herb.Invalidf("measure %q divides a %s by a %s; give two fields of the same type", clip(m.Name),
			a.Type, b.Type)
	}
	return m, nil
}

// setSort parses a comma-separated list of labels and measures, each with a - before it if its
// order is descending. A measure of a field whose name contains a comma can only be given alone.
func (r *AggregateRequest) setSort(value string) error {
	if value == "" {
		return nil
	}
	parts := strings.Split(value, ",")
	if _, field, ok := strings.Cut(value, ":"); ok && herb.FieldIndex(r.Request.fields, field) >= 0 {
		parts = []string{value}
	} else if _, err := r.parseMeasure(strings.TrimPrefix(value, "-"), ParamGroupSort); err == nil {
		parts = []string{value} // such as a ratio of these fields
	}
	if len(parts) > MaxSortFields {
		return herb.Invalidf("%q has more than %d keys; give at most %d", ParamGroupSort, MaxSortFields, MaxSortFields)
	}
	for _, part := range parts {
		name, desc := strings.CutPrefix(part, "-")
		key := GroupSort{By: -1, Desc: desc}
		label, isLabel := strings.CutPrefix(name, "by")
		position, err := strconv.Atoi(label)
		switch {
		case isLabel && err == nil && position >= 1 && position <= len(r.By):
			key.By = position - 1
		case isLabel && err == nil:
			return herb.Invalidf("%q names label %q, but %q is given %d times", ParamGroupSort, clip(name),
				ParamBy, len(r.By))
		default:
			key.Measure, err = r.addMeasure(name, ParamGroupSort)
			if err != nil {
				return err
			}
		}
		if slices.ContainsFunc(r.Sort, func(s GroupSort) bool { return s.By == key.By && s.Measure == key.Measure }) {
			return herb.Invalidf("%q is given more than once in %q; give it once", clip(name), ParamGroupSort)
		}
		r.Sort = append(r.Sort, key)
	}
	return nil
}

// setHaving parses filters on measures, such as count[gte]=10.
func (r *AggregateRequest) setHaving(values []string) error {
	for _, value := range values {
		param, _, ok := strings.Cut(value, "=")
		if !ok {
			return herb.Invalidf("%s is %q; write measure=value or measure[operator]=value, such as count[gte]=10",
				ParamHaving, clip(value))
		}
		name, _ := splitOperator(param)
		if _, err := r.addMeasure(name, ParamHaving); err != nil {
			return err
		}
	}
	fp := filterParser{fields: r.ValueFields(), moving: &r.Request.moving}
	for _, value := range values {
		if err := fp.add(Param{ParamFilter, value}); err != nil {
			return err
		}
	}
	r.Having = fp.conditions()
	return nil
}

// checkZone rejects a zone that cannot have an effect. Whether a field has values with a zone is
// known when the request is executed.
func (r *AggregateRequest) checkZone() error {
	if r.Request.Resolved() != nil {
		r.AnyZone = true
		return nil
	}
	if r.Zone != nil && !slices.ContainsFunc(r.By, func(b By) bool { return b.UsesZone(r.Request.fields) }) {
		return herb.Invalidf("%s has no effect: it applies to datetimes that are grouped by intervals, as in "+
			"%s=time:day, and no %q is such a group; remove it",
			ParamZone, ParamBy, ParamBy)
	}
	return nil
}

// ErrUnusedZone returns the error of a request with a zone that has no effect, because the values
// of its fields have none.
func (r *AggregateRequest) ErrUnusedZone() error {
	var names []string
	for _, b := range r.By {
		if name := strconv.Quote(r.Request.fields[b.Field].Name); b.UsesZone(r.Request.fields) &&
			!slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return herb.Invalidf("%s has no effect: it applies to datetimes with a zone, and no value of %s has one; remove it",
		ParamZone, strings.Join(names, " or "))
}

func (r *AggregateRequest) checkFill() error {
	if r.Fill && len(r.By) < MaxBy && (len(r.By) == 0 || !r.By[0].HasIntervals()) {
		return herb.Invalidf("%s adds empty intervals or combinations, so it needs a %q with a grain or a width, "+
			"such as %s=date:month, or two %q",
			ParamFill, ParamBy, ParamBy, ParamBy)
	}
	return nil
}

// selectLabel adds a label of the groups to return.
func (r *AggregateRequest) selectLabel(param, label string) error {
	at := 0
	if strings.HasPrefix(param, ParamSeries) {
		at = 1
	}
	if len(r.Labels[at]) == MaxLabels {
		return herb.Invalidf("%q is given more than %d times; give at most %d", param, MaxLabels, MaxLabels)
	}
	r.Labels[at] = append(r.Labels[at], label)
	return nil
}

func (r *AggregateRequest) checkLabels() error {
	for i, labels := range r.Labels {
		if len(labels) > 0 && i >= len(r.By) {
			param := []string{ParamGroup, ParamSeries}[i]
			return herb.Invalidf("%q selects labels of the %s %q, which is not given; add it, or leave %q out", param,
				[]string{"first", "second"}[i], ParamBy, param)
		}
	}
	return nil
}
