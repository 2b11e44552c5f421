package web_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/publish"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
)

const draftPath = "/publish/" + draftID

// TestReview shows a review: the rows as they are, the columns, and what changes.
func TestReview(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	a := s.get(t, draftPath, as(sellsKey)...)
	page := parse(t, a.body)
	settings, rows := spaced(one(t, page, tag("aside", "settings"))), one(t, page, byID("rows"))
	for _, want := range []string{
		"Dataset nursery / stock",
		"What changes for its users + 1,204 new records 38 changed, 35 of them in price 12 gone + 1 column: weight",
		"Breaking: price would become text 6 values are not numbers: “on request”. Treat as missing · Show the rows " +
			"· Publish as text",
		"3 values of sold_since are missing", "3 rows are left out; click the label of a row to keep it.",
	} {
		if !strings.Contains(settings, want) {
			t.Errorf("the settings lack %q: %s", want, settings)
		}
	}
	for id, want := range map[string]string{"title": "What we sell", "license": "CC-BY-4.0", "name-2": "sold_since"} {
		if got := attr(one(t, page, byID(id)), "value"); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
	for id, want := range map[string]string{
		"r1":    "left out: title 1 : use this row as the header Price list of the nursery on the hill, autumn 2026",
		"r3":    "header 3 : the file has no header Code Name Sold since Price Where Weight",
		"r4817": "left out: footnote 4817 : keep this row as a record Prices include tax. Printed 14 Nov 2026.",
		"r7":    "header leave out 7 : leave this row out 00044 Wood anemone 20.04.2023 on request shade 0.1",
	} {
		if got := spaced(one(t, rows, byID(id))); got != want {
			t.Errorf("row %s is %q, want %q", id, got, want)
		}
	}
	if marked := all(rows, tag("td", "marked")); len(marked) != 1 || words(marked[0]) != "on request" {
		t.Errorf("%d cells are marked", len(marked))
	}
	if foot := words(one(t, page,
		tag("footer", ""))); foot != "Nothing is live until you publish. The previous version stays one click away. "+
		"Publish 1 breaking change Download descriptor Cancel Publish 4,812 records" {
		t.Errorf("the footer is %q", foot)
	}
	if d := s.get(t, draftPath+"/descriptor", as(sellsKey)...); d.status != 200 || d.body != `{"name": "nursery"}` ||
		!strings.HasPrefix(d.header.Get("Content-Disposition"), "attachment") ||
		d.header.Get("Content-Type") != "application/json" {
		t.Errorf("the descriptor: %d %v %s", d.status, d.header, d.body)
	}
}

// spaced returns the text of an element, with a space between elements.
func spaced(n *html.Node) string {
	var all []string
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			all = append(all, strings.Fields(d.Data)...)
		}
	}
	return strings.Join(all, " ")
}

