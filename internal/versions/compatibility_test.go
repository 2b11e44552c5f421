package versions_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// field returns a field that is filterable and sortable, and searchable if it is text.
func field(name string, typ herb.Type) herb.Field {
	return herb.Field{Name: name, Type: typ, Searchable: typ == herb.TypeText, Filterable: true, Sortable: true}
}

// sequence yields records.
func sequence(records ...herb.Record) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// filled yields n records of empty values.
func filled(n, fields int) iter.Seq2[herb.Record, error] {
	return sequence(slices.Repeat([]herb.Record{make(herb.Record, fields)}, n)...)
}

func TestPublish_gate(t *testing.T) {
	t.Parallel()
	id, name, price := field("id", herb.TypeNumber), field("name", herb.TypeText), field("price", herb.TypeNumber)
	with := func(f herb.Field, change func(*herb.Field)) herb.Field {
		change(&f)
		return f
	}
	live := herb.Dataset{Ref: ref, Access: herb.AccessOpen, Fields: []herb.Field{id, name, price}}
	const records = 10
	for _, tt := range []struct {
		name    string
		change  func(*herb.Dataset)
		records int
		want    []string // breaking changes begin with "-"
	}{
		{name: "nothing", records: 10},
		{
			name: "a field more", records: 10,
			change: func(d *herb.Dataset) { d.Fields = []herb.Field{id, field("new", herb.TypeDate), name, price} },
			want:   []string{`field "new" is added, a date`},
		},
		{name: "another order of fields", records: 10,
			change: func(d *herb.Dataset) { d.Fields = []herb.Field{price, id, name} }},
		{
			name: "a field less", records: 10, change: func(d *herb.Dataset) { d.Fields = []herb.Field{id, price} },
			want: []string{`-field "name" is removed`},
		},
		{
			name: "a field of another name", records: 10,
			change: func(d *herb.Dataset) { d.Fields = []herb.Field{id, name, field("cost", herb.TypeNumber)} },
			want:   []string{`-field "price" appears to be renamed to "cost", a number in the same position`},
		},
		{
			name: "one field for another", records: 10,
			change: func(d *herb.Dataset) { d.Fields = []herb.Field{id, name, field("cost", herb.TypeText)} },
			want:   []string{`-field "price" is removed`, `field "cost" is added, a text`},
		},
		{
			name: "another type", records: 10,
			change: func(d *herb.Dataset) {
				d.Fields = []herb.Field{
					id, name, with(price, func(f *herb.Field) { f.Type = herb.TypeText; f.Searchable = true })}
			},
			want: []string{`-field "price" is a text instead of a number`, `field "price" is now searchable`},
		},
		{
			name: "a finer type", records: 10,
			change: func(d *herb.Dataset) {
				d.Fields = []herb.Field{
					id, with(name, func(f *herb.Field) { f.Type = herb.TypeDateTime; f.Searchable = false }), price}
			},
			want: []string{`field "name" is a datetime instead of a text`, `field "name" is no longer searchable`},
		},
		{
			name: "a finer type without sorting", records: 10,
			change: func(d *herb.Dataset) {
				d.Fields = []herb.Field{
					id, with(name, func(f *herb.Field) { f.Type = herb.TypeBoolean; f.Sortable = false }), price}
			},
			want: []string{`field "name" is a boolean instead of a text`, `-field "name" is no longer sortable`},
		},
		{
			name: "text as a list", records: 10,
			change: func(d *herb.Dataset) {
				d.Fields = []herb.Field{id, with(name, func(f *herb.Field) { f.Type = herb.TypeList }), price}
			},
			want: []string{`-field "name" is a list instead of a text`},
		},
		{
			name: "flags", records: 10,
			change: func(d *herb.Dataset) {
				d.Fields = []herb.Field{
					with(id, func(f *herb.Field) { f.Filterable = false }),
					with(name, func(f *herb.Field) { f.Searchable, f.Sortable = false, false }),
					price,
				}
			},
			want: []string{`-field "id" is no longer filterable`, `-field "name" is no longer searchable`,
				`-field "name" is no longer sortable`},
		},
		{
			name: "categories", records: 10,
			change: func(d *herb.Dataset) {
				d.Fields = []herb.Field{id, with(name, func(f *herb.Field) {
					f.Categories = []herb.Category{{Value: "a", Label: "oak"}}
				}), with(price, func(f *herb.Field) { f.Ordered = true })}
			},
			want: []string{`field "name" has other categories, such as "a = oak", which is new`,
				`field "price" has other categories`},
		},
		{
			name: "settings", records: 10,
			change: func(d *herb.Dataset) {
				d.Access, d.PrimaryKey, d.Order = herb.AccessKey, []string{"id", "name"},
					herb.Order{Field: "price", Desc: true}
			},
			want: []string{
				"access is key instead of open", "records have the primary key (id, name) instead of no primary key",
				"records come by price, descending instead of in the order of the source",
			},
		},
		{name: "more records", records: 11, want: []string{"the number of records is 11 instead of 10"}},
		{name: "half of the records", records: 5, want: []string{"the number of records is 5 instead of 10"}},
		{name: "less than half", records: 4,
			want: []string{"-more than half of the records are missing: 4 instead of 10"}},
		{
			name: "all at once", records: 1, change: func(d *herb.Dataset) { d.Fields = d.Fields[:1] },
			want: []string{
				`-field "name" is removed`, `-field "price" is removed`,
				"-more than half of the records are missing: 1 instead of 10",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := versionstest.NewSharedDir(t)
			l := s.Open(t)
			first, err := l.Publish(t.Context(), versions.Publication{Dataset: live, Records: filled(records, 3)})
			if err != nil || len(first.Changes) != 0 || first.Replaces != "" {
				t.Fatalf("the first version: %+v, %v", first, err)
			}
			next := live
			if tt.change != nil {
				tt.change(&next)
			}
			p := versions.Publication{Dataset: next, Records: filled(tt.records, len(next.Fields))}
			out, err := l.Publish(t.Context(), p)
			var got []string
			breaking := false
			for _, c := range out.Changes {
				mark := ""
				if c.Breaking {
					mark, breaking = "-", true
					if herb.CodeOf(err) != herb.CodeRejected ||
						!strings.Contains(err.Error()+"\n", "\n  - "+c.Message+"\n") {
						t.Errorf("%v does not contain %q", err, c.Message)
					}
				}
				got = append(got, mark+c.Message)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || out.Replaces != first.Version {
				t.Errorf("changes to %q (-want +got):\n%s", out.Replaces, diff)
			}
			if !breaking {
				if err != nil || versionstest.Acquire(t, l).Version != out.Version {
					t.Errorf("%v; want it live", err)
				}
				return
			}
			if versionstest.Acquire(t, l).Version != first.Version || len(s.Files(t)) != 1 || out.Version != "" {
				t.Errorf("a rejected version left files: %v", s.Files(t))
			}
			p.Consents = []herb.Consent{herb.ConsentBreaking}
			again, err := l.Publish(t.Context(), p)
			if err != nil || versionstest.Acquire(t, l).Version != again.Version {
				t.Errorf("allowed: %v", err)
			}
			if diff := cmp.Diff(out.Changes, again.Changes); diff != "" {
				t.Errorf("changes when allowed (-rejected +allowed):\n%s", diff)
			}
		})
	}
}

// TestPublish_uniqueKeys rejects records that repeat a key besides the primary key.
func TestPublish_uniqueKeys(t *testing.T) {
	t.Parallel()
	l := versionstest.NewSharedDir(t).Open(t)
	p := versions.Publication{
		Dataset: herb.Dataset{
			Ref: ref, Fields: []herb.Field{field("id", herb.TypeNumber), field("name", herb.TypeText)}},
		UniqueKeys: [][]string{{"id"}, {"id", "name"}},
		Records:    sequence(herb.Record{"1", "a"}, herb.Record{"1.0", "b"}, herb.Record{"2", "b"}),
	}
	const want = `unique key (id) is not unique: 1 record repeats the key of an earlier one; "1" in records 1 and 2`
	if _, err := l.Publish(t.Context(), p); herb.CodeOf(err) != herb.CodeRejected ||
		!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "id, name") {
		t.Errorf("got error %v, want %q", err, want)
	}
	p.UniqueKeys = p.UniqueKeys[1:]
	if _, err := l.Publish(t.Context(), p); err != nil {
		t.Error(err)
	}
}

