package text_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

func TestCanonical_time(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"6:00": "06:00:00", "06:00:00": "06:00:00", " 23:59:60 ": "23:59:60", "23:59:60.50": "23:59:60.5",
		"10:00:00,250": "10:00:00.25",
		"9:05 PM":      "21:05:00", "9:05pm": "21:05:00", "9:05 a.m.": "09:05:00", "12:00 AM": "00:00:00",
		"12:30 p.m.": "12:30:00", "9 pm": "21:00:00",
		"24:00": "24:00:00", "24:00:00.0": "24:00:00", "0:00:00." + strings.Repeat("0", 900) + "1": "00:00:00." +
			strings.Repeat("0", 900) + "1",
		"": "", "9": "", "9:5": "", "24:01": "", "24:00:01": "", "12:60": "", "10:00:60": "", "23:59:61": "",
		"10:00:00Z": "", "10:00+02:00": "",
		"13:00 PM": "", "0:30 am": "", "10:00:00.": "", "-1:00": "", "100:00": "", "10:00:": "", "10:00 xm": "",
		":30": "", "10:00.5": "",
		"0:00:00." + strings.Repeat("1", 1000): "",
	} {
		f := &herb.Field{Type: herb.TypeTime}
		got, status := text.AppendPublished(nil, f, []byte(value))
		if string(got) != want || (status == text.Valid) != (want != "") {
			t.Errorf("%.40q: %.60q, status %d, want %.60q", value, got, status, want)
		}
	}
	formatted := &herb.Field{Type: herb.TypeTime, Notation: herb.Notation{DateFormat: "%H%M|%I.%M %p"}}
	for value, want := range map[string]string{"0930": "09:30:00", "9.30 pm": "21:30:00", "2400": "", "9:30": ""} {
		if got, _ := text.Canonical(formatted, value); got != want {
			t.Errorf("%q in the format %q: %q, want %q", value, formatted.Notation.DateFormat, got, want)
		}
	}
}

func TestCanonical_duration(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"25:10:00": "90600", "6:00:00": "21600", "1:20": "4800", "1:20:30.50": "4830.5", "-0:00:30,5": "-30.5",
		"+1:00": "3600", "\u22121:00": "-3600", "-0:00": "0",
		"1h 20m": "4800", "1h20m30s": "4830", "1 hr 20 mins": "4800", "90 min": "5400", "1.5h": "5400", "500ms": "0.5",
		"0.5 ms": "0.0005", "2d 3h": "183600",
		"1 Hour, 20 Minutes": "4800", "1 w": "604800", "1 day 02:03:04": "93784", "1 day, 2:03:04.5": "93784.5",
		"0 days 01:00:00": "3600",
		"PT1H20M":         "4800", "P1DT2H": "93600", "P2W": "1209600", "PT0.1S": "0.1", "PT1,5H": "5400",
		"-PT5M": "-300",
		"P0D":   "0", "PT36H": "129600",
		"1000000000000000000:00:00": "3600000000000000000000", "999999999999h": "3599999999996400",
		"0:00:00." + strings.Repeat("0", 998) + "1": "0." + strings.Repeat("0", 998) + "1",
		"": "", "5": "", "5400": "", "1:60": "", "1:20:60": "", "1:2": "", ":20": "", "h": "", "1 x": "", "20m 1h": "",
		"1h 1h": "", "1.5h 20m": "", "1h 1:20": "",
		"P": "", "PT": "", "P1DT": "", "P1Y": "", "P1M": "", "P1Y2M": "", "PT1.5H20M": "", "PT20M1H": "", "P1H": "",
		"--1:00": "", "1:20.5": "", "1:20:30.": "", "1h,": "",
		"10:00:00Z": "", "1:00 pm": "", "0:00:00." + strings.Repeat("1", 1000): "", strings.Repeat("9", 1000) +
			":00:00": "", strings.Repeat("9", 1<<20) + "h": "",
	} {
		f := &herb.Field{Type: herb.TypeDuration}
		got, status := text.AppendPublished(nil, f, []byte(value))
		if string(got) != want || (status == text.Valid) != (want != "") {
			t.Errorf("%.40q: %.60q, status %d, want %.60q", value, got, status, want)
		}
	}
	minutes := &herb.Field{Type: herb.TypeDuration, Notation: herb.Notation{DateFormat: text.MinutesSeconds}}
	for value, want := range map[string]string{"4:05": "245", "72:00": "4320", "4:05.25": "245.25", "1:00:00": "3600",
		"1h": "3600"} {
		if got, _ := text.Canonical(minutes, value); got != want {
			t.Errorf("%q of minutes and seconds: %q, want %q", value, got, want)
		}
	}
}

// FuzzClock checks that a valid time or duration is found by what its canonical form is shown as,
// and that the keys of both are equal.
func FuzzClock(f *testing.F) {
	for _, seed := range []string{"6:00", "23:59:60", "9:05 p.m.", "-25:10:00.5", "1h 20m", "P1DT2H", "1 day, 2:03:04",
		"0.5ms", "1000000000000000000:00:00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, field := range []herb.Field{
			{Type: herb.TypeTime}, {Type: herb.TypeDuration},
			{Type: herb.TypeDuration, Notation: herb.Notation{DateFormat: text.MinutesSeconds}},
		} {
			canonical, status := text.Canonical(&field, value)
			if status != text.Valid {
				continue
			}
			key, ok := text.Key(field.Type, canonical)
			if !ok {
				t.Fatalf("%s %q: %q is not a canonical form", field.Type, value, canonical)
			}
			shown := text.Localize(&field, canonical)
			again, status := text.Operand(&field, shown)
			if status != text.Valid || again != canonical {
				t.Errorf("%s %q is shown as %q, which is %q, status %d; want %q", field.Type, value, shown, again,
					status, canonical)
			}
			if fieldKey, _ := text.FieldKey(&field, value); fieldKey != key {
				t.Errorf("%s %q: the keys %x and %x differ", field.Type, value, fieldKey, key)
			}
		}
	})
}