// TestReview_states shows reviews that are not complete.
func TestReview_states(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*review.Review)
		want   []string // parts of the text
		not    []string
		html   string // part of the page
	}{
		{"reading", func(r *review.Review) {
			*r = review.Review{Draft: r.Draft, Progress: &progress.Progress{Phase: "reading", Step: 1, Steps: 2,
				Done: 5, Total: 10, Records: 7}}
		}, []string{"Reading the file", "Reading, step 1 of 2, 7 records"}, []string{"Publish 0", "Title"},
			`<meta http-equiv="refresh" content="1">`},
		{"checking again", func(r *review.Review) { r.Progress = &progress.Progress{Phase: "reading"} },
			[]string{"Reading", "Dog rose"}, []string{"Publish 4,812"}, `data-refresh="1"`},
		{"broken", func(r *review.Review) {
			*r = review.Review{Draft: r.Draft, Error: `stock.csv: line 3 has 5 values instead of 4`}
		}, []string{"This file cannot be read", "line 3 has 5 values", "Choose another file"}, []string{"Publish 0",
			"Title"}, ""},
		{"several tables", func(r *review.Review) {
			*r = review.Review{Draft: r.Draft, Tables: []string{"Prices", "Staff <1>"},
				Error: "name one of them with _table"}
		}, []string{"The file has 2 tables", "Prices", "Staff <1>"}, []string{"Publish 0", "_table"},
			`name="pick" value="Staff &lt;1&gt;"`},
		{"table chosen", func(r *review.Review) {
			r.Tables, r.Draft.Edits.Table = []string{"Prices", "Staff"}, "Staff"
		},
			[]string{"Table of the file"}, nil, `<option selected>Staff</option>`},
		{"empty cells", func(r *review.Review) {
			r.Rows[0].Text, r.Rows[1].Text = `"Price list, 2026",,,`, ",,,,"
		}, []string{"use this row as the header Price list, 2026 left out: empty"}, []string{",,,"}, ""},
		{"empty row of the header", func(r *review.Review) {
			r.Rows[1] = review.Row{Kind: review.RowHeader, Number: 2, Cells: make([]string, 6)}
		},
			[]string{"left out 2 : use this row as the header"}, nil, ""},
		{"new dataset", func(r *review.Review) { r.Live, r.Changes, r.Compared = "", nil, nil },
			[]string{"A new dataset 4,812 records 6 columns", "Publish 4,812 records"},
			[]string{"previous version", "Breaking"}, ""},
		{"not compared", func(r *review.Review) { r.Compared = nil },
			[]string{"4,812 records; not compared with those of the live version"}, nil, ""},
		{"nothing changes", func(r *review.Review) {
			r.Changes, r.Compared = nil,
				&herb.RecordChanges{Unchanged: 4812}
		},
			[]string{"4,812 the same records"}, []string{"Breaking"}, ""},
		{"unchanged", func(r *review.Review) {
			r.Unchanged, r.Changes, r.Compared = true, nil, &herb.RecordChanges{Unchanged: 4812}
		},
			[]string{"are those of the live version: publishing changes nothing. 4,812 the same records"}, nil, ""},
		{"changed", func(*review.Review) {}, nil, []string{"publishing changes nothing"}, ""},
		{"type does not fit", func(r *review.Review) {
			r.Error, r.Columns[1].Edit = `row 4: field "name": "Dog rose" is not a number`,
				review.ColumnEdit{Type: herb.TypeNumber}
			r.Field, r.Problem = "name", `"Dog rose" is not a number`
		}, []string{`"Dog rose" is not a number 4,812 of 4,812 Undo`}, []string{"These settings do not fit",
			"Publish 4,812", "What changes"}, `aria-invalid="true"`},
		{"settings do not fit", func(r *review.Review) {
			r.Error, r.Draft.Edits.Drop = "no records are left", []int{4}
		},
			[]string{"These settings do not fit", "no records are left", "Undo all changes"},
			[]string{"Publish 4,812"}, ""},
		{"renamed", func(r *review.Review) {
			r.Changes = []versions.Change{
				{Kind: versions.FieldRenamed, Field: "mass", Renamed: "weight", Breaking: true,
					Message: `field "mass" appears to be renamed to "weight", a number in the same position`}}
		}, []string{"Call it mass"}, nil, `value="name 5 mass"`},
		{"hidden", func(r *review.Review) {
			r.Columns[1].Field, r.Columns[1].Edit = "", review.ColumnEdit{Hidden: true, Name: "name"}
			r.Changes = []versions.Change{
				{Kind: versions.FieldRemoved, Field: "name", Breaking: true, Message: `field "name" is removed`}}
		}, []string{"− 1 column: name", "Publish the column", "not published"}, nil, `value="show 1"`},
		{"opened", func(r *review.Review) {
			r.Changes = []versions.Change{
				{Kind: versions.AccessChanged, Breaking: true, Exposure: true, Message: "would become public"}}
		}, []string{"everyone could read it", "Require a key"}, nil, `value="access key"`},
		{"edited rows", func(r *review.Review) {
			r.Rows[0] = review.Row{Kind: review.RowRecord, Number: 1, Edited: true,
				Cells: []string{"Price list", "", "", "", "", ""}}
			r.Rows[3] = review.Row{Kind: review.RowLeftOut, Number: 4, Edited: true, Cells: r.Rows[3].Cells}
		}, []string{"kept by you 1", "left out by you 4 : keep this row as a record 00041 Dog rose"}, nil,
			`value="drop 1"`},
		{"rows left out by values", func(r *review.Review) {
			r.Excluded = []review.ExcludedRows{
				{RowValue: herb.RowValue{Column: "name", Value: "Total", Rows: 1}, Position: 1}}
		}, []string{"1 row is left out, also from later files: name is “Total”. Keep it"}, nil,
			`value="include 1 &#34;Total&#34;"`},
		{"rows kept by values", func(r *review.Review) {
			r.Draft.Edits.Exclude = []review.ValueEdit{{Column: 1, Value: "Total", Keep: true}}
		}, []string{"Rows are kept, also of later files: Name is “Total”. Leave them out"}, nil,
			`value="exclude 1 &#34;Total&#34;"`},
		{"rows without numbers", func(r *review.Review) {
			r.Unit, r.Rows = "", []review.Row{{Kind: review.RowRecord, Cells: []string{"1", "2", "3", "4", "5", "6"}}}
		}, nil, []string{"leave out", "click the label"}, ""},
		{"missing values", func(r *review.Review) {
			r.Columns[3].Edit, r.Columns[3].Almost = review.ColumnEdit{Type: herb.TypeNumber,
				Missing: []string{"on request"}}, ""
		}, []string{"inferred text number"}, nil, `value="undo 3"`},
	} {
		s := newPublishingSite(t)
		tt.change(s.review)
		a := s.get(t, draftPath, as(sellsKey)...)
		text := spaced(one(t, parse(t, a.body), byID("publish")))
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: lacks %q: %s", tt.name, want, text)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: has %q", tt.name, not)
			}
		}
		if a.status != 200 || !strings.Contains(a.body, tt.html) {
			t.Errorf("%s: %d, lacks %s", tt.name, a.status, tt.html)
		}
	}
}

