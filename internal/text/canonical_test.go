package text_test

import (
	"math/big"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	numbers := func(n herb.Notation) herb.Field { return herb.Field{Type: herb.TypeNumber, Notation: n} }
	var (
		plain    = numbers(herb.Notation{Missing: []string{"NA", "NaN"}})
		dollars  = numbers(herb.Notation{Group: ",", Affix: "$"})
		percent  = numbers(herb.Notation{Affix: "%"})
		german   = numbers(herb.Notation{Group: ".", Decimal: ","})
		french   = numbers(herb.Notation{Group: " ", Decimal: ","})
		swiss    = numbers(herb.Notation{Group: "'"})
		padded   = numbers(herb.Notation{Padded: true})
		date     = herb.Field{Type: herb.TypeDate}
		european = herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%d/%m/%Y"}}
		named    = herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%b %d, %Y"}}
		datetime = herb.Field{Type: herb.TypeDateTime}
		american = herb.Field{Type: herb.TypeDateTime, Notation: herb.Notation{DateFormat: "%m/%d/%y %I:%M %p"}}
		boolean  = herb.Field{Type: herb.TypeBoolean}
		german2  = herb.Field{Type: herb.TypeBoolean,
			Notation: herb.Notation{True: []string{"ja", "1"}, False: []string{"nein", "0"}}}
	)
	const missing, invalid = "missing", "invalid"
	for _, tt := range []struct {
		name  string
		field herb.Field
		cases map[string]string
	}{
		{"plain numbers", plain, map[string]string{
			"25": "25", "-25.50": "-25.50", ".5": "0.5", "-.5": "-0.5", "+3": "3", " 7 ": "7", "\u00a07": "7",
			"\u22125": "-5", "": missing,
			"NA": missing, " NaN ": missing, "  ": missing, "na": invalid, "1,5": invalid, "007": invalid,
			"00.5": invalid, "1.": "1", "-34.": "-34", "1.e2": "100", "1..": invalid,
			".": invalid, "+": invalid, "--5": invalid, "$5": invalid, "5%": invalid, "1 2": invalid, "Inf": invalid,
		}},
		{"exponents", plain, map[string]string{
			"1e5": "100000", "4e+06": "4000000", "1.5E-3": "0.0015", "-1.25e1": "-12.5", "0e9": "0", "0.5e1": "5",
			"0.05e1": "0.5", "123e-2": "1.23",
			"1e400": "1" + strings.Repeat("0", 400), "1e-400": "0." + strings.Repeat("0", 399) + "1", "1e401": invalid,
			"1e-401":                 invalid,
			"1e99999999999999999999": invalid, "1e": invalid, "e5": invalid, "1e5.5": invalid, "1e+": invalid,
			".e1": invalid,
		}},
		{"dollars", dollars, map[string]string{
			"$1,234,567.89": "1234567.89", "-$5": "-5", "$-5": "-5", "$ 5": "5", "5 $": "5", "1234": "1234",
			"$1,23": invalid, "$12,34,567": "1234567", "$1,42,782": "142782", "$123,45,678": invalid,
			"$1,23,456,789": invalid, "$1,234,56,789": invalid,
			"$1234,567": invalid, "$,123": invalid, "$0,123": invalid, "$1,,234": invalid, "€5": invalid, "$": invalid,
			"-$-5": invalid,
		}},
		{"percent", percent, map[string]string{"45%": "45", "4.5 %": "4.5", "-1%": "-1", "45": "45", "45%%": invalid}},
		{"points between thousands", german, map[string]string{
			"1.234,50": "1234.50", "1.234": "1234", "0,5": "0.5", ",5": "0.5", "12.5": invalid, "1,5,5": invalid,
			"1,5e2": "150",
		}},
		{"blanks between thousands", french, map[string]string{
			"1 234,5": "1234.5", "1\u00a0234\u202f567": "1234567", "1\u2009234": "1234", "1.5": invalid,
			"1  234": invalid,
		}},
		{"apostrophes", swiss, map[string]string{"1'234.5": "1234.5", "1’234": "1234"}},
		{"padded", padded, map[string]string{"00042": "42", "0": "0", "000": "0", "-007.5": "-7.5"}},
		{"dates", date, map[string]string{
			"2024-02-29": "2024-02-29", " 2024-02-29": "2024-02-29", "2023-02-29": invalid, "2024-2-9": invalid,
			"2024-02-29T10:00": invalid,
			"":                 missing, "NA": invalid,
		}},
		{"days first", european, map[string]string{
			"31/12/2024": "2024-12-31", "1/2/2024": "2024-02-01", "12/31/2024": invalid, "2024-02-29": invalid,
			"1/2/24": invalid, "1/2/20245": invalid,
		}},
		{"names of months", named, map[string]string{
			"Feb 29, 2024": "2024-02-29", "february 9, 2024": "2024-02-09", "SEPT 1, 2024": "2024-09-01",
			"Febr 9, 2024": invalid, "Marz 1, 2024": invalid,
			"May 31, 0001": "0001-05-31",
		}},
		{"datetimes", datetime, map[string]string{
			"2024-02-29T10:00":               "2024-02-29T10:00:00.000000000Z",
			"2024-02-29 10:00:01.5":          "2024-02-29T10:00:01.500000000Z",
			"2024-02-29T23:30:00-01:00":      "2024-03-01T00:30:00.000000000Z",
			"2024-02-29 10:00:00+0530":       "2024-02-29T04:30:00.000000000Z",
			"2024-02-29 10:00:00+02":         "2024-02-29T08:00:00.000000000Z",
			"2024-02-29T10:00:00,123456789Z": "2024-02-29T10:00:00.123456789Z",
			"2024-02-29 10:00 UTC":           "2024-02-29T10:00:00.000000000Z",
			"2024-02-29":                     "2024-02-29T00:00:00.000000000Z",
			"2024-02-29T24:00":               invalid, "2024-02-29T10:60": invalid, "2024-02-29T1:00": invalid,
			"2024-02-29T10":                   invalid,
			"2024-02-29T10:00:00.1234567890Z": invalid, "2024-02-29T10:00+1": invalid, "2024-02-29T10:00 CET": invalid,
			"2024-02-29x10:00":          invalid,
			"0000-01-01T00:00:00+01:00": invalid, "9999-12-31T23:00:00-01:00": invalid, "2024-02-29T10:00:00.": invalid,
			"": missing,
		}},
		{"halves of days", american, map[string]string{
			"2/29/24 3:05 PM": "2024-02-29T15:05:00.000000000Z", "2/28/69 12:00 am": "1969-02-28T00:00:00.000000000Z",
			"2/29/24 13:05 PM": invalid, "2/29/24 0:05 AM": invalid, "2/29/24 3:05": invalid,
		}},
		{"booleans", boolean, map[string]string{
			"true": "true", "FALSE": "false", "Yes": "true", "nO": "false", "t": "true", "F": "false", "y": "true",
			"N": "false", " true ": "true",
			"1": invalid, "on": invalid, "": missing, "truee": invalid, "\x14rue": invalid,
		}},
		{"words for booleans", german2, map[string]string{"ja": "true", "0": "false", "Ja": invalid, "true": invalid}},
		{"text", herb.Field{Type: herb.TypeText}, map[string]string{" NA ": " NA ", "": missing}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for value, want := range tt.cases {
				got, status := text.Canonical(&tt.field, value)
				switch status {
				case text.Missing:
					got = missing
				case text.Invalid:
					got = invalid
				}
				if got != want {
					t.Errorf("Canonical(%q) = %q; want %q", value, got, want)
				}
			}
		})
	}
}