func TestPublish_primaryKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		key     []string
		records []herb.Record
		want    string // part of the rejection; empty if it is published
	}{
		{name: "unique", key: []string{"id"}, records: []herb.Record{{"1", "a"}, {"2", "a"}, {"", "b"}, {"", "c"}}},
		{
			name: "not unique", key: []string{"id"}, records: []herb.Record{{"1", "a"}, {"2", "b"}, {"1.0", "c"},
				{"2", "d"}, {"3", ""}},
			want: `primary key (id) is not unique: 2 records repeat the key of an earlier one; ` +
				`"1" in records 1 and 3; "2" in records 2 and 4`,
		},
		{
			name: "once", key: []string{"id"}, records: []herb.Record{{"1", "a"}, {"1", "b"}},
			want: `1 record repeats the key of an earlier one; "1" in records 1 and 2`,
		},
		{name: "two fields", key: []string{"name", "id"}, records: []herb.Record{{"1", "a"}, {"2", "a"}, {"1", "b"}}},
		{
			name: "two fields, not unique", key: []string{"name", "id"},
			records: []herb.Record{{"1", "a"}, {"2", "a"}, {"1", "a"}, {"1", "a"}},
			want:    `"a", "1" in records 1, 3 and 4`,
		},
		{
			name: "very often", key: []string{"name"}, records: slices.Repeat([]herb.Record{{"1", "a"}}, 7),
			want: `6 records repeat the key of an earlier one; "a" in records 1, 2, 3, 4, 5, …`,
		},
		{name: "no such field", key: []string{"id", "code"}, records: []herb.Record{{"1", "a"}, {"1", "a"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := versionstest.NewSharedDir(t)
			l := s.Open(t)
			p := versions.Publication{
				Dataset: herb.Dataset{
					Ref: ref, Fields: []herb.Field{field("id", herb.TypeNumber), field("name", herb.TypeText)},
					Details: herb.Details{PrimaryKey: tt.key},
				},
				Records: sequence(tt.records...),
			}
			out, err := l.Publish(t.Context(), p)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if slices.Contains(tt.key, "code") && (len(out.PrimaryKey) > 0 || len(out.Report.Notes) != 1) {
					t.Errorf("an invalid primary key is kept: %v %q", out.PrimaryKey, out.Report.Notes)
				}
				return
			}
			if herb.CodeOf(err) != herb.CodeRejected || !strings.Contains(err.Error(), tt.want) ||
				len(s.Files(t)) != 0 {
				t.Fatalf("%v; want a rejection with %q and no files, got %v", err, tt.want, s.Files(t))
			}
			p.Consents = []herb.Consent{herb.ConsentBreaking}
			out, err = l.Publish(t.Context(), p)
			if err != nil || len(out.Report.Notes) != 1 || !strings.Contains(out.Report.Notes[0], tt.want) {
				t.Errorf("allowed: %v, notes %q", err, out.Report.Notes)
			}
		})
	}
}

