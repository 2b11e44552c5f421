package value_test

import (
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/ingest/value"
)

// TestResult_readings checks the ways in which the dates of a text column can be read.
func TestResult_readings(t *testing.T) {
	t.Parallel()
	const ambiguous = "%d/%m/%Y: 09/03/2022 is 2022-03-09 (day first); %m/%d/%Y: 09/03/2022 is 2022-09-03 (month first)"
	for _, tt := range []struct{ name, values, want string }{
		{"ambiguous", "05/05/2022|09/03/2022|01/02/2022", ambiguous},
		{"with missing values", "05/05/2022|NA||09/03/2022|01/02/2022", ambiguous},
		{"with a few other values", strings.Repeat("09/03/2022|", 9) + "ca. 1920", ambiguous},
		{"with many other values", strings.Repeat("09/03/2022|", 8) + "ca. 1920", ""},
		{"days of the week", "Tue, 09/03/2022|01/02/2022",
			"%d/%m/%Y: Tue, 09/03/2022 is 2022-03-09 (day first); %m/%d/%Y: Tue, 09/03/2022 is 2022-09-03 (month first)"},
		{"datetimes", "09/03/2022 10:00|01/02/2022 11:30:00",
			"%d/%m/%Y %H:%M|%d/%m/%Y %H:%M:%S: 09/03/2022 is 2022-03-09 (day first); " +
				"%m/%d/%Y %H:%M|%m/%d/%Y %H:%M:%S: 09/03/2022 is 2022-09-03 (month first)"},
		{"two notations", "2025-07-23|2025-07-24|23.07.2025|01.02.2025",
			"%d.%m.%Y|%Y-%m-%d: 01.02.2025 is 2025-02-01 (day first) 2025-07-23 is 2025-07-23 (year first)"},
		{"two notations of datetimes", "23.07.2025 10:00|2025-07-24 11:00",
			"%d.%m.%Y %H:%M|%Y-%m-%d %H:%M: 23.07.2025 is 2025-07-23 (day first) 2025-07-24 is 2025-07-24 (year first)"},
		{"three notations", "2025-07-23|23.07.2025|7/23/2025", ""},
		{"with and without a time", "09/03/2022 10:00|01/02/2022", ""},
		{"with and without a zone", "09/03/2022 10:00|01/02/2022 10:00 +01:00", ""},
		{"months beside dates", "2025-07-23|2025-07", ""},
		{"one notation", strings.Repeat("09/03/2022|", 9) + "31/12/2022|ca. 1920", ""},
		{"in standard notation", "2025-07-23|2025-07-24|x", ""},
		{"an ambiguous century", "09/03/45|01/02/44", ""},
		{"numbers", "1|2|3", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := profileOf(t, tt.values, "c", "", value.Schema{})
			var got []string
			for _, reading := range r.Report.DateNotations {
				words := reading.Format + ":"
				for _, e := range reading.Examples {
					words += fmt.Sprintf(" %s is %s (%s)", e.Value, e.Date, e.Order)
				}
				got = append(got, words)
			}
			if got := strings.Join(got, "; "); err != nil || got != tt.want {
				t.Errorf("%s, %v: the readings are\n%s\nwant\n%s", r.Type, err, got, tt.want)
			}
		})
	}
}
