package herb

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Frequency is how often a dataset changes, as its publisher declares: a word such as monthly, or a
// period such as 30d. Empty: it is not declared.
type Frequency string

// FrequencyNever is the frequency of a dataset that no edition follows.
const FrequencyNever Frequency = "never"

const day = 24 * time.Hour

// namedFrequencies are the words, each with its period, and other words for it. A month has as many
// days as the longest one.
func namedFrequencies() []namedFrequency {
	return []namedFrequency{
		{"hourly", time.Hour, ""}, {"daily", day, ""}, {"weekly", 7 * day, ""},
		{"biweekly", 14 * day, "fortnightly"}, {"monthly", 31 * day, ""}, {"quarterly", 92 * day, ""},
		{"semiannual", 184 * day, "annual_2"}, {"annual", 366 * day, "yearly"}, {"biennial", 731 * day, ""},
		{FrequencyNever, 0, "historical"},
	}
}

type namedFrequency struct {
	name   Frequency
	period time.Duration
	alias  string // "annual_2": of the frequencies of the Publications Office of the EU
}

// ParseFrequency parses a word, a period such as 30d, a duration of ISO 8601 such as P1M or R/P1M,
// and an address that ends with a word, such as those of Dublin Core.
func ParseFrequency(s string) (f Frequency, ok bool) {
	s = strings.ToLower(s)
	if period, ok := parseISOPeriod(s); ok {
		return Frequency(FormatPeriod(period)), true
	}
	word := s[strings.LastIndexAny(s, "/#")+1:]
	for _, named := range namedFrequencies() {
		if word == string(named.name) || word == named.alias && word != "" {
			return named.name, true
		}
	}
	_, ok = ParsePeriod(s)
	return Frequency(s), ok
}

// parseISOPeriod parses a duration with one unit of ISO 8601 in lower case, repeated or not.
func parseISOPeriod(s string) (_ time.Duration, ok bool) {
	digits, ok := strings.CutPrefix(strings.TrimPrefix(s, "r/"), "p")
	if !ok {
		return 0, false
	}
	isTime := strings.HasPrefix(digits, "t")
	for _, u := range []struct {
		name string
		unit time.Duration
	}{{"y", 366 * day}, {"m", 31 * day}, {"w", 7 * day}, {"d", day}, {"h", time.Hour}} {
		number, ok := strings.CutSuffix(strings.TrimPrefix(digits, "t"), u.name)
		ok = ok && isTime == (u.unit == time.Hour)
		if n, err := strconv.Atoi(number); ok && err == nil && n >= 1 && n <= int(longestPeriod/u.unit) {
			return time.Duration(n) * u.unit, true
		}
	}
	return 0, false
}

// period returns the time between two editions; 0 if no edition is expected.
func (f Frequency) period() time.Duration {
	for _, named := range namedFrequencies() {
		if f == named.name {
			return named.period
		}
	}
	period, _ := ParsePeriod(string(f))
	return period
}

// FreshnessState is whether the next edition of a dataset is due.
type FreshnessState string

// The states.
const (
	Fresh      FreshnessState = "fresh"
	Due        FreshnessState = "due"        // one period has passed since the last change
	Overdue    FreshnessState = "overdue"    // two periods have passed
	Unknown    FreshnessState = "unknown"    // the frequency is not declared
	Historical FreshnessState = "historical" // no edition follows
)

// Freshness is whether a dataset is as new as its publisher declares. It blocks nothing. It is zero
// if the frequency is not declared.
type Freshness struct {
	State    FreshnessState `json:"state"`
	Expected Frequency      `json:"expected"`
	Due      time.Time      `json:"due_at,omitzero"`
	Overdue  time.Time      `json:"overdue_at,omitzero"` // when it becomes overdue, or became
}

// FreshnessAt returns the freshness, at a time, of a dataset that has changed last at another time.
func (f Frequency) FreshnessAt(changed, now time.Time) Freshness {
	period := f.period()
	switch {
	case f == FrequencyNever:
		return Freshness{State: Historical, Expected: f}
	case period == 0, changed.IsZero():
		return Freshness{}
	}
	s := Freshness{Fresh, f, changed.Add(period).UTC(), changed.Add(2 * period).UTC()}
	switch {
	case !now.Before(s.Overdue):
		s.State = Overdue
	case !now.Before(s.Due):
		s.State = Due
	}
	return s
}

// FreshnessAt returns the freshness of the version at a time.
func (v LiveVersion) FreshnessAt(now time.Time) Freshness {
	return v.Expected.FreshnessAt(v.Published, now)
}

// FreshnessAt returns the freshness of the version at a time.
func (d *Dataset) FreshnessAt(now time.Time) Freshness {
	return d.frequency().FreshnessAt(d.Published, now)
}

// frequency returns the declared frequency of a complete description, or of one of a list.
func (d *Dataset) frequency() Frequency {
	if d.Descriptor != nil {
		return cmp.Or(d.Expected, d.Descriptor.Expected)
	}
	return d.Expected
}

// UnmarshalJSON decodes a frequency, or an object whose member @id is one, as in JSON-LD. Others
// are not declared.
func (f *Frequency) UnmarshalJSON(text []byte) error {
	var linked struct {
		ID string `json:"@id"`
	}
	var s string
	if json.Unmarshal(text, &s) != nil {
		_ = json.Unmarshal(text, &linked)
		s = linked.ID
	}
	if parsed, ok := ParseFrequency(s); ok {
		*f = parsed
	}
	return nil
}