// TestReview_hostile shows a file whose values attack the page.
func TestReview_hostile(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	r := s.review
	const attack = `"><script>alert(1)</script>`
	r.Draft.Name, r.Title, r.About, r.License, r.Format, r.Key, r.Error = attack, attack, "</textarea>"+attack, attack,
		"csv, "+attack, []string{attack}, attack
	r.Tables, r.Warnings = []string{attack}, []string{attack}
	for i := range r.Columns {
		c := &r.Columns[i]
		c.Field, c.Source, c.Evidence, c.Almost = attack, attack, attack, herb.TypeNumber
		c.Others = []review.Exception{{Value: attack, Count: 1, Row: 7}}
	}
	for i := range r.Rows {
		r.Rows[i].Reason, r.Rows[i].Text = attack, attack
	}
	r.Rows = append(r.Rows, review.Row{Kind: review.RowRecord, Number: 5000, Cells: hostile()[:6]})
	r.Changes = []versions.Change{{Kind: versions.FieldRenamed, Field: attack, Breaking: true, Message: attack},
		{Kind: versions.FieldAdded, Field: attack}}
	a := s.get(t, draftPath, as(sellsKey)...)
	page := parse(t, a.body)
	for _, script := range all(page, tag("script", "")) {
		if attr(script, "src") == "" {
			t.Errorf("a value became a script: %s", textOf(script))
		}
	}
	if handler := regexp.MustCompile(`<[^>]*\son\w+=`).FindString(a.body); a.status != 200 || handler != "" {
		t.Errorf("%d, a value became %s", a.status, handler)
	}
}

// TestReview_lineBreak checks that a name with a line break stays what it is: browsers remove line
// breaks of inputs, which must not look like another name.
func TestReview_lineBreak(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	s.review.Columns[1].Field = "Current\nMonth"
	page := parse(t, s.get(t, draftPath, as(sellsKey)...).body)
	for _, name := range []string{"name-1", "was-name-1"} {
		if got := attr(one(t, page, has("name", name)), "value"); got != "Current Month" {
			t.Errorf("%s is %q", name, got)
		}
	}
}

// TestReview_wide shows a file of many columns in parts.
func TestReview_wide(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	s.review.Columns, s.review.Rows = nil,
		[]review.Row{{Kind: review.RowRecord, Number: 2, Cells: make([]string, 1093)}}
	for i := range 1093 {
		s.review.Columns = append(s.review.Columns, review.Column{Position: i, Source: fmt.Sprint("c", i),
			Field: fmt.Sprint("c", i), Type: herb.TypeText})
		s.review.Rows[0].Cells[i] = fmt.Sprint("v", i)
	}
	for path, first := range map[string]int{"": 0, "?column=60": 60, "?column=1090": 1080, "?column=99999": 1080,
		"?column=-3": 0, "?column=x": 0} {
		a := s.get(t, draftPath+path, as(sellsKey)...)
		rows := one(t, parse(t, a.body), byID("rows"))
		cells := all(rows, tag("td", ""))
		if want := min(60, 1093-first); a.status != 200 || len(cells) != want ||
			words(cells[0]) != fmt.Sprint("v", first) || len(a.body) > 150_000 {
			t.Errorf("%s: %d, %d cells from %s, %d bytes", path, a.status, len(cells), words(cells[0]), len(a.body))
		}
	}
	a := s.post(t, draftPath, url.Values{"column": {"60"}, "name-61": {"other"}, "was-name-61": {"c61"}},
		as(sellsKey)...)
	if to := a.header.Get("Location"); to != draftPath+"?column=60" || len(s.edits) != 1 ||
		s.edits[0].Columns[61].Name != "other" {
		t.Errorf("an edit leads to %q: %+v", to, s.edits)
	}
}