func TestPublish_expectations(t *testing.T) {
	t.Parallel()
	total := func(n int) *int { return &n }
	for _, tt := range []struct {
		name         string
		expectations []herb.Expectation
		want         []string // parts of the rejection; none if it is published
	}{
		{name: "all hold", expectations: []herb.Expectation{
			{Query: "", Total: total(3)},
			{Query: "?name=moss", Total: total(1), First: map[string]string{"id": "2"}},
			{Query: "sort=id&order=desc&per_page=1", Total: total(3),
				First: map[string]string{"id": "3", "name": "ivy"}},
			{Query: "search=fern"},
			{Query: "name=oak", Total: total(0)},
			{Query: "", Min: total(3), Max: total(3)},
			{Query: "name=oak", Max: total(2)},
		}},
		{
			name:         "limits",
			expectations: []herb.Expectation{{Query: "name=moss", Min: total(2)}, {Query: "", Max: total(1)}},
			want: []string{`expectation 1, "name=moss": expected at least 2 records, found 1`,
				`expectation 2, "": expected at most 1 record, found 3`},
		},
		{
			name:         "total",
			expectations: []herb.Expectation{{Query: "name=moss", Total: total(2)}},
			want:         []string{`expectation 1, "name=moss": expected 2 records, found 1`},
		},
		{
			name: "first record",
			expectations: []herb.Expectation{
				{Query: ""}, {Query: "sort=name", First: map[string]string{"id": "2", "name": "fern", "code": "x"}}},
			want: []string{
				`expectation 2, "sort=name": field "id" of the first record: expected "2", found "1"`,
				`expectation 2, "sort=name": the first record has no field "code"; fields: id, name`,
			},
		},
		{
			name:         "no record",
			expectations: []herb.Expectation{{Query: "name=oak", Total: total(1), First: map[string]string{"id": "2"}}},
			want:         []string{`expected 1 record, found 0`, `expected a first record, found none`},
		},
		{
			name:         "not a query",
			expectations: []herb.Expectation{{Query: "nmae=moss", Total: total(1)}},
			want:         []string{`expectation 1, "nmae=moss": `, `did you mean "name"`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := versionstest.NewSharedDir(t)
			l := s.Open(t)
			p := versions.Publication{
				Dataset: herb.Dataset{
					Ref: ref, Fields: []herb.Field{field("id", herb.TypeNumber), field("name", herb.TypeText)}},
				Records:      sequence(herb.Record{"1", "fern"}, herb.Record{"2", "moss"}, herb.Record{"3", "ivy"}),
				Expectations: tt.expectations,
			}
			// it does not apply to expectations
			for _, p.Consents = range [][]herb.Consent{nil, {herb.ConsentBreaking}} {
				_, err := l.Publish(t.Context(), p)
				if len(tt.want) == 0 {
					if err != nil {
						t.Error(err)
					}
					continue
				}
				for _, want := range tt.want {
					if herb.CodeOf(err) != herb.CodeRejected || !strings.Contains(err.Error(), want) {
						t.Errorf("%v; want a rejection with %q", err, want)
					}
				}
				if len(s.Files(t)) != 0 {
					t.Errorf("left %v", s.Files(t))
				}
			}
		})
	}
}

