package value_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/value"
	"herbarium/internal/text"
)

func TestInfer_clocks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, column, values string
		want                 herb.Type
		format, evidence     string
	}{
		{"hours and minutes", "opens", "6:00|10:30|23:59", herb.TypeTime, "", ""},
		{"seconds", "departure", "6:00:00|10:00:00", herb.TypeTime, "", ""},
		{"fractions", "at", "06:00:00.5|23:59:59,25", herb.TypeTime, "", ""},
		{"a leap second", "at", "23:59:59|23:59:60", herb.TypeTime, "", ""},
		{"12 hours", "opens", "9:05 PM|9:05am|12:00 p.m.", herb.TypeTime, "", ""},
		{"beside missing values", "opens", "6:00|-|NA|", herb.TypeTime, "", "2 missing"},
		{"beside a word", "opens", strings.Repeat("6:00|", 100) + "closed", herb.TypeTime, "", "closed: 1"},
		{"12 and 24 hours", "opens", "9:05 PM|10:00", herb.TypeText, "", "some times have am or pm and some have none"},
		{"beyond a day", "arrival_time", "6:00:00|25:10:00", herb.TypeDuration, "", ""},
		{"the end of a day", "arrival_time", "6:00:00|24:00:00", herb.TypeDuration, "", ""},
		{"negative", "delay", "0:05:00|-0:01:00", herb.TypeDuration, "", ""},
		{"units", "duration", "1h 20m|45m|2h", herb.TypeText, "", ""},
		{"ISO 8601", "duration", "PT1H20M|P1DT2H", herb.TypeText, "", ""},
		{"the name of a duration", "Duration", "1:20:30|0:45:00", herb.TypeDuration, "", ""},
		{"fractions of two parts", "lap", "1:20.5|4:05", herb.TypeDuration, text.MinutesSeconds, "written %M:%S"},
		{"a name that says minutes and seconds", "time (mm:ss)", "4:05|12:10", herb.TypeDuration,
			text.MinutesSeconds, ""},
		{"a name that says hours and minutes", "shift hh:mm", "4:05|72:10", herb.TypeDuration, "", ""},
		{"hours or minutes", "t", "4:05|72:10", herb.TypeText, "",
			`"72:10" is 72 hours and 10 minutes or 72 minutes and 10 seconds`},
		{"two and three parts", "result", "59:30|1:02:03", herb.TypeText, "",
			`"59:30" is 59 hours and 30 minutes or 59 minutes and 30 seconds`},
		{"two parts of a duration", "length", "3:45|4:05", herb.TypeText, "", `"3:45" is 3 hours and 45 minutes or`},
		{"zones", "at", "10:00:00Z|11:00:00Z", herb.TypeText, "", `times of day with a zone, such as "10:00:00Z"`},
		{"offsets", "at", "10:00+02:00|11:00-05:00", herb.TypeText, "",
			`times of day with a zone, such as "10:00+02:00"`},
		{"a text among times", "at", "10:00|11:00|noon", herb.TypeText, "", `"noon" (row 3) is not a time or duration`},
		{"impossible minutes", "at", "10:75|11:00|12:00", herb.TypeText, "",
			`"10:75" (row 1) is not a time or duration`},
		{"verses", "verse", "3:16|1:3|12:7", herb.TypeText, "", ""},
		{"addresses", "ip", "10:20:30:40|a:b", herb.TypeText, "", ""},
		{"too many digits", "d", "1:00:00|0:00:00." + digits(1000), herb.TypeText, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := profileOf(t, tt.values, tt.column, "", value.Schema{})
			if err != nil || r.Type != tt.want || r.Notation.DateFormat != tt.format ||
				!strings.Contains(r.Report.Evidence, tt.evidence) {
				t.Errorf("%s written %q (%s), %v; want %s written %q (%s)", r.Type, r.Notation.DateFormat,
					r.Report.Evidence, err, tt.want, tt.format, tt.evidence)
			}
			f := herb.Field{Type: r.Type, Notation: r.Notation}
			for v := range strings.SplitSeq(tt.values, "|") {
				if _, status := text.Canonical(&f, v); status == text.Invalid {
					t.Errorf("%q has no canonical form", v)
				}
			}
		})
	}
}

func TestInfer_fileClocks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		values     string
		file, want herb.Type
	}{
		{"06:00:00|24:00:00", herb.TypeDuration, herb.TypeDuration},
		{"06:00|06:00:30", herb.TypeTime, herb.TypeTime},
		{"6:00:00|7:00:00", herb.TypeDuration, herb.TypeDuration},
		{"6:00:00|x", herb.TypeTime, herb.TypeText},
		{"6:00:00|25:00:00", herb.TypeTime, herb.TypeDuration},
		{"6:00|7:00", herb.TypeText, herb.TypeTime},
	} {
		if r, err := profileOf(t, tt.values, "c", tt.file, value.Schema{}); err != nil || r.Type != tt.want {
			t.Errorf("%q in a column of the type %s: %s (%s), %v; want %s", tt.values, tt.file, r.Type,
				r.Report.Evidence, err, tt.want)
		}
	}
}

func TestDeclared_clocks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, values string
		schema       value.Schema
		want         herb.Type
		format       string
		culprit      string // of the error
	}{
		{"times", "6:00|06:00:30|9:05 pm", value.Schema{Type: "time"}, herb.TypeTime, "", ""},
		{"any notation", "6:00|06:00:30", value.Schema{Type: "time", Format: "any"}, herb.TypeTime, "", ""},
		{"directives", "0600|2359", value.Schema{Type: "time", Format: "%H%M"}, herb.TypeTime, "%H%M", ""},
		{"letters", "06:00|23:59", value.Schema{Type: "time", Format: "HH:mm"}, herb.TypeTime, "%H:%M", ""},
		{"not a time", "6:00|25:00", value.Schema{Type: "time"}, "", "", `"25:00" (row 2) is not a time, as declared`},
		{"a zone", "10:00Z", value.Schema{Type: "time"}, "", "", `"10:00Z" (row 1) is not a time, as declared`},
		{"another format", "6:00", value.Schema{Type: "time", Format: "%H%M"}, "", "",
			`is not a time in the declared notation`},
		{"a format without minutes", "6:00", value.Schema{Type: "time", Format: "%H"}, "", "",
			`format "%H" is not supported for a time`},
		{"durations", "PT1H|1:20|72:10", value.Schema{Type: "duration"}, herb.TypeDuration, "", ""},
		{"minutes and seconds", "4:05|72:10", value.Schema{Type: "duration", Format: "%M:%S"}, herb.TypeDuration,
			text.MinutesSeconds, ""},
		{"months", "PT1H|P1M", value.Schema{Type: "duration"}, "", "", `"P1M" (row 2) is not a duration, as declared`},
		{"another format of durations", "1:20", value.Schema{Type: "duration", Format: "%H-%M"}, "", "",
			`format "%H-%M" is not supported for a duration`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := profileOf(t, tt.values, "c", "", tt.schema)
			if tt.culprit != "" {
				if err == nil || !strings.Contains(err.Error(), tt.culprit) {
					t.Errorf("error %v; want %q", err, tt.culprit)
				}
				return
			}
			if err != nil || r.Type != tt.want || r.Notation.DateFormat != tt.format {
				t.Errorf("%s written %q (%s), %v", r.Type, r.Notation.DateFormat, r.Report.Evidence, err)
			}
		})
	}
}
