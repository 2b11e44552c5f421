package review_test

import (
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/publish/review"
)

// TestReview_dateReadings checks the ways to read columns of dates, and publishes each of them.
func TestReview_dateReadings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, values, want string
	}{
		{"ambiguous", "05/05/2022 09/03/2022 01/02/2022",
			"%d/%m/%Y: 09/03/2022 is 2022-03-09 (day first); %m/%d/%Y: 09/03/2022 is 2022-09-03 (month first)"},
		{"with hyphens", "09-03-2022 01-02-2022",
			"%d-%m-%Y: 09-03-2022 is 2022-03-09 (day first); %m-%d-%Y: 09-03-2022 is 2022-09-03 (month first)"},
		{"two digits", "09/03/22 01/02/2022",
			"%d/%m/%Y|%d/%m/%y: 09/03/22 is 2022-03-09 (day first); %m/%d/%Y|%m/%d/%y: 09/03/22 is 2022-09-03 (month " +
				"first)"},
		{"datetimes", "09/03/2022_10:00 01/02/2022_11:30",
			"%d/%m/%Y %H:%M: 09/03/2022 is 2022-03-09 (day first); %m/%d/%Y %H:%M: 09/03/2022 is 2022-09-03 (month " +
				"first)"},
		{"two notations", "2025-07-23 23.07.2025 2025-07-24 01.02.2025",
			"%d.%m.%Y|%Y-%m-%d: 01.02.2025 is 2025-02-01 (day first) 2025-07-23 is 2025-07-23 (year first)"},
		{"two notations, one ambiguous", "2025-07-23 03/04/2025",
			"%d/%m/%Y|%Y-%m-%d: 03/04/2025 is 2025-04-03 (day first) 2025-07-23 is 2025-07-23 (year first); " +
				"%m/%d/%Y|%Y-%m-%d: 03/04/2025 is 2025-03-04 (month first) 2025-07-23 is 2025-07-23 (year first)"},
		{"day and month first", "23/07/2025 07/23/2025", ""},
		{"inferred", "23/07/2025 01/02/2025", ""},
		{"an ambiguous century", "09/03/45 01/02/44", ""},
		{"words", "rose fern moss 01/02/2025", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, nodeOptions{})
			file := "id,seen\n"
			values := strings.Fields(tt.values)
			for i, v := range values {
				file += fmt.Sprintf("%d,%s\n", i, strings.ReplaceAll(v, "_", " "))
			}
			id := n.create("prices.csv", file)
			r := n.review(id)
			var got []string
			for _, reading := range r.Columns[1].DateNotations {
				text := reading.Format + ":"
				for _, e := range reading.Examples {
					text += fmt.Sprintf(" %s is %s (%s)", e.Value, e.Date, e.Order)
				}
				got = append(got, text)
			}
			if got := strings.Join(got, "; "); got != tt.want {
				t.Errorf("the readings are\n%s\nwant\n%s", got, tt.want)
			}
			for _, reading := range r.Columns[1].DateNotations {
				edited := n.edit(id, review.Edits{
					Columns: map[int]review.ColumnEdit{1: {Type: reading.Type, Format: reading.Format}}})
				if c := edited.Columns[1]; edited.Error != "" || c.Type != reading.Type ||
					len(c.Others)+len(c.DateNotations) > 0 || c.Evidence == "" {
					t.Errorf("read as %s: %+v, %s", reading.Format, c, edited.Error)
				}
			}
		})
	}
}

// TestReview_dateReadingsOfLive sends dates in another notation than the live version declares.
func TestReview_dateReadingsOfLive(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	n.put(prices, "prices.csv", "id,seen\n1,23.07.2025\n",
		`{"resources":[{"name":"prices","path":"prices.csv","schema":{"fields":[{"name":"id"},{"name":"seen","type":"date","format":"%d.%m.%Y"}]}}]}`, nil)
	id := n.create("prices.csv", "id,seen\n1,23.07.2025\n2,2025-07-24\n3,2025-07-25\n")
	r := n.review(id)
	if c := r.Columns[1]; r.Field != "seen" || len(c.DateNotations) != 1 {
		t.Fatalf("the error is about %q, the readings are %+v", r.Field, c.DateNotations)
	}
	r = n.edit(id, review.Edits{
		Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeDate, Format: r.Columns[1].DateNotations[0].Format}}})
	if r.Error != "" || isBreaking(r) {
		t.Errorf("the error is %q, the changes %+v", r.Error, r.Changes)
	}
	n.publish(id, false, r.Live)
	if got := n.listing(prices); !strings.Contains(got, "1|23.07.2025\n2|2025-07-24") {
		t.Errorf("the listing is %s", got)
	}
}
