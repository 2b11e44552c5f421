package query

import (
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// MeasureKind is what a measure computes.
type MeasureKind string

// The kinds of measures. Missing values are ignored by all but MeasureCount.
const (
	MeasureCount    MeasureKind = "count"    // records
	MeasureFilled   MeasureKind = "filled"   // records that have a value
	MeasureDistinct MeasureKind = "distinct" // distinct values; for lists, distinct elements
	MeasureSum      MeasureKind = "sum"      // exact, with as many decimals as the value with the most
	MeasureMean     MeasureKind = "mean"     // rounded to MeanDigits
	// sample standard deviation (n-1), rounded to MeanDigits; of at least two values
	MeasureStdDev     MeasureKind = "stddev"
	MeasureMedian     MeasureKind = "median" // exact; the mean of the two middle values if there are two
	MeasurePercentile MeasureKind = "p"      // nearest rank, a value that occurs
	MeasureMin        MeasureKind = "min"
	MeasureMax        MeasureKind = "max"
	MeasureRatio      MeasureKind = "ratio" // sum of a field divided by the sum of another one, rounded to MeanDigits
)

// MeanDigits is the maximum number of significant digits of a mean, a standard deviation and a
// ratio, which are rounded half to even.
const MeanDigits = 15

// measureKinds lists the kinds that apply to a field, as messages write them.
var measureKinds = []MeasureKind{
	MeasureFilled, MeasureDistinct, MeasureSum, MeasureMean, MeasureStdDev, MeasureMedian, MeasurePercentile,
	MeasureMin, MeasureMax,
	MeasureRatio,
}

// MeasureKinds returns all kinds of measures.
func MeasureKinds() []MeasureKind { return append([]MeasureKind{MeasureCount}, measureKinds...) }

// AppliesTo reports whether a field has measures of a kind.
func (k MeasureKind) AppliesTo(f *herb.Field) bool {
	if !f.Filterable {
		return false
	}
	switch k {
	case MeasureFilled, MeasureDistinct:
		return true
	case MeasureMin, MeasureMax:
		return f.Type != herb.TypeList && f.Type != herb.TypeBoolean
	default:
		return f.Type == herb.TypeNumber || f.Type == herb.TypeDuration
	}
}

// needsAddition reports whether a measure is computed by adding values.
func (k MeasureKind) needsAddition() bool {
	switch k {
	case MeasureSum, MeasureMean, MeasureStdDev, MeasureMedian, MeasureRatio:
		return true
	}
	return false
}

// ResultType returns the type of the values of a measure of a field. Sums, means, standard
// deviations and medians of durations are durations; ratios are numbers.
func (k MeasureKind) ResultType(field herb.Type) herb.Type {
	if !k.IsComputed() || field == herb.TypeDuration && k.needsAddition() && k != MeasureRatio {
		return field
	}
	return herb.TypeNumber
}

// IsComputed reports whether a measure is computed, rather than one of the values of the field. In
// either case numbers are in plain decimal notation and durations are H:MM:SS, whatever the
// notation of the field.
func (k MeasureKind) IsComputed() bool {
	return k != MeasureMin && k != MeasureMax && k != MeasurePercentile
}

// Measure is a value that is computed for each group.
type Measure struct {
	Name    string // as in the request
	Kind    MeasureKind
	Field   int // position; -1 for MeasureCount
	Percent int // of MeasurePercentile, from 0 to 100
	Divisor int // position of the second field of MeasureRatio
}

// Unit returns the currency or percent sign of the values; empty if they have none.
func (m Measure) Unit(fields []herb.Field) string {
	switch m.Kind {
	case MeasureCount, MeasureFilled, MeasureDistinct:
		return ""
	case MeasureRatio:
		if fields[m.Divisor].Notation.Affix != "" {
			return ""
		}
	}
	return fields[m.Field].Notation.Affix
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
		fields := ":field"
		if k == MeasureRatio {
			fields = ":field/field"
		}
		names = append(names, k.example()+fields)
	}
	return names
}

// example returns the kind as requests write it, with the percent of a percentile.
func (k MeasureKind) example() string {
	if k == MeasurePercentile {
		return "p90"
	}
	return string(k)
}

// MeasuresWithoutAddition returns the kinds of measures of numbers that are not computed by adding
// values, as requests write them.
func MeasuresWithoutAddition() (names []string) {
	for _, k := range measureKinds {
		if !k.needsAddition() {
			names = append(names, k.example())
		}
	}
	return names
}