// TestReview_edits submits the form of a review.
func TestReview_edits(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	column := func(position int, c review.ColumnEdit) review.Edits {
		return review.Edits{Columns: map[int]review.ColumnEdit{position: c}}
	}
	for _, tt := range []struct {
		name   string
		before review.Edits
		form   string
		want   review.Edits
	}{
		{"nothing", review.Edits{}, "title=A&was-title=A&name-0=code&was-name-0=code&type-0=&was-type-0=&do=check",
			review.Edits{}},
		{"title", review.Edits{}, "title=+New+&was-title=Old", review.Edits{Title: text("New")}},
		{"title that another tab has changed", review.Edits{Title: text("Other")}, "title=Old&was-title=Old",
			review.Edits{Title: text("Other")}},
		{"no title", review.Edits{}, "title=&was-title=Old", review.Edits{Title: text("")}},
		{"lines", review.Edits{}, "about=a%0D%0Ab&was-about=a%0Ab", review.Edits{}},
		{"settings", review.Edits{},
			"about=a%0D%0Ac&was-about=&license=CC0-1.0&was-license=&access=key&was-access=open",
			review.Edits{Description: text("a\nc"), License: text("CC0-1.0"), Access: herb.AccessKey}},
		{"message", review.Edits{}, "message=+New+prices+&was-message=", review.Edits{Message: "New prices"}},
		{"message removed", review.Edits{Message: "New"}, "message=&was-message=New", review.Edits{}},
		{"key", review.Edits{}, "keys=1&was-key=code&key=name&key=code",
			review.Edits{PrimaryKey: &[]string{"code", "name"}}},
		{"no key", review.Edits{}, "keys=1&was-key=code", review.Edits{PrimaryKey: &[]string{}}},
		{"same key", review.Edits{}, "keys=1&was-key=code&was-key=name&key=name&key=code", review.Edits{}},
		{"column", review.Edits{},
			"name-3=cost&was-name-3=price&type-3=number&was-type-3=&title-3=Price+in+€&was-title-3=",
			column(3, review.ColumnEdit{Name: "cost", Type: herb.TypeNumber, Title: text("Price in €")})},
		{"no title of a column", review.Edits{}, "title-3=&was-title-3=Price",
			column(3, review.ColumnEdit{Title: text("")})},
		{"inferred again", column(3, review.ColumnEdit{Type: herb.TypeText}), "type-3=&was-type-3=text",
			review.Edits{}},
		{"keep", review.Edits{}, "do=keep+1", review.Edits{Keep: []int{1}}},
		{"keep again", review.Edits{Keep: []int{1}}, "do=drop+1", review.Edits{}},
		{"drop", review.Edits{Drop: []int{9}}, "do=drop+7", review.Edits{Drop: []int{7, 9}}},
		{"drop again", review.Edits{Drop: []int{7}}, "do=keep+7", review.Edits{}},
		{"header", review.Edits{}, "do=header+5", review.Edits{HeaderRows: &[]int{5}}},
		{"second row of the header", review.Edits{}, "do=join+4", review.Edits{HeaderRows: &[]int{3, 4}}},
		{"first row of the header", review.Edits{HeaderRows: &[]int{3, 4}}, "do=join+3",
			review.Edits{HeaderRows: &[]int{4}}},
		{"no header", review.Edits{}, "do=header+0", review.Edits{HeaderRows: &[]int{}}},
		{"hide", review.Edits{}, "do=hide+2", column(2, review.ColumnEdit{Hidden: true})},
		{"show", column(2, review.ColumnEdit{Hidden: true}), "do=show+2", review.Edits{}},
		{"missing", review.Edits{}, "do=missing+3",
			column(3, review.ColumnEdit{Type: herb.TypeNumber, Missing: []string{"on request"}})},
		{"text", review.Edits{}, "do=text+3", column(3, review.ColumnEdit{Type: herb.TypeText})},
		{"name", review.Edits{}, "do=name+5+net+mass", column(5, review.ColumnEdit{Name: "net mass"})},
		{"undo", column(3, review.ColumnEdit{Type: herb.TypeText, Name: "cost", Hidden: true}), "do=undo+3",
			column(3, review.ColumnEdit{Hidden: true})},
		{"access", review.Edits{}, "do=access+key", review.Edits{Access: herb.AccessKey}},
		{"reset", review.Edits{Title: text("x"), Message: "New", Keep: []int{1}, Table: "Prices"},
			"do=reset&title=y&was-title=x", review.Edits{Table: "Prices", Message: "New"}},
		{"table", review.Edits{Title: text("x"), Keep: []int{1}, Columns: map[int]review.ColumnEdit{1: {Hidden: true}}},
			"table=Staff", review.Edits{Title: text("x"), Table: "Staff"}},
		{"pick", review.Edits{}, "pick=Prices&table=", review.Edits{Table: "Prices"}},
		{"table of another tab", review.Edits{Table: "Staff"}, "table=Prices&was-table=Prices&title=New&was-title=Old",
			review.Edits{Table: "Staff", Title: text("New")}},
		{"unknown table", review.Edits{}, "table=Nothing", review.Edits{}},
	} {
		s := newPublishingSite(t)
		s.review.Draft.Edits, s.review.Tables = tt.before, []string{"Prices", "Staff"}
		form, err := url.ParseQuery(tt.form)
		if err != nil {
			t.Fatal(err)
		}
		a := s.post(t, draftPath, form, as(sellsKey)...)
		if a.status != 303 || a.header.Get("Location") != draftPath {
			t.Errorf("%s: %d %s", tt.name, a.status, a.header.Get("Location"))
		}
		if got := s.review.Draft.Edits; !got.Equal(tt.want) {
			t.Errorf("%s: %s", tt.name, cmp.Diff(tt.want, got))
		}
	}
	for _, form := range []string{"was-table=Prices&table=Prices&do=hide+1", "was-table=Prices&name-1=x&was-name-1=y",
		"do=keep+x", "do=hide+99", "do=keep+-1", "do=explode+1", "do=access+nobody", "type-1=color&was-type-1=",
		"access=x&was-access=open"} {
		s := newPublishingSite(t)
		values, _ := url.ParseQuery(form)
		if a := s.post(t, draftPath, values, as(sellsKey)...); a.status != 400 && a.status != 409 || len(s.edits) > 0 ||
			!strings.Contains(a.body, "Dog rose") {
			t.Errorf("%s: %d", form, a.status)
		}
	}
}