// TestPublish_expectationsMove expects recent records.
func TestPublish_expectationsMove(t *testing.T) {
	t.Parallel()
	one := 1
	for age, want := range map[int]string{39: "", 41: `"date[gte]=today-40d": expected at least 1 record, found 0`} {
		newest := time.Now().UTC().AddDate(0, 0, -age).Format(time.DateOnly)
		_, err := versionstest.NewSharedDir(t).Open(t).Publish(t.Context(), versions.Publication{
			Dataset:      herb.Dataset{Ref: ref, Fields: []herb.Field{field("date", herb.TypeDate)}},
			Records:      sequence(herb.Record{"2000-01-01"}, herb.Record{newest}),
			Expectations: []herb.Expectation{{Query: "date[gte]=today-40d", Min: &one}},
		})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("records that are %d days old: %v; want %q", age, err, want)
		}
	}
}

func TestPublish_charts(t *testing.T) {
	t.Parallel()
	l := versionstest.NewSharedDir(t).Open(t)
	for _, tt := range []struct {
		chart herb.PinnedChart
		want  string // empty: it is valid
	}{
		{herb.PinnedChart{By: []string{"name", "id:10"}, Measure: "mean:id"}, ""},
		{herb.PinnedChart{Measure: "distinct:name"}, ""},
		{herb.PinnedChart{By: []string{"nmae"}}, `charts[1]: unknown field "nmae" in "_by"; did you mean "name"?`},
		{herb.PinnedChart{By: []string{"name:month"}}, "has no intervals"},
		{herb.PinnedChart{Measure: "sum:name"}, `fields with a sum: id`},
		{herb.PinnedChart{Measure: "total:id"}, "valid measures: count, "},
		{herb.PinnedChart{By: []string{"name", "id", "id:5"}}, "at most 2"},
	} {
		for _, check := range []bool{true, false} {
			_, err := l.Publish(t.Context(), versions.Publication{
				Dataset: herb.Dataset{Ref: ref,
					Fields: []herb.Field{field("id", herb.TypeNumber), field("name", herb.TypeText)}},
				Records: sequence(herb.Record{"1", "fern"}), Charts: []herb.PinnedChart{{By: []string{"id"}}, tt.chart},
				PublishOptions: versions.PublishOptions{Check: check},
			})
			if tt.want == "" && err != nil || tt.want != "" &&
				(herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v: %v; want %q", tt.chart, err, tt.want)
			}
		}
	}
}

