package query

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Limits of an aggregate request. Exceeding one is an error that names it.
const (
	MaxBy             = 2
	MaxMeasures       = 8
	DefaultGroups     = 100
	MaxGroupsReturned = 1000
	MaxGroups         = 1_000_000
)

// Parameters of aggregate requests in addition to those of a listing and ParamOffset.
const (
	ParamBy        = "_by"
	ParamMeasure   = "_measure"
	ParamGroupSort = "_sort"
	ParamTopGroups = "_top"
	ParamHaving    = "_having"
	ParamFill      = "_fill"
	ParamZone      = "_zone"
)

// AggregateRequest asks for measures of groups of the records that match the filters and the search
// of a request.
type AggregateRequest struct {
	Request  *Request // page and order are ignored
	By       []By     // none means one group of all records
	Measures []Measure
	Returned int         // number of measures to return; those after them are only sorted or filtered by
	Sort     []GroupSort // most significant first; ties are in the order of By
	Having   []Condition // on the values of measures: Field is the position of a measure
	Top      int
	Offset   int
	Fill     bool           // adds the empty intervals between the first and the last
	Zone     *time.Location // of datetimes that have a zone; nil means UTC
}

// By is what records are grouped by: the values of a field, or intervals of them.
type By struct {
	Name  string // as in the request
	Field int    // position
	Grain Grain  // of dates and datetimes; empty for none
	Width string // of the intervals of numbers, in plain decimal notation; empty for none
}

// HasIntervals reports whether groups are intervals of values.
func (b By) HasIntervals() bool { return b.Grain != "" || b.Width != "" }

// GroupSort is a label or a measure by which groups are sorted. Missing values are last in both
// directions.
type GroupSort struct {
	By      int // position in AggregateRequest.By; -1 if it is a measure
	Measure int // position in AggregateRequest.Measures
	Desc    bool
}

// MeasureKind is what a measure computes.
type MeasureKind string

// The kinds of measures. Missing values are ignored by all but MeasureCount.
const (
	MeasureCount      MeasureKind = "count"    // records
	MeasureFilled     MeasureKind = "filled"   // records that have a value
	MeasureDistinct   MeasureKind = "distinct" // distinct values; for lists, distinct elements
	MeasureSum        MeasureKind = "sum"      // exact, with as many decimals as the value with the most
	MeasureMean       MeasureKind = "mean"     // rounded to MeanDigits
	MeasureMedian     MeasureKind = "median"   // exact; the mean of the two middle values if there are two
	MeasurePercentile MeasureKind = "p"        // nearest rank, a value that occurs
	MeasureMin        MeasureKind = "min"
	MeasureMax        MeasureKind = "max"
)

// MeanDigits is the maximum number of significant digits of a mean, which is rounded half to even.
const MeanDigits = 15

// measureKinds lists the kinds that apply to a field, as messages write them.
var measureKinds = []MeasureKind{
	MeasureFilled, MeasureDistinct, MeasureSum, MeasureMean, MeasureMedian, MeasurePercentile, MeasureMin, MeasureMax,
}

// appliesTo reports whether a kind of measure applies to fields of a type.
func (k MeasureKind) appliesTo(t herb.Type) bool {
	switch k {
	case MeasureFilled, MeasureDistinct:
		return true
	case MeasureMin, MeasureMax:
		return t != herb.TypeList && t != herb.TypeBoolean
	default:
		return t == herb.TypeNumber
	}
}

// IsComputed reports whether the value of a measure is a number in plain decimal notation, rather than
// a value of the field as written.
func (k MeasureKind) IsComputed() bool {
	return k != MeasureMin && k != MeasureMax && k != MeasurePercentile
}

// Measure is a value that is computed for each group.
type Measure struct {
	Name    string // as in the request
	Kind    MeasureKind
	Field   int // position; -1 for MeasureCount
	Percent int // of MeasurePercentile, from 0 to 100
}

// ValueFields returns the fields of a record of measures: conditions and sorts on measures compare its
// values as those of any other record.
func (r *AggregateRequest) ValueFields() []herb.Field {
	fields := make([]herb.Field, len(r.Measures))
	for i, m := range r.Measures {
		f := herb.Field{Type: herb.TypeNumber}
		if !m.Kind.IsComputed() {
			f = r.Request.fields[m.Field]
			f.Searchable, f.Notation.Missing = false, nil
		}
		f.Name, f.Filterable = m.Name, true
		fields[i] = f
	}
	return fields
}