// TestReview_publish publishes what was reviewed, and nothing else.
func TestReview_publish(t *testing.T) {
	t.Parallel()
	page := parse(t, newPublishingSite(t).get(t, draftPath, as(sellsKey)...).body)
	var consent string
	for _, input := range all(page, tag("input", "")) {
		if attr(input, "name") == "consent" {
			consent = attr(input, "value")
		}
	}
	if consent == "" {
		t.Fatal("there is no checkbox for the consent")
	}
	for _, tt := range []struct {
		name   string
		form   url.Values
		change func(*publishingSite)
		status int
		want   string // version and actor, or a part of the message
	}{
		{"consent", url.Values{"live": {"v1"}, "consent": {consent}}, nil, 303, "v1 sells00000 allow_breaking"},
		{"no consent", url.Values{"live": {"v1"}}, nil, 409, "select the checkbox"},
		{"consent to another change", url.Values{"live": {"v1"}, "consent": {consent}},
			func(s *publishingSite) { s.review.Changes[0].Field = "name" }, 409, "select the checkbox"},
		{"nothing breaks", url.Values{"live": {"v1"}}, func(s *publishingSite) { s.review.Changes = nil }, 303,
			"v1 sells00000"},
		{"unsaved edit", url.Values{"live": {"v1"}, "consent": {consent}, "title": {"a"}, "was-title": {"b"}}, nil, 409,
			"Your last changes are saved"},
		{"another version", url.Values{"live": {"v0"}, "consent": {consent}}, nil, 409,
			"another version of nursery/stock went live"},
		{"still checking", url.Values{"live": {"v1"}, "consent": {consent}},
			func(s *publishingSite) { s.review.Progress = &progress.Progress{} }, 409, "still being checked"},
		{"error", url.Values{"live": {"v1"}, "consent": {consent}}, func(s *publishingSite) { s.review.Error = "x" },
			409, "correct the settings"},
		{"rejected by the service", url.Values{"live": {"v1"}, "consent": {consent}},
			func(s *publishingSite) { s.err = herb.Errorf(herb.CodeUnavailable, "too many publishes are waiting") },
			503, "Too many publishes"},
	} {
		s := newPublishingSite(t)
		if tt.change != nil {
			tt.change(s)
		}
		a := s.post(t, draftPath+"/publish", tt.form, as(sellsKey)...)
		if a.status != tt.status || a.status != 303 && !strings.Contains(a.body, tt.want) {
			t.Errorf("%s: %d %.3000s", tt.name, a.status, a.body)
		}
		if a.status == 303 && (len(s.published) != 1 || s.published[0] != tt.want ||
			a.header.Get("Location") != draftPath+"/live/publish1") {
			t.Errorf("%s: %v, to %s", tt.name, s.published, a.header.Get("Location"))
		}
		if a.status != 303 && s.err == nil && len(s.published) > 0 {
			t.Errorf("%s: published %v", tt.name, s.published)
		}
		if a.status != 303 && !strings.Contains(a.body, "Dog rose") {
			t.Errorf("%s: the review is gone", tt.name)
		}
	}
}