func TestPublish_check(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	check := func(n int) (versions.Result, error) {
		return l.Publish(t.Context(), versions.Publication{
			Dataset: herb.Dataset{Ref: ref, Fields: fields}, Records: versionstest.Numbers(n, nil),
			PublishOptions: versions.PublishOptions{Check: true},
		})
	}
	if out, err := check(3); err != nil || out.Version != "" || out.Report.Columns[0].Max != "3" {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := l.Acquire(t.Context(), ref); herb.CodeOf(err) != herb.CodeNotFound || len(s.Files(t)) != 0 {
		t.Errorf("a check published something: %v, %v", err, s.Files(t))
	}
	before := versionstest.Publish(t, l, 9)
	out, err := check(3)
	if herb.CodeOf(err) != herb.CodeRejected || out.Report == nil || out.Replaces != before.Version ||
		len(out.Changes) != 1 {
		t.Errorf("a check of a third of the records: %+v, %v; want a rejection with report and changes", out, err)
	}
	if versionstest.Acquire(t, l).Version != before.Version || len(s.Files(t)) != 1 {
		t.Errorf("a check changed something: %v", s.Files(t))
	}
}

// TestPublish_atOnce has several concurrent publishers of one dataset, each with its own fields.
// Regardless of the order in which they commit, no version replaces one whose fields it lacks.
func TestPublish_atOnce(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	libraries := []*versionstest.Node{s.Open(t), s.Open(t), s.Open(t)}
	var publishing sync.WaitGroup
	for i := range 6 {
		publishing.Go(func() {
			fields := []herb.Field{field("id", herb.TypeNumber)}
			for k := range i % 3 {
				fields = append(fields, field(fmt.Sprint("more", k), herb.TypeText))
			}
			_, err := libraries[i%3].Publish(t.Context(), versions.Publication{
				Dataset: herb.Dataset{Ref: ref, Fields: fields}, Records: filled(i+1, len(fields)),
			})
			if err != nil && herb.CodeOf(err) != herb.CodeRejected {
				t.Error(err)
			}
		})
	}
	publishing.Wait()
	history, err := libraries[0].History(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	width, records := 1000, 1000
	for _, v := range history { // from the newest
		d, err := libraries[1].Version(t.Context(), ref, v.Version)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Fields) > width || d.Records > 2*records {
			t.Errorf("a version with %d fields and %d records was replaced by one with %d and %d", len(d.Fields),
				d.Records, width, records)
		}
		width, records = len(d.Fields), d.Records
	}
	if files := s.Files(t); len(files) != len(history) {
		t.Errorf("files %v of %d versions", files, len(history))
	}
}

// interrupted is a catalogue that runs a hook just before the first version is added.
type interrupted struct {
	versionstest.Catalogue
	happen func()
}

func (c *interrupted) AddVersion(ctx context.Context, d herb.Dataset, live string, keep herb.Keep,
	at time.Time) ([]string, error) {
	if happen := c.happen; happen != nil {
		c.happen = nil
		happen()
	}
	return c.Catalogue.AddVersion(ctx, d, live, keep, at)
}

// TestPublish_comparedAgain makes another version live between the comparison and the commit.
func TestPublish_comparedAgain(t *testing.T) {
	t.Parallel()
	id, name := field("id", herb.TypeNumber), field("name", herb.TypeText)
	for what, tt := range map[string]struct {
		fields   []herb.Field // of the version that comes in between
		rejected bool
	}{
		"with less":  {fields: []herb.Field{id}},
		"with more":  {fields: []herb.Field{id, name, field("more", herb.TypeText)}, rejected: true},
		"with alike": {fields: []herb.Field{id, name}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := versionstest.NewSharedDir(t)
			other := s.Open(t)
			var between versions.Result
			l, err := versionstest.Open(&interrupted{s.DB, func() {
				var err error
				between, err = other.Publish(t.Context(), versions.Publication{
					Dataset: herb.Dataset{Ref: ref, Fields: tt.fields}, Records: filled(2, len(tt.fields)),
				})
				if err != nil {
					t.Error(err)
				}
			}}, versionstest.Options{Dir: s.Dir})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			out, err := l.Publish(t.Context(), versions.Publication{
				Dataset: herb.Dataset{Ref: ref, Fields: []herb.Field{id, name}}, Records: filled(2, 2),
			})
			if out.Replaces != between.Version || (herb.CodeOf(err) == herb.CodeRejected) != tt.rejected ||
				err != nil && !tt.rejected {
				t.Errorf("it was compared with %q: %v", out.Replaces, err)
			}
			want := out.Version
			if tt.rejected {
				want = between.Version
			}
			if live := versionstest.Acquire(t, other).Version; live != want {
				t.Errorf("version %s is live; want %s", live, want)
			}
		})
	}
}