func TestOperand(t *testing.T) {
	t.Parallel()
	german := herb.Field{Type: herb.TypeNumber, Notation: herb.Notation{Group: ".", Decimal: ",", Affix: "€",
		Missing: []string{"--"}}}
	european := herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%d.%m.%Y"}}
	months := herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%m/%Y"}}
	quarters := herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%YQ%q"}}
	weeks := herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%G-W%V"}}
	words := herb.Field{Type: herb.TypeBoolean, Notation: herb.Notation{True: []string{"1"}, False: []string{"0"}}}
	for _, tt := range []struct {
		name        string
		field       herb.Field
		value, want string
		status      text.Status
	}{
		{"own notation", german, "1.234,5 €", "1234.5", text.Valid},
		{"standard notation", german, "12.5", "12.5", text.Valid},
		{"own notation first", german, "1.234", "1234", text.Valid},
		{"marker", german, "--", "", text.Missing},
		{"neither", german, "12.5 $", "", text.Invalid},
		{"own date", european, "29.2.2024", "2024-02-29", text.Valid},
		{"ISO date", european, "2024-02-29", "2024-02-29", text.Valid},
		{"own month", months, "1/2024", "2024-01-01", text.Valid},
		{"ISO month", months, "2024-01", "2024-01-01", text.Valid},
		{"first day of a month", months, "2024-01-01", "2024-01-01", text.Valid},
		{"no month", months, "2024-13", "", text.Invalid},
		{"quarter of months", months, "2024-Q1", "", text.Invalid},
		{"month of days", european, "2024-02", "", text.Invalid},
		{"own quarter", quarters, "2024Q4", "2024-10-01", text.Valid},
		{"ISO quarter", quarters, "2024-Q4", "2024-10-01", text.Valid},
		{"no quarter", quarters, "2024Q0", "", text.Invalid},
		{"ISO week", weeks, "2025-W01", "2024-12-30", text.Valid},
		{"week that its year lacks", weeks, "2024-W53", "", text.Invalid},
		{"no week", weeks, "2024-W00", "", text.Invalid},
		{"own boolean", words, "1", "true", text.Valid},
		{"standard boolean", words, "false", "false", text.Valid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, status := text.Operand(&tt.field, tt.value)
			if got != tt.want || status != tt.status {
				t.Errorf("Operand(%q) = %q, %d; want %q, %d", tt.value, got, status, tt.want, tt.status)
			}
			if status != text.Valid {
				return
			}
			if again, _ := text.Operand(&tt.field, text.Localize(&tt.field, got)); again != got {
				t.Errorf("Localize(%q) is read as %q", got, again)
			}
		})
	}
}