// Units returns the currency and percent signs of fields that are ignored by sums, means and medians, by
// the name of the field.
func (r *AggregateRequest) Units() map[string]string {
	units := map[string]string{}
	for _, m := range r.Measures[:r.Returned] {
		if m.Field < 0 || !m.Kind.IsComputed() || m.Kind == MeasureFilled || m.Kind == MeasureDistinct {
			continue
		}
		if f := r.Request.fields[m.Field]; f.Notation.Affix != "" {
			units[f.Name] = f.Notation.Affix
		}
	}
	return units
}

// ByElements reports whether records are grouped by the elements of a list, so that a record can be in
// several groups.
func (r *AggregateRequest) ByElements() bool {
	return slices.ContainsFunc(r.By, func(b By) bool { return r.Request.fields[b.Field].Type == herb.TypeList })
}

// Aggregate is the result of an aggregate request.
type Aggregate struct {
	Total  int // records that match the filters and the search
	Groups int // groups that meet AggregateRequest.Having
	Rows   []GroupRow
}

// GroupRow is one group.
type GroupRow struct {
	By     []string `json:"by"`     // labels; empty for missing values
	Values []string `json:"values"` // of the measures; empty if a measure has none
}

// AggregateParams returns the reserved parameters of aggregate requests.
func AggregateParams() []string {
	return []string{
		ParamBy, ParamMeasure, ParamGroupSort, ParamTopGroups, ParamOffset, ParamHaving, ParamFill, ParamZone,
		ParamSearch, ParamAPIKey, ParamFilter, ParamVersion,
	}
}