// TestPublish_staleLive publishes with a live version that was read before another one went live.
func TestPublish_staleLive(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		// of the version that the publisher knows, of the live one, and of the new one; 0: none
		known, live, records int
		rejected             bool
	}{
		{"the first one", 0, 0, 3, false},
		{"up to date", 4, 4, 3, false},
		{"another first one", 0, 4, 3, false},
		{"another first one that it breaks", 0, 9, 3, true},
		{"another one", 4, 5, 3, false},
		{"another one that it breaks", 4, 9, 3, true},
		{"it would break the one before", 9, 4, 3, false},
		{"rejected", 9, 9, 3, true},
		{"removed meanwhile", 9, 0, 3, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := versionstest.NewSharedDir(t).Open(t)
			if tt.known > 0 {
				versionstest.Publish(t, l, tt.known)
			}
			known, err := l.LiveVersion(t.Context(), ref)
			must.NoError(t, err)
			live := known.Version
			switch {
			case tt.live == tt.known:
			case tt.live > 0:
				live = versionstest.Publish(t, l, tt.live).Version
			default:
				live = ""
				must.NoError(t, l.Remove(t.Context(), ref, ""))
			}
			out, err := l.Publish(t.Context(), versions.Publication{
				Dataset: herb.Dataset{Ref: ref, Fields: fields}, Records: versionstest.Numbers(tt.records, nil),
				Live: &known,
			})
			if (herb.CodeOf(err) == herb.CodeRejected) != tt.rejected || err != nil && !tt.rejected ||
				out.Replaces != live {
				t.Errorf("compared with %q, %v; want %q, rejected %v", out.Replaces, err, live, tt.rejected)
			}
			want := tt.records
			if tt.rejected {
				want = tt.live
			}
			versionstest.WantListed(t, l, ref, want)
		})
	}
}