func TestMissingPosition(t *testing.T) {
	t.Parallel()
	f := herb.Field{Type: herb.TypeNumber, Notation: herb.Notation{Missing: []string{"--", "NA"}}}
	for value, want := range map[string]int{"--": 0, " NA": 1, "": 2, " ": 2, "5": -1, "na": -1} {
		if got := text.MissingPosition(&f, value); got != want {
			t.Errorf("MissingPosition(%q) = %d; want %d", value, got, want)
		}
	}
	if got := text.MissingPosition(&herb.Field{Type: herb.TypeText, Notation: f.Notation}, "NA"); got != -1 {
		t.Errorf("NA is missing in a text field")
	}
}

func TestParseDateFormat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, format, want string
		typ                herb.Type
		ok                 bool
	}{
		{"date", "%d/%m/%Y", "%d/%m/%Y", herb.TypeDate, true},
		{"abbreviations", "%F %T", "%Y-%m-%d %H:%M:%S", herb.TypeDateTime, true},
		{"full names", "%A, %B %-d, %Y", "%a, %b %d, %Y", herb.TypeDate, true},
		{"months", "%B %Y", "%b %Y", herb.TypeDate, true},
		{"months in two notations", "%Y-%m|%m/%Y", "%Y-%m|%m/%Y", herb.TypeDate, true},
		{"quarters", "%Y-Q%q", "%Y-Q%q", herb.TypeDate, true},
		{"weeks", "%G-W%V", "%G-W%V", herb.TypeDate, true},
		{"months and days", "%Y-%m|%Y-%m-%d", "", herb.TypeDate, false},
		{"days of quarters", "%Y-Q%q-%d", "", herb.TypeDate, false},
		{"weeks without a year of weeks", "%Y-W%V", "", herb.TypeDate, false},
		{"years", "%Y", "", herb.TypeDate, false},
		{"months with a time", "%Y-%m %H:%M", "", herb.TypeDateTime, false},
		{"date with a time", "%Y-%m-%d %H:%M", "", herb.TypeDate, false},
		{"datetime without a time", "%Y-%m-%d", "", herb.TypeDateTime, false},
		{"half of the day missing", "%Y-%m-%d %I:%M", "", herb.TypeDateTime, false},
		{"unsupported", "%Y-%j", "", herb.TypeDate, false},
		{"trailing percent", "%Y-%m-%d%", "", herb.TypeDate, false},
	} {
		got, err := text.ParseDateFormat(tt.typ, tt.format)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%s: ParseDateFormat(%q) = %q, %v; want %q", tt.name, tt.format, got, err, tt.want)
		}
	}
}

// FuzzCanonicalNumber compares canonical numbers with package big, which also reads exponents.
func FuzzCanonicalNumber(f *testing.F) {
	for _, s := range []string{"1e5", "-.5e-3", "+12.5E+10", "0.00e9", "7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, status := text.Canonical(&herb.Field{Type: herb.TypeNumber}, s)
		if status != text.Valid {
			return
		}
		want, ok := new(big.Rat).SetString(strings.Replace(strings.Trim(s, " \t\r\n\u00a0\u202f\u2009"),
			"\u2212", "-", 1))
		if !ok {
			t.Fatalf("%q is not a number, but its canonical form is %q", s, got)
		}
		if n, ok := new(big.Rat).SetString(got); !ok || n.Cmp(want) != 0 || !text.IsNumber([]byte(got)) {
			t.Fatalf("Canonical(%q) = %q", s, got)
		}
	})
}
