package herb_test

import (
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
)

func TestParseRefresh(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "0", "59s", "1s", "-1h", "1.5h", "daily", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *",
		"* * 32 * *", "* * * 13 *", "* * * * 8", "5-1 * * * *", "*/0 * * * *", "*/x * * * *", "1-2-3 * * * *",
		", * * * *",
		"1e18 * * * *", "0 0 30 2 *", "0 0 31 2,4,6,9,11 *", strings.Repeat("9", 1_000_000) + "h",
		strings.Repeat("1,", 1_000_000) + "1 * * * *", "99999999999999999999 * * * *", "-1 * * * *", "? * * * *",
	} {
		if r, err := herb.ParseRefresh(text); err == nil || len(err.Error()) > 400 {
			t.Errorf("%.50q is %.50q, %.500v", text, r, err)
		}
	}
}

func TestRefresh_next(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ refresh, after, want string }{
		{"1h", "2026-03-01 12:34", "2026-03-01 13:34"}, {"60s", "2026-03-01 12:34", "2026-03-01 12:35"},
		{"* * * * *", "2026-12-31 23:59", "2027-01-01 00:00"},
		{"0 6 * * *", "2026-03-01 06:00", "2026-03-02 06:00"},
		{"*/15 * * * *", "2026-03-01 12:34", "2026-03-01 12:45"},
		{"5/20 * * * *", "2026-03-01 12:34", "2026-03-01 12:45"},
		{"1-10/3 8-9 * * *", "2026-03-01 08:10", "2026-03-01 09:01"},
		{"0 0 29 2 *", "2096-03-01 00:00", "2104-02-29 00:00"},
		{"0 0 * * 7", "2026-03-01 00:00", "2026-03-08 00:00"},
		{"0 0 * * 0", "2026-03-01 00:00", "2026-03-08 00:00"},
		{"0 0 13 * 5", "2026-03-01 00:00", "2026-03-06 00:00"}, {"0 0 */2 * 1", "2026-03-01 00:00", "2026-03-09 00:00"},
		{" 30  4\t1,15 * * ", "2026-03-01 04:30", "2026-03-15 04:30"},
		{"0 0 1 1 *", "2026-03-01 00:00", "2027-01-01 00:00"},
	} {
		const layout = "2006-01-02 15:04"
		r, err := herb.ParseRefresh(c.refresh)
		after, _ := time.Parse(layout, c.after)
		if got := r.Next(after).Format(layout); err != nil || got != c.want {
			t.Errorf("%q after %s: %s, %v; want %s", c.refresh, c.after, got, err, c.want)
		}
	}
	if next := herb.RefreshManual.Next(time.Now()); !next.IsZero() {
		t.Errorf("manual: %s", next)
	}
}

func TestDownloadAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ address, want string }{
		{"https://docs.google.com/spreadsheets/d/1aB-c_D/edit#gid=7",
			"https://docs.google.com/spreadsheets/d/1aB-c_D/export?format=csv&gid=7"},
		{"https://docs.google.com/spreadsheets/d/1aB/edit?usp=sharing",
			"https://docs.google.com/spreadsheets/d/1aB/export?format=csv"},
		{"https://docs.google.com/spreadsheets/d/1aB/edit?gid=0#gid=0",
			"https://docs.google.com/spreadsheets/d/1aB/export?format=csv&gid=0"},
		{"https://docs.google.com/spreadsheets/d/1aB/edit",
			"https://docs.google.com/spreadsheets/d/1aB/export?format=csv"},
		{"https://github.com/a/b/blob/main/data/x.csv",
			"https://raw.githubusercontent.com/a/b/main/data/x.csv"},
		{"https://github.com/a/b/blob/main/x.csv?plain=1#L3",
			"https://raw.githubusercontent.com/a/b/main/x.csv"},
		{"https://gitlab.com/a/g/b/-/blob/main/x.csv?ref_type=heads",
			"https://gitlab.com/a/g/b/-/raw/main/x.csv"},
		{"https://www.dropbox.com/s/abc/x.csv?dl=0",
			"https://www.dropbox.com/s/abc/x.csv?dl=1"},
		{"https://www.dropbox.com/scl/fi/abc/x.csv?rlkey=k1&dl=0",
			"https://www.dropbox.com/scl/fi/abc/x.csv?rlkey=k1&dl=1"},
		{"https://docs.google.com/spreadsheets/d/e/2PACX-1/pub?output=csv", ""},
		{"https://github.com/a/b", ""},
		{"https://evil.org/https://github.com/a/b/blob/main/x.csv", ""},
		{"https://docs.google.com.evil.org/spreadsheets/d/1aB/edit", ""},
		{"https://docs.google.com/spreadsheets/d/" + strings.Repeat("a", 1<<20) + "/x", ""},
	} {
		address, want := c.address, c.want
		got, service := herb.DownloadAddress(address)
		if want == "" && (service != "" || got != address) || want != "" && (got != want || service == "") {
			t.Errorf("%.100s is %.100s of %q; want %s", address, got, service, want)
		}
		if err := herb.CheckFetchAddress(address); err != nil && len(address) < 1000 {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestDescriptor_fetch(t *testing.T) {
	t.Parallel()
	for descriptor, want := range map[string]herb.FetchSource{
		`{"path": "https://a.org/x.csv", "herbarium": {"refresh": "1h"}}`: {
			Address: "https://a.org/x.csv", Refresh: "1h"},
		`{"path": "s3://b/x.csv", "herbarium": {"refresh": {"every": "manual", "credentials": "c", "allow_breaking": true}}}`: {
			Address: "s3://b/x.csv", Refresh: "manual", Credentials: "c", AllowBreaking: true},
		`{"path": "https://a.org/x.csv"}`:                                     {},
		`{"path": "x.csv", "herbarium": {"refresh": "1h"}}`:                   {},
		`{"path": ["https://a.org/x.csv"], "herbarium": {"refresh": "1h"}}`:   {},
		`{"path": "https://a.org/x.csv", "herbarium": {"refresh": "1s"}}`:     {},
		`{"path": "https://a.org/x.csv", "herbarium": {"refresh": 7}}`:        {},
		`{"path": "https://a:b@a.org/x", "herbarium": {"refresh": "manual"}}`: {},
	} {
		d := herb.NewDescriptor([]byte(`{"package": {}, "resource": ` + descriptor + `}`))
		if d.Fetch != want {
			t.Errorf("%s: %+v", descriptor, d.Fetch)
		}
	}
}
