package webtest_test

import (
	"fmt"
	"strings"
	"testing"
)

// datesCSV has a column of ambiguous dates and one of dates in two notations.
func datesCSV() string {
	var b strings.Builder
	b.WriteString("id,seen,sold\n")
	for i := range 30 {
		sold := fmt.Sprintf("2025-07-%02d", i%28+1)
		if i%3 == 0 {
			sold = fmt.Sprintf("%02d.07.2025", i%28+1)
		}
		fmt.Fprintf(&b, "%d,%02d/03/2022,%s\n", i+1, i%11+2, sold)
	}
	return b.String()
}

// TestPublishing_dates chooses how ambiguous dates are read, and accepts dates in two notations,
// with and without a script.
func TestPublishing_dates(t *testing.T) {
	t.Parallel()
	for _, script := range scriptModes() {
		t.Run(fmt.Sprintf("script=%v", script), func(t *testing.T) {
			t.Parallel()
			ref := fmt.Sprintf("nursery/dates-%v", script)
			b := open(t, newPress(t, nil), tabOptions{NoScript: !script, Fails: []int{401}})
			b.enterKey()
			b.chooseFiles(ref, file(t, "dates.csv", datesCSV()))
			b.send()
			if got := strings.Join(b.Texts("th:nth-child(3) .remedies .link"),
				" · "); got != "2 Mar 2022 (day first) · 3 Feb 2022 (month first)" {
				t.Errorf("the remedies of ambiguous dates are %q", got)
			}
			if got := strings.Join(b.Texts("th:nth-child(4) .remedies .link"), " · "); !strings.HasPrefix(got,
				"Accept both 01.07.2025 and 2025-07-02") || strings.Contains(got, "missing ·") {
				t.Errorf("the remedies of two notations are %q", got)
			}
			b.edit(func() { b.Click(b.Pick("th:nth-child(3) .remedies button", "3 Feb 2022 (month first)")) })
			b.edit(func() {
				b.Click(b.Pick("th:nth-child(4) .remedies button",
					"Accept both 01.07.2025 and 2025-07-02"))
			})
			b.change(func() { b.setValue("#format-1", "%d/%m/%x") }) // what was entered stays, with the reason
			if got := b.Text("#error-1"); !strings.Contains(got, "unsupported directive") ||
				b.inputValue("#format-1") != "%d/%m/%x" {
				t.Errorf("the error is %q, the notation %q", got, b.inputValue("#format-1"))
			}
			b.change(func() { b.setValue("#format-1", "%m/%d/%Y") })
			b.Click(".publish-foot .primary")
			b.live(ref)
			if l := get(t, b.url+"/api/v1/"+ref+"/data?seen=2022-02-03&sold=2025-07-01"); l.Meta.Total != 1 ||
				l.Data[0]["seen"] != "02/03/2022" || l.Data[0]["sold"] != "01.07.2025" {
				t.Errorf("the API lists %+v", l)
			}
		})
	}
}