// TestReview_state follows a publish until it has ended.
func TestReview_state(t *testing.T) {
	t.Parallel()
	const path = draftPath + "/live/publish1"
	s := newPublishingSite(t)
	s.record = publish.Publish{ID: "publish1", Dataset: "nursery/stock",
		Progress: &progress.Progress{Phase: "building", Done: 1, Total: 4}}
	s.review.Draft.Publish = "publish1"
	if a := s.get(t, path, as(sellsKey)...); a.status != 200 ||
		!strings.Contains(a.body, `<progress value="1" max="4"`) || !strings.Contains(a.body, `http-equiv="refresh"`) {
		t.Errorf("running: %d", a.status)
	}
	if a := s.get(t, draftPath, as(sellsKey)...); a.status != 303 || a.header.Get("Location") != path {
		t.Errorf("the review while it runs: %d %v", a.status, a.header)
	}
	s.record = ended(herb.CodeRejected, versions.StatusRejected,
		"another version of nursery/stock went live in the meantime")
	if a := s.get(t, path, as(sellsKey)...); a.status != 409 ||
		!strings.Contains(a.body, "Nothing was published: another version") || !strings.Contains(a.body, "Dog rose") {
		t.Errorf("rejected: %d", a.status)
	}
	if a := s.get(t, draftPath, as(sellsKey)...); a.status != 200 {
		t.Errorf("the review after a rejection: %d", a.status)
	}
	s.review.Draft.Ref = herb.Ref{Namespace: "locked", Name: "staff"}
	if a := s.get(t, path, as(sellsKey)...); a.status != 404 || strings.Contains(a.body, "Dog rose") ||
		strings.Contains(a.body, "locked") {
		t.Errorf("rejected, with the draft of another dataset: %d", a.status)
	}
	s.review.Draft.Ref = herb.Ref{Namespace: "nursery", Name: "stock"}
	s.record = ended(herb.CodeInternal, versions.StatusFailed, "open /secret/path")
	if a := s.get(t, path, as(sellsKey)...); a.status != 500 || strings.Contains(a.body, "/secret/path") {
		t.Errorf("failed: %d", a.status)
	}
	s.record = ended("", versions.StatusPublished, "")
	s.fakeDrafts.review = nil
	a := s.get(t, path, as(sellsKey)...)
	cookie := a.header.Get("Set-Cookie")
	if a.status != 303 || a.header.Get("Location") != "/datasets/nursery/stock" ||
		cookie != "herbarium_done=published/v1/v0; Path=/datasets/nursery/stock; Max-Age=120; HttpOnly; SameSite=Strict" {
		t.Errorf("live: %d %v", a.status, a.header)
	}
	if a := s.get(t, draftPath, as(sellsKey)...); a.status != 404 || !strings.Contains(a.body, "not waiting any more") {
		t.Errorf("the review after it: %d", a.status)
	}
}

// TestDone tells on the next page what was done, once, and offers to undo it.
func TestDone(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	visit := func(cookie string, more ...string) reply {
		return s.get(t, "/datasets/nursery/stock",
			append([]string{"Cookie", "herbarium_key=" + sellsKey + "; herbarium_done=" + cookie}, more...)...)
	}
	a := visit("published/v1/v0")
	if !strings.Contains(a.body, "Published.") || !strings.Contains(a.body, `name="to" value="v0"`) ||
		!strings.Contains(a.header.Get("Set-Cookie"), "herbarium_done=; Path=/datasets/nursery/stock; Max-Age=0") {
		t.Errorf("published: %d %v", a.status, a.header)
	}
	if a := visit("published/v1/"); !strings.Contains(a.body, "Published.") || strings.Contains(a.body, ">Undo<") {
		t.Error("the first version can be undone")
	}
	if a := visit("unchanged/v1/v0"); !strings.Contains(a.body, "Nothing to publish") ||
		strings.Contains(a.body, ">Undo<") {
		t.Error("an unchanged version can be undone")
	}
	for _, cookie := range []string{"published/v7/v0", "published", "x/v1/v0", "published/v1/v0/x"} {
		if a := visit(cookie); a.status != 200 || strings.Contains(a.body, `class="done"`) {
			t.Errorf("%s: %d", cookie, a.status)
		}
	}
	if a := visit("published/v1/v0", "X-Requested-With", "fetch"); a.header.Get("Set-Cookie") != "" {
		t.Error("a request of the script takes the message away from the page")
	}
	if a := s.get(t, "/datasets/nursery/stock", "Cookie",
		"herbarium_done=published/v1/v0"); strings.Contains(a.body, ">Undo<") {
		t.Error("visitors without a key can undo")
	}
}