// ParseAggregate parses an aggregate request from the raw query of a URL. Errors have herb.CodeInvalid
// and say what is valid.
func ParseAggregate(raw string, fields []herb.Field) (*AggregateRequest, error) {
	a := &AggregateRequest{Request: newRequest(fields), Top: DefaultGroups}
	var measures, having []string
	var sort string
	scope := "aggregates" + countScope
	err := a.Request.parse(raw, scope, AggregateParams(), func(p Param) (err error) {
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
			a.Top, err = parseWhole(p, 1, MaxGroupsReturned, "a whole number from 1 to %d")
		case ParamOffset:
			a.Offset, err = parseWhole(p, 0, MaxGroups, "a whole number from 0 to %d")
		case ParamFill:
			a.Fill = true
			err = checkChoice(p, "zero")
		case ParamZone:
			a.Zone, err = parseZone(p.Value)
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
	if err != nil {
		return nil, err
	}
	return a, nil
}

// parseZone loads a time zone of the IANA database. It is embedded, so that every machine has the same.
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
	use := fieldUse{isFilterable, "field %q in " + strconv.Quote(ParamBy), "is not filterable, so records are not grouped by it", "filterable fields"}
	var err error
	if b.Field, err = resolveField(r.Request.fields, name, use); err != nil {
		return err
	}
	if name != value {
		if err := b.setInterval(r.Request.fields[b.Field], interval); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(r.By, func(o By) bool { return o.Field == b.Field && o.Grain == b.Grain && o.Width == b.Width }) {
		return herb.Invalidf("%s=%s is given more than once; give it once", ParamBy, clip(value))
	}
	r.By = append(r.By, b)
	return nil
}

// setInterval sets the grain or the width of the intervals of a field.
func (b *By) setInterval(f herb.Field, interval string) error {
	switch grains := Grains(f.Type); {
	case len(grains) > 0:
		if b.Grain = Grain(interval); !slices.Contains(grains, b.Grain) {
			return herb.Invalidf("unknown grain %q of the %s field %q%s valid grains: %s", clip(interval), f.Type, f.Name,
				text.Suggestion(clip(interval), grainNames(grains)), strings.Join(grainNames(grains), ", "))
		}
	case f.Type == herb.TypeNumber:
		d, ok := parseDecimal(&herb.Field{Type: herb.TypeNumber}, interval)
		if !ok || d.unscaled.Sign() <= 0 {
			return herb.Invalidf("the width %q of the buckets of %q is not a positive number; write it in plain decimal notation, such as %s:10 or %s:0.5",
				clip(interval), f.Name, f.Name, f.Name)
		}
		b.Width = d.String()
	default:
		return herb.Invalidf("%s=%s:%s: %q is a %s field, which has no intervals; write %s=%s", ParamBy, f.Name, clip(interval), f.Name, f.Type, ParamBy, f.Name)
	}
	return nil
}

func (r *AggregateRequest) setMeasures(names []string) error {
	if len(names) == 0 {
		names = []string{string(MeasureCount)}
	}
	for _, name := range names {
		if r.measure(name) >= 0 {
			return herb.Invalidf("%s=%s is given more than once; give it once", ParamMeasure, clip(name))
		}
		if len(r.Measures) == MaxMeasures {
			return herb.Invalidf("%q is given more than %d times; give at most %d", ParamMeasure, MaxMeasures, MaxMeasures)
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
	m := Measure{Name: name, Field: -1, Kind: MeasureCount}
	if name != string(MeasureCount) {
		kind, field, _ := strings.Cut(name, ":")
		if percent, ok := parsePercent(kind); ok {
			m.Kind, m.Percent = MeasurePercentile, percent
		} else if m.Kind = MeasureKind(kind); m.Kind == MeasurePercentile || !slices.Contains(measureKinds, m.Kind) {
			return 0, herb.Invalidf("unknown measure %q in %q%s valid measures: %s", clip(name), param,
				text.Suggestion(clip(kind), measureNames()), strings.Join(measureNames(), ", "))
		}
		use := fieldUse{
			func(f herb.Field) bool { return f.Filterable && m.Kind.appliesTo(f.Type) },
			"field %q in " + strconv.Quote(clip(name)), "has no " + kind, "fields with a " + kind,
		}
		var err error
		if m.Field, err = resolveField(r.Request.fields, field, use); err != nil {
			return 0, err
		}
	}
	r.Measures = append(r.Measures, m)
	return len(r.Measures) - 1, nil
}

// parsePercent parses the name of a percentile, from p0 to p100.
func parsePercent(s string) (percent int, ok bool) {
	digits, ok := strings.CutPrefix(s, string(MeasurePercentile))
	percent, err := strconv.Atoi(digits)
	return percent, ok && err == nil && onlyDigits(digits) && percent <= 100 && strconv.Itoa(percent) == digits
}

// measureNames returns the kinds of measures as requests write them.
func measureNames() []string {
	names := []string{string(MeasureCount)}
	for _, k := range measureKinds {
		if k == MeasurePercentile {
			names = append(names, "p90:field")
		} else {
			names = append(names, string(k)+":field")
		}
	}
	return names
}

// setSort parses a comma-separated list of labels and measures, each with a - before it if its order is
// descending. A measure of a field whose name contains a comma can only be given alone.
func (r *AggregateRequest) setSort(value string) error {
	if value == "" {
		return nil
	}
	parts := strings.Split(value, ",")
	if _, field, ok := strings.Cut(value, ":"); ok && herb.FieldIndex(r.Request.fields, field) >= 0 {
		parts = []string{value}
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
			return herb.Invalidf("%q names label %q, but %q is given %d times", ParamGroupSort, clip(name), ParamBy, len(r.By))
		default:
			if key.Measure, err = r.addMeasure(name, ParamGroupSort); err != nil {
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
			return herb.Invalidf("%s is %q; write measure=value or measure[operator]=value, such as count[gte]=10", ParamHaving, clip(value))
		}
		name, _ := splitOperator(param)
		if _, err := r.addMeasure(name, ParamHaving); err != nil {
			return err
		}
	}
	fp := filterParser{fields: r.ValueFields()}
	for _, value := range values {
		if err := fp.add(Param{ParamFilter, value}); err != nil {
			return err
		}
	}
	r.Having = fp.conditions()
	return nil
}

func (r *AggregateRequest) checkFill() error {
	if r.Fill && (len(r.By) != 1 || !r.By[0].HasIntervals()) {
		return herb.Invalidf("%s adds empty intervals, so it needs exactly one %q with a grain or a width, such as %s=date:month",
			ParamFill, ParamBy, ParamBy)
	}
	return nil
}

// IsExpensive reports whether computing the measures takes work that grows with the number of records of
// the dataset.
func (r *AggregateRequest) IsExpensive(records int) bool { return records > expensiveRecords }
