package layout_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/ingest/layout"
	"herbarium/internal/ingest/rows"
)

// table returns the rows of a text with a bar between values. A blank line is a gap.
func table(text string) (found []layout.Row) {
	gap := false
	for i, line := range strings.Split(text, "\n") {
		if line == "" {
			gap = true
			continue
		}
		r := layout.Row{Line: i + 1, End: i + 1, Gap: gap}
		for _, v := range strings.Split(line, "|") {
			r.Cells = append(r.Cells, []byte(v))
		}
		found, gap = append(found, r), false
	}
	return found
}

func TestGroups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		merges     []layout.Merge
		want       string // names with commas; empty: no groups
	}{
		{"alike without merged cells", "|Boys||Girls|\nSchool|2019|2020|2019|2020\nA|1|2|3|4\nB|5|6|7|8", nil, "School,Boys 2019,Boys 2020,Girls 2019,Girls 2020"},
		{"a name above a blank", "School|Boys||Girls|\n|n|%|n|%\nA|1|2|3|4\nB|5|6|7|8", nil, "School,Boys n,Boys %,Girls n,Girls %"},
		{"years as groups", "|2019||2020|\nTown|men|women|men|women\nA|1|2|3|4", nil, "Town,2019 men,2019 women,2020 men,2020 women"},
		{"units below", "|In||Out|\nid|x|y|x|y\n|m|kg|m|kg\na|1|2|3|4\nb|1|2|3|4", nil, "id,In x,In y,Out x,Out y"},
		{"other columns in each group", "|Boys||Girls|\nSchool|2019|2020|2019|Total\nA|1|2|3|4\nB|5|6|7|8", nil, ""},
		{"other columns in each group, all columns in groups", "Station|||Voters||\nNo|Name|Seats|men|women|other\n1|A|2|3|4|5\n2|B|6|7|8|9", nil,
			"Station No,Station Name,Station Seats,Voters men,Voters women,Voters other"},
		{"all columns in groups, records", "Station|||Voters||\na|A|x|b|c|5\nb|B|y|7|8|9", nil, ""},
		{"names without recurrence", "|Size||Price|\nid|w|h|net|gross\na|1|2|3|4\nb|1|2|3|4", nil, ""},
		{"merged", "|Size||Price|\nid|w|h|net|gross\na|1|2|3|4\nb|1|2|3|4", []layout.Merge{{1, 1, 1, 2}, {1, 3, 1, 4}}, "id,Size w,Size h,Price net,Price gross"},
		{"merged, one group", "id|Size|\n|w|h\na|1|2\nb|1|2", []layout.Merge{{1, 0, 2, 0}, {1, 1, 1, 2}}, "id,Size w,Size h"},
		{"merged above a record", "id|Name|\n7|Ann|Lee\n8|Bob|Ray", []layout.Merge{{1, 1, 1, 2}}, ""},
		{"merged above text", "id|Name|\nx|Ann|Lee\ny|Bob|Ray", []layout.Merge{{1, 1, 1, 2}}, ""},
		{"a merged title", "Data most recently refreshed on:||Dec 2020\nid|w|w\na|1|2\nb|1|2", []layout.Merge{{1, 0, 1, 2}}, ""},
		{"a long merged group", "Rates of districts of all provinces||Rates\nid|n|n\na|1|2\nb|1|2", []layout.Merge{{1, 0, 1, 1}}, "Rates of districts of all provinces id,Rates of districts of all provinces n,Rates n"},
		{"merged in another row", "|Size||Price|\nid|w|h|net|gross\na|1|2|3|4", []layout.Merge{{3, 1, 3, 2}}, ""},
		{"a title", "Prices\nid|w|h\na|1|2\nb|1|2", []layout.Merge{{1, 0, 1, 2}}, ""},
		{"blanks in both rows", " |Size| | \n |w|h| \na|1|2|3\nb|1|2|3", []layout.Merge{{1, 1, 1, 2}}, ""},
		{"blanks beside groups", "id|Size| | \n |w|h|n\na|1|2|3\nb|1|2|3", []layout.Merge{{1, 1, 1, 2}}, "id,Size w,Size h,n"},
		{"a title beside the table", "||Prices||\n||id|w|h\n||a|1|2\n||b|1|2", []layout.Merge{{1, 2, 1, 4}}, ""},
		{"columns without a name", "|Size|||K|\n|w|h||n|\na|1|2|3|4|5\nb|1|2|3|4|5", []layout.Merge{{1, 1, 1, 2}}, ",Size w,Size h,,K n"},
		{"records", "|A||B|\nx|1|2|1|2\ny|3|4|5|6", nil, ""},
		{"no group of several columns", "|Size||\nid|w||x\na|1|2|3\nb|1|2|3", []layout.Merge{{1, 1, 1, 2}}, ""},
		{"merged beyond the table", "a|||G\nx|y|z|w\nk|1|2|3\nl|1|2|3", []layout.Merge{{1, 3, 1, 9}}, ""},
		{"merged, units below", "|Size||\nid|w|h|n\n|m|m|kg\na|1|2|3\nb|1|2|3", []layout.Merge{{1, 1, 1, 2}}, "id,Size w,Size h,n"},
		{"three rows", "|North||||South|||\n|Boys||Girls||Boys||Girls|\nSchool|2019|2020|2019|2020|2019|2020|2019|2020\nA|1|2|3|4|5|6|7|8", nil,
			"School,North Boys 2019,North Boys 2020,North Girls 2019,North Girls 2020,South Boys 2019,South Boys 2020,South Girls 2019,South Girls 2020"},
		{"three rows, a name in the first", "School|N||||S|||\n|a||b||a||b|\n|x|y|x|y|x|y|x|y\nA|1|2|3|4|5|6|7|8", nil, "School,N a x,N a y,N b x,N b y,S a x,S a y,S b x,S b y"},
		{"three rows, merged", "id|Body|||Price|\n|Size||Mass|net|gross\n|w|h|||\na|1|2|3|4|5", []layout.Merge{{1, 0, 3, 0}, {1, 1, 1, 3}, {1, 4, 1, 5}, {2, 1, 2, 2}},
			"id,Body Size w,Body Size h,Body Mass,Price net,Price gross"},
		{"three rows, merged over two", "|A||Total|\n|B||\nid|x|y|n|%\na|1|2|3|4", []layout.Merge{{1, 1, 1, 2}, {1, 3, 2, 4}, {2, 1, 2, 2}}, "id,A B x,A B y,Total n,Total %"},
		{"three rows, other groups in each", "|North||||South|||\n|Boys||Girls||Boys||Men|\nSchool|2019|2020|2019|2020|2019|2020|2019|2020\nA|1|2|3|4|5|6|7|8", nil, ""},
		{"three rows, the first with one group", "|Pupils|||\n|Boys||Girls|\nSchool|2019|2020|2019|2020\nA|1|2|3|4", []layout.Merge{{1, 1, 1, 4}}, ""},
		{"three rows, a column without a name", "|N||||S||||\n|a||b||a||b||\nid|x|y|x|y|x|y|x|y|\nA|1|2|3|4|5|6|7|8|9", nil, "id,N a x,N a y,N b x,N b y,S a x,S a y,S b x,S b y"},
		{"a survey", "id|Age?|Fruit?||Why?\n|Response|Apple|Pear|Open-Ended Response\n1|old|Apple||x\n2|young||Pear|y", nil, "id,Age?,Fruit? Apple,Fruit? Pear,Why?"},
		{"a survey with one answer each", "id|Age?|Why?\n|Response|Response\n1|old|x\n2|young|y", nil, "id,Age?,Why?"},
		{"a survey of one", "id|Age?|Why?\n|Response|Response\n1|old|x", nil, ""},
		{"one response", "id|Age?|Fruit?|\n|Response|Apple|Pear\n1|old|Apple|\n2|young||Pear", nil, ""},
		{"responses as records", "id|a|b\nx|Response|Response\ny|Response|z\nw|p|q", nil, ""},
		{"a survey with equal questions", "id|Age?|Age?\n|Response|Response\n1|old|x\n2|young|y", nil, "id,Age?,Age?"},
		{"equal groups", "|Size||Size|\nid|w|h|w|h\na|1|2|3|4", nil, "id,Size w,Size h,Size w,Size h"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rows, header := table(c.text), 2
			if strings.HasPrefix(c.name, "three rows") {
				header = 3
			}
			if got := strings.Join(layout.Groups(rows[:header], rows[header:], func() []layout.Merge { return c.merges }, ""), ","); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestDetectHeader detects the header as both formats do. want is the line of the first row of the table and the number of
// rows of its header.
func TestDetectHeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text  string
		o           rows.Options
		first, size int
	}{
		{"names", "id|name|n\na|x|1\nb|y|2", rows.Options{}, 1, 1},
		{"titles that look like numbers", "Office\n1-877-882-3277\n2019-04-04\nid|name|n\na|x|1\nb|y|2", rows.Options{}, 4, 1},
		{"rows of numbers above names", "1\n2\nid|name|n\na|x|1\nb|y|2", rows.Options{}, 1, 0},
		{"facts above names", "Country|Chile\nYear|2017\nid|name|n|k\na|x|1|2\nb|y|2|3", rows.Options{}, 3, 1},
		{"facts above a gap", "Country|Chile\nYear|2017\n\nid|name|n|k\na|x|p|q\nb|y|r|s", rows.Options{}, 4, 1},
		{"facts above texts", "Country|Chile\nYear|2017\nid|name|n|k\na|x|p|q\nb|y|r|s", rows.Options{}, 1, 1},
		{"groups below a title", "Pupils\n|Boys||Girls|\nSchool|2019|2020|2019|2020\nA|1|2|3|4\nB|5|6|7|8", rows.Options{}, 2, 2},
		{"a gap below groups", "|Boys||Girls|\n\nSchool|2019|2020|2019|2020\nA|1|2|3|4\nB|5|6|7|8", rows.Options{}, 3, 1},
		{"records of numbers", "5.1|3.5\n4.9|3.0\n4.7|3.2", rows.Options{}, 1, 0},
		{"a number that may be a year", "842|M|17.9|2019\n843|B|20.5|956.5\n844|M|19.6|709.1\n845|M|11.4|567.7", rows.Options{}, 1, 0},
		{"years in any order", "State|2020|2016|2012\nA|5|6|7\nB|8|9|9", rows.Options{}, 1, 1},
		{"booleans", "true|x\nfalse|y\ntrue|z", rows.Options{}, 1, 0},
		{"names above booleans", "a|b\ntrue|false\nfalse|true", rows.Options{}, 1, 1},
		{"given rows with another between", "a|b\nx|y\nc|d\n1|2", rows.Options{HeaderRows: []int{1, 3}}, 1, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sampled, none := table(c.text), func() []layout.Merge { return nil }
			h := layout.DetectHeader(sampled, layout.FindHeader(sampled, none), c.o, none)
			if first := sampled[h.First].Line; first != c.first || h.End-h.First != c.size || len(c.o.HeaderRows) > 0 && h.Names != nil {
				t.Errorf("got line %d and %d rows, names %q; want line %d and %d rows", first, h.End-h.First, h.Names, c.first, c.size)
			}
		})
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{ // units with commas; empty: none
		"symbols":                       {"|kg|m/s\na|1|2\nb|3|4", ",kg,m/s"},
		"in parentheses":                {"|(%)|[µg/m³]\na|1|2\nb|3|4", ",%,µg/m³"},
		"words":                         {"|Million pounds|$ per cwt\na|1|2\nb|3|4", ",Million pounds,$ per cwt"},
		"a power of ten":                {"|1,000|Pounds\na|1|2\nb|3|4", ",1,000,Pounds"},
		"a label":                       {"Unit|°C|km²\na|1|2\nb|3|4", ",°C,km²"},
		"some without":                  {"|kg||\na|1|2|x\nb|3|4|y", ",kg,,"},
		"missing values below":          {"-|kWh\na|NA\nb|3\nc|4", ",kWh"},
		"most without":                  {"|kg|||\na|1|2|3|4\nb|3|4|5|6", ""},
		"above text":                    {"|kg\na|x\nb|y", ""},
		"a name":                        {"Rome|kg|m\na|1|2\nb|3|4", ""},
		"not a unit":                    {"|kg|big\na|1|2\nb|3|4", ""},
		"numbers":                       {"|1|2\na|1|2\nb|3|4", ""},
		"only powers of ten":            {"|1000|100\na|1|2\nb|3|4", ""},
		"most powers of ten":            {"|1000|100|kg\na|1|2|3\nb|3|4|5", ""},
		"missing values":                {"|NA|NA\na|1|2\nb|3|4", ""},
		"parentheses above text":        {"|(Cents per Kilowatthour, Including Taxes)|(Quads)\na|Not Available|x\nb|3|4", ",Cents per Kilowatthour, Including Taxes,Quads"},
		"parentheses above parentheses": {"|(x)|(y)\na|(z)|x\nb|3|y", ""},
		"one value in parentheses":      {"|(x)|\na|k|x\nb|3|y", ""},
		"negative amounts":              {"|(5)|(7)\na|k|x\nb|3|y", ""},
		"one record":                    {"|kg|m/s\na|1|2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := table(c.text)
			if got := strings.Join(layout.Units(rows[0], rows[1:]), ","); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestBody reads tables whose header is the first row. want lists the lines of the records.
func TestBody(t *testing.T) {
	t.Parallel()
	const records = "id|n|x\na|1|2\nb|3|4\nc|5|6\n"
	for _, c := range []struct {
		name, text string
		want       []int
		note       string // empty: none
	}{
		{"a plain table", records, []int{2, 3, 4}, ""},
		{"a source", records + "Source: the garden", []int{2, 3, 4}, "row 5 is below the table and not published: 5 (Source: the garden); use --header 1"},
		{"a copyright", records + " © the garden", []int{2, 3, 4}, "5 (© the garden)"},
		{"notes after a gap", records + "\n* estimated\nanother line", []int{2, 3, 4}, "6 (* estimated), 7 (another line)"},
		{"a sentence after a gap", records + "\nValues may not add up due to rounding", []int{2, 3, 4}, "6 (Values"},
		{"blank rows above", records + "||\n||\nNote: x||", []int{2, 3, 4}, "rows 5 to 7 are below the table and not published: 7 (Note: x); use"},
		{"text below numbers", "year|n\n2001|2\n2002|3\n2003|4\n\nprovisional", []int{2, 3, 4}, "6 (provisional)"},
		{"an incomplete record", records + "d||", []int{2, 3, 4, 5}, ""},
		{"an incomplete record after a gap", records + "\nd", []int{2, 3, 4, 6}, ""},
		{"a mark without a gap below numbers", "year|n\n2001|2\n2002|3\n2003|4\n* provisional", []int{2, 3, 4}, "5 (* provisional)"},
		{"a mark without a gap", records + "*NSYNC", []int{2, 3, 4, 5}, ""},
		{"an incomplete record and a source", records + "d\nSource: x", []int{2, 3, 4, 5}, "6 (Source: x)"},
		{"a source and a record", records + "Source: x\nd|7|8", []int{2, 3, 4, 5, 6}, ""},
		{"blank rows", records + "||\n||", []int{2, 3, 4, 5, 6}, ""},
		{"sections", "id|n\nEurope\na|1\nb|2\nAsia\nc|3\nd|4\n\n* a remark of a few words", []int{2, 3, 4, 5, 6, 7, 9}, ""},
		{"more notes than records", "id|n\na|1\nb|2\n\n* x\ny\nz", []int{2, 3, 5, 6, 7}, ""},
		{"remarks as records", "remark|n\nNote: call Ann|1\nNote: call Bob|2\nNote: call Cid", []int{2, 3, 4}, ""},
		{"remarks as records and a source", "remark|n\nNote: call Ann|1\nNote: call Bob|2\n\nSource: Cid", []int{2, 3}, "5 (Source: Cid)"},
		{"a source below one record", "id|n|x\na|1|2\nSource: x", []int{2, 3}, ""},
		{"a source with delimiters", records + "Source: Eurostat| 2019| own calculations", []int{2, 3, 4}, "5 (Source: Eurostat | 2019 | own calculations)"},
		{"a source with more delimiters than columns", records + "\nSource: a| b| c| d\nof 1|200 people| and more", []int{2, 3, 4}, "7 (of 1 | 200 people | and more)"},
		{"a sentence with delimiters", records + "\nValues may not add up| due to rounding", []int{2, 3, 4}, "6 (Values"},
		{"a sentence with delimiters without a gap", records + "Values may not add up| due to rounding", []int{2, 3, 4, 5}, ""},
		{"a total with blanks", records + "\nTotal of all rows that are above| 9| 12", []int{2, 3, 4, 6}, ""},
		{"a word with delimiters", records + "\nd| none", []int{2, 3, 4, 6}, ""},
		{"a source without blanks", records + "Source: a|b|c", []int{2, 3, 4, 5}, ""},
		{"a source like records", "id|n\na| x\nb| y\nSource: c| z", []int{2, 3, 4}, ""},
		{"blanks in all records", "year|n\n2001| 1\n2002| 2\nSource: c| z", []int{2, 3, 4}, ""},
		{"a source with delimiters and a record", records + "Source: a| b\nd|7|8", []int{2, 3, 4, 5, 6}, ""},
		{"a total", records + "\nTotal|9|12", []int{2, 3, 4, 6}, ""},
		{"repeated header", "id|n|x\na|1|2\nid|n|x\nb|3|4\nid|n|x\nc|5|6", []int{2, 4, 6}, "repeated header rows, which are not published: 2, the first is row 3"},
		{"repeated header of text", "name|city|land\nAnn|Rome|IT\nname|city|land\nBob|Oslo|NO", []int{2, 4}, "the first is row 3"},
		{"two names", "name|city\nAnn|Rome\nname|city\nBob|Oslo", []int{2, 3, 4}, ""},
		{"two names, three times", "name|city\nAnn|Rome\nname|city\nBob|Oslo\nname|city", []int{2, 4}, "not published: 2"},
		{"two names above numbers", "name|n\nAnn|1\nname|n\nBob|2", []int{2, 4}, "the first is row 3"},
		{"one name above numbers", "n\n1\nn\n2", []int{2, 3, 4}, ""},
		{"recurring words", "p|x|s\ne|x|t\np|x|s\ne|b|s", []int{2, 3, 4}, ""},
		{"words in other columns", "foo|bar|baz\nbar|baz|foo\nfoo|bar|baz\nbaz|foo|bar", []int{2, 3, 4}, ""},
		{"nothing but the header", "a|b|c\na|b|c", []int{2}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := table(strings.TrimSuffix(c.text, "\n"))
			var b layout.Body
			below := all[1:]
			if b.Start(all, layout.Header{End: 1}, make([]rows.Column, len(all[0].Cells)), false) {
				t.Error("the first row is taken for units")
			}
			got, err := lines(&b, below)
			if diff := cmp.Diff(c.want, got); diff != "" || err != io.EOF {
				t.Errorf("error %v, records (-want +got):\n%s", err, diff)
			}
			note := strings.Join(b.Notes("row", 1), "\n")
			if (note == "") != (c.note == "") || !strings.Contains(note, c.note) {
				t.Errorf("got note %q, want %q", note, c.note)
			}
			if n := len(got) + len(b.Lines()); !strings.Contains(note, "repeated header") && n != len(below) {
				t.Errorf("%d rows are records and %d footnotes; there are %d", len(got), len(b.Lines()), len(below))
			}
		})
	}
}

// lines reads all records and returns their lines. Rows are valid until the next one is read.
func lines(b *layout.Body, left []layout.Row) (found []int, err error) {
	shared := make([][]byte, 10)
	for {
		r, err := b.Next(func() (layout.Row, error) {
			if len(left) == 0 {
				return layout.Row{}, io.EOF
			}
			r := left[0]
			left = left[1:]
			for i, c := range r.Cells {
				shared[i] = append(shared[i][:0], c...)
			}
			r.Cells = shared[:len(r.Cells)]
			return r, nil
		})
		if err != nil {
			return found, err
		}
		found = append(found, r.Line)
	}
}

// TestBody_Held reads many rows that may be footnotes, and an error among them.
func TestBody_Held(t *testing.T) {
	t.Parallel()
	all := table("a|1|2\nb|3|4" + strings.Repeat("\nSource: x", 1000) + "\nc|5|6")
	var b layout.Body
	b.Start(all, layout.Header{}, make([]rows.Column, 3), false)
	got, err := lines(&b, slices.Clone(all))
	if len(got) != len(all) || !slices.IsSorted(got) || err != io.EOF || b.Notes("row", 1) != nil {
		t.Errorf("%d of %d records, error %v, notes %q", len(got), len(all), err, b.Notes("row", 1))
	}
	all = table(strings.Repeat("a|1\n", 500) + strings.Repeat("Source: x\n", 400))
	b = layout.Body{}
	b.Start(all[:500], layout.Header{}, make([]rows.Column, 2), false)
	if got, err := lines(&b, all); len(got) != 900 || err != io.EOF || b.Notes("row", 1) != nil {
		t.Errorf("%d of 900 records, error %v, notes %q", len(got), err, b.Notes("row", 1))
	}
	all = table("a|1\nb|2\nRemark| x\nc|3\nSource: a| b")
	b = layout.Body{}
	b.Start(all[:2], layout.Header{}, make([]rows.Column, 2), false)
	if got, err := lines(&b, all); len(got) != 5 || err != io.EOF {
		t.Errorf("%d of 5 records, error %v: a record below the sample looks like a footnote", len(got), err)
	}
	failure := errors.New("damaged")
	if _, err := b.Next(func() (layout.Row, error) { return layout.Row{}, failure }); err != io.EOF {
		t.Errorf("got error %v after the end", err)
	}
	b = layout.Body{}
	if _, err := b.Next(func() (layout.Row, error) { return layout.Row{}, failure }); err != failure {
		t.Errorf("got error %v", err)
	}
}

func TestWithoutNotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"id|n\na|1\nb|2":                           3,
		"id|n\na|1\nb|2\nc":                        3,
		"id\na\nb\nc\nd":                           5,
		"id|n\na| x\nb| y\nc":                      3,
		"id|n\na|1\nb|2\nSource: a| b\nand others": 3,
		"id|n\na| x\nb| y":                         3,
		"id|n\n1| x\nb| y":                         3,
	} {
		if got := len(layout.WithoutNotes(table(text))); got != want {
			t.Errorf("%q: got %d rows, want %d", text, got, want)
		}
	}
}