// TestDone_unreadable publishes a dataset that the publisher may not read, and undoes it.
func TestDone_unreadable(t *testing.T) {
	t.Parallel()
	const path, rollback = draftPath + "/live/publish1", "/datasets/nursery/stock/rollback"
	const told = "Published. Your key may publish nursery/stock, but not read it."
	s := newPublishingSite(t)
	s.record = ended("", versions.StatusPublished, "")
	if a := s.get(t, path, as(sendsKey)...); a.header.Get("Location") != "/datasets/nursery/stock" {
		t.Errorf("an open dataset: %d %v", a.status, a.header)
	}
	stock := herb.Ref{Namespace: "nursery", Name: "stock"}
	live := s.library.View(stock)
	live.Access = herb.AccessKey
	s.library.Histories[stock] = []versions.Version{{Dataset: live.Dataset, Live: true}, s.library.Histories[stock][1]}
	if a := s.get(t, path, as(sellsKey)...); a.header.Get("Location") != "/datasets/nursery/stock" {
		t.Errorf("a key that may read it: %d %v", a.status, a.header)
	}
	a := s.get(t, path, as(sendsKey)...)
	cookie, attributes, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	if a.status != 303 || a.header.Get("Location") != "/publish" ||
		cookie != "herbarium_done=published/v1/v0/nursery/stock" || !strings.HasPrefix(attributes, " Path=/publish;") {
		t.Fatalf("live: %d %v", a.status, a.header)
	}
	visit := func(key, cookie string, more ...string) reply {
		return s.get(t, "/publish", append([]string{"Cookie", "herbarium_key=" + key + "; " + cookie}, more...)...)
	}
	if a := visit(sendsKey, cookie, "X-Requested-With", "fetch"); a.status != 200 || a.header.Get("Set-Cookie") != "" {
		t.Errorf("a request of the script: %d %v", a.status, a.header)
	}
	a = visit(sendsKey, cookie)
	if got := words(one(t, parse(t, a.body), tag("div", "done"))); got != told+"Undo" ||
		!strings.Contains(a.body, `action="`+rollback+`"`) ||
		!strings.Contains(a.body, `name="to" value="v0"`) ||
		!strings.Contains(a.header.Get("Set-Cookie"), "herbarium_done=; Path=/publish; Max-Age=0") ||
		a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("published: %d %v %s", a.status, a.header, got)
	}
	for _, cookie := range []string{"published/v7/v0/nursery/stock", "published/v1/v0", "published/v1/v0/locked/staff",
		"published/v1/v0/nursery/stock/x"} {
		if a := visit(sendsKey, "herbarium_done="+cookie); a.status != 200 || strings.Contains(a.body, `class="done"`) {
			t.Errorf("%s: %d", cookie, a.status)
		}
	}
	a = s.post(t, rollback, url.Values{"to": {"v0"}, "live": {"v1"}}, as(sendsKey)...)
	if a.status != 303 || a.header.Get("Location") != "/publish" ||
		!strings.HasPrefix(a.header.Get("Set-Cookie"), "herbarium_done=restored/v0/v1/nursery/stock; Path=/publish;") {
		t.Errorf("rollback: %d %v", a.status, a.header)
	}
	s.library.Histories[stock][1].Access = herb.AccessOpen
	if a := visit(sendsKey, cookie); !strings.Contains(a.body, `name="exposure" value="1" required`) {
		t.Error("the dataset becomes public without consent")
	}
}

// TestRollback makes another version live from the page of versions.
func TestRollback(t *testing.T) {
	t.Parallel()
	const path = "/datasets/nursery/stock/rollback"
	s := newPublishingSite(t)
	a := s.get(t, "/datasets/nursery/stock/versions", as(sellsKey)...)
	if strings.Count(a.body, `action="`+path+`"`) != 1 || !strings.Contains(a.body, `name="to" value="v0"`) ||
		!strings.Contains(a.body, "older csv") {
		t.Errorf("the page of versions: %d", a.status)
	}
	if a := s.get(t, "/datasets/nursery/stock/versions"); strings.Contains(a.body, path) ||
		strings.Contains(a.body, "older csv") {
		t.Error("visitors without a key can roll back, or see the report of a protected version")
	}
	a = s.post(t, path, url.Values{"to": {"v0"}, "live": {"v1"}}, as(sellsKey)...)
	if a.status != 303 || a.header.Get("Location") != "/datasets/nursery/stock/versions" ||
		!strings.Contains(a.header.Get("Set-Cookie"), "restored/v0/v1") {
		t.Errorf("rollback: %d %v", a.status, a.header)
	}
	s.post(t, path, url.Values{"to": {"v0"}, "live": {"v1"}, "exposure": {"1"}}, as(sellsKey)...)
	if got := strings.Join(s.rollbacks,
		", "); got != "nursery/stock v1 v0 sells00000, nursery/stock v1 v0 sells00000 allow_exposure" {
		t.Errorf("rollbacks: %s", got)
	}
	for _, form := range []url.Values{{}, {"to": {"v0"}}, {"to": {"../x"}, "live": {"v1"}}} {
		if a := s.post(t, path, form, as(sellsKey)...); a.status != 400 {
			t.Errorf("%v: %d", form, a.status)
		}
	}
	if a := s.post(t, "/datasets/garden/catalog/rollback", url.Values{"to": {"v0"}, "live": {"v1"}},
		as(sellsKey)...); a.status != 403 {
		t.Errorf("a dataset that the key may not publish: %d", a.status)
	}
	s.err = herb.Errorf(herb.CodePrecondition, "another version went live in the meantime")
	if a := s.post(t, path, url.Values{"to": {"v0"}, "live": {"v1"}}, as(sellsKey)...); a.status != 412 ||
		!strings.Contains(a.body, "another version went live") ||
		!strings.Contains(a.body, `href="/datasets/nursery/stock/versions"`) {
		t.Errorf("concurrent: %d", a.status)
	}
}

// TestLabels changes labels on the page of versions.
func TestLabels(t *testing.T) {
	t.Parallel()
	const path = "/datasets/nursery/stock/labels"
	s := newPublishingSite(t)
	a := s.get(t, "/datasets/nursery/stock/versions", as(sellsKey)...)
	if strings.Count(a.body, `action="`+path+`"`) != 2 { // one version for each form; none has a label
		t.Errorf("the page of versions has %d forms", strings.Count(a.body, `action="`+path+`"`))
	}
	if a := s.get(t, "/datasets/nursery/stock/versions"); strings.Contains(a.body, path) {
		t.Error("visitors without a key can change labels")
	}
	for _, form := range []url.Values{{"version": {"v0"}, "label": {" 2026-Q1 "}},
		{"version": {"v0"}, "remove": {"2026-Q1"}}} {
		a := s.post(t, path, form, as(sellsKey)...)
		if a.status != 303 || a.header.Get("Location") != "/datasets/nursery/stock/versions#v-v0" {
			t.Errorf("%v: %d %v", form, a.status, a.header)
		}
		if a := s.post(t, "/datasets/garden/catalog/labels", form, as(sellsKey)...); a.status != 403 {
			t.Errorf("%v for a dataset that the key may not publish: %d", form, a.status)
		}
		if a := s.post(t, path, form); a.status != 401 {
			t.Errorf("%v without a key: %d", form, a.status)
		}
	}
	if got := strings.Join(s.labels,
		", "); got != "add nursery/stock v0 2026-Q1 sells00000, remove nursery/stock v0 2026-Q1 sells00000" {
		t.Errorf("labels: %s", got)
	}
	s.err = herb.Errorf(herb.CodeRejected, "version v1 has the label")
	if a := s.post(t, path, url.Values{"version": {"v0"}, "label": {"x"}}, as(sellsKey)...); a.status != 409 ||
		!strings.Contains(a.body, "version v1 has the label") {
		t.Errorf("a used label: %d", a.status)
	}
}

func TestReview_discard(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	for range 2 { // it may be gone already
		if a := s.post(t, draftPath+"/discard", nil, as(sellsKey)...); a.status != 303 ||
			a.header.Get("Location") != "/publish" {
			t.Errorf("%d %v", a.status, a.header)
		}
	}
	if len(s.discarded) != 1 {
		t.Errorf("discarded %v", s.discarded)
	}
}

// TestReview_selectAll selects all tables of a file, with the names that were entered.
func TestReview_selectAll(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	s.review.Tables, s.review.Columns = []string{"Stops", "Trips"}, nil
	a := s.post(t, draftPath+"/tables", url.Values{"of-0": {"Stops"}, "of-1": {"Trips"}, "as-0": {"halts"},
		"as-1": {"trips"}, "table": {"Trips"}, "do": {"all"}}, as(sellsKey)...)
	if a.status != 200 || strings.Count(a.body, `form="split" checked`) != 2 ||
		!strings.Contains(a.body, `name="as-0" value="halts"`) {
		t.Errorf("%d: %s", a.status, a.body)
	}
}

// TestReview_discardAll removes the drafts of a form that the key may publish.
func TestReview_discardAll(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ref, key string
		status   int
		want     int
	}{
		{"nursery/stock", sellsKey, 303, 1}, {"other/stock", sellsKey, 303, 0}, {"nursery/stock", otherKey, 403, 0},
	} {
		s := newPublishingSite(t)
		s.review.Draft.Ref, _ = herb.ParseRef(tt.ref)
		a := s.post(t, "/publish-all/discard", url.Values{"draft": {"unknown", draftID}}, as(tt.key)...)
		if a.status != tt.status || len(s.discarded) != tt.want {
			t.Errorf("%s with %s: %d, discarded %v", tt.ref, tt.key, a.status, s.discarded)
		}
	}
}
