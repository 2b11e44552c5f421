package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/value"
	"herbarium/internal/must"
)

// TestConstraints checks the values of a column against the constraints of its field.
func TestConstraints(t *testing.T) {
	t.Parallel()
	const numbers, dates, texts, lists = "1,5\n10\n\n7,0", "01.02.2024\n15.03.2024\n\n30.04.2024", "rose\nMoss\n\nGrün",
		"\"a,b\"\nc\n\n\"d,e,f\""
	number, date := value.Schema{Type: "number", DecimalChar: ","}, value.Schema{Type: "date", Format: "%d.%m.%Y"}
	text, list := value.Schema{Type: "string"}, value.Schema{Type: "list"}
	type set = descriptor.Constraints
	for _, c := range []struct {
		name        string
		values      string
		schema      value.Schema
		constraints set
		want        string // in the error; empty: there is none
	}{
		{"required", texts, text, set{Required: true}, `line 4: field "a" is required and has no value`},
		{"minimum", numbers, number, set{Minimum: "1.5", Maximum: "10"}, ""},
		{"below the minimum", numbers, number, set{Minimum: "2"},
			`line 2: field "a" is "1,5", less than the minimum 2`},
		{"minimum in the notation of the field", numbers, number, set{Minimum: "1,6"},
			`"1,5", less than the minimum 1,6`},
		{"above the maximum", numbers, number, set{Maximum: "9.9"},
			`line 3: field "a" is "10", more than the maximum 9.9`},
		{"exclusive minimum", numbers, number, set{ExclusiveMinimum: "1.5"}, "not more than the exclusive minimum"},
		{"exclusive maximum", numbers, number, set{ExclusiveMaximum: "10.0"}, "not less than the exclusive maximum"},
		{"dates", dates, date, set{Minimum: "2024-02-01", Maximum: "2024-04-30"}, ""},
		{"a later date", dates, date, set{Maximum: "2024-04-01"}, `"30.04.2024", more than the maximum 2024-04-01`},
		{"bounds that move with time", dates, date, set{Minimum: "today-99999d", ExclusiveMaximum: "today"}, ""},
		{"after a bound that moves", dates, date, set{Maximum: "today-9999d"},
			`"01.02.2024", more than the maximum today-9999d, ` +
				time.Now().UTC().AddDate(0, 0, -9999).Format(time.DateOnly)[:3]},
		{"an unknown unit", dates, date, set{Maximum: "today-1x"},
			`the constraint maximum: "today-1x" is not a date that moves with time`},
		{"a number that moves", numbers, number, set{Maximum: "today"},
			`the constraint maximum is "today", which is not a number`},
		{"a bound of another type", numbers, number, set{Minimum: "soon"},
			`the constraint minimum is "soon", which is not a number`},
		{"lengths", texts, text, set{MinLength: 4, MaxLength: new(4)}, ""},
		{"too short", texts, text, set{MinLength: 5}, `"rose", which has 4 characters; the minimum is 5`},
		{"too long", texts, text, set{MaxLength: new(0)}, "the maximum is 0"},
		{"elements", lists, list, set{MaxLength: new(2)}, `"d,e,f", which has 3 elements; the maximum is 2`},
		{"pattern", texts, text, set{Pattern: `[\p{L}]+`}, ""},
		{"pattern of a part", texts, text, set{Pattern: `os`}, `"rose", which does not match the pattern "os"`},
		{"alternatives", texts, text, set{Pattern: `rose|Moss`}, `"Grün", which does not match`},
		{"enum", texts, text, set{Enum: []string{"rose", "Moss", "Grün"}}, ""},
		{"another value", texts, text, set{Enum: []string{"rose", "moss", "Grün"}},
			`"Moss", which is none of rose, moss, Grün`},
		{"enum by value", numbers, number, set{Enum: []string{"1.50", "10", "7"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, t.TempDir(), "x.tsv", "a\tb\n"+strings.ReplaceAll(c.values, "\n", "\tx\n")+"\tx\n")
			src := ingest.Source{Path: path,
				Fields: []ingest.FieldSetting{{Name: "a", Schema: c.schema, Constraints: c.constraints}, {Name: "b"}}}
			src.Dialect.Header = "present"
			found, err := ingest.Inspect(t.Context(), src, ingest.Options{})
			switch {
			case err == nil:
				if err := found.Close(); err != nil || c.want != "" {
					t.Errorf("no error; want %q; closing: %v", c.want, err)
				}
			case c.want == "" || herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), c.want):
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

// TestCategories checks the values of a column against the categories of its field.
func TestCategories(t *testing.T) {
	t.Parallel()
	const file = "a\tb\n1\tx\n1.0\ty\n\tx\n2\t\n"
	numbers := []herb.Category{{Value: "1", Label: "one"}, {Value: "2"}}
	texts := []herb.Category{{Value: "x"}, {Value: "y"}}
	for _, tt := range []struct {
		name   string
		a, b   []herb.Category
		enum   []string
		typeOf string // of a
		want   string // in the error; empty: there is none
	}{
		{"all values", numbers, texts, nil, "number", ""},
		{"by value", []herb.Category{{Value: "1.00"}, {Value: "2"}}, nil, nil, "number", ""},
		{"another number", numbers[:1], nil, nil, "number",
			`line 5: field "a" is "2", which is none of the categories 1`},
		{"another text", nil, texts[:1], nil, "number", `line 3: field "b" is "y", which is none of the categories x`},
		{"texts as written", numbers, nil, nil, "string", `line 3: field "a" is "1.0", which is none`},
		{"not a number", []herb.Category{{Value: "one"}}, nil, nil, "number",
			`the category is "one", which is not a number`},
		{"equal numbers", append(numbers, herb.Category{Value: "1.0"}), nil, nil, "number", "are the same number"},
		{"enum", numbers, nil, []string{"1", "2.0"}, "number", ""},
		{"larger enum", numbers, nil, []string{"1", "2", "3"}, "number",
			`enum has "3", which is none of the categories`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := ingest.Source{Path: writeFile(t, t.TempDir(), "x.tsv", file), Fields: []ingest.FieldSetting{
				{Name: "a", Schema: value.Schema{Type: tt.typeOf}, Categories: tt.a,
					Constraints: descriptor.Constraints{Enum: tt.enum}},
				{Name: "b", Schema: value.Schema{Type: "string"}, Categories: tt.b},
			}}
			found, err := ingest.Inspect(t.Context(), src, ingest.Options{})
			if tt.want != "" {
				if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
				return
			}
			must.NoError(t, err)
			defer found.Close()
			f := found.Dataset.Fields[0]
			if !slices.Equal(f.Categories, tt.a) || f.Searchable != (tt.typeOf == "string" || f.HasCategoryLabels()) {
				t.Errorf("field %+v", f)
			}
		})
	}
}

// TestCategories_ordered checks that a note says if sort does not follow the order of the
// categories.
func TestCategories_ordered(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]bool{"low,mid,high": true, "high,low,mid": false} {
		var categories []herb.Category
		for value := range strings.SplitSeq(values, ",") {
			categories = append(categories, herb.Category{Value: value})
		}
		found := inspect(t, ingest.Source{Path: writeFile(t, t.TempDir(), "x.csv", "a,b\nlow,1\nhigh,2\n"),
			Fields: []ingest.FieldSetting{{Name: "a", Schema: value.Schema{Type: "string"}, Categories: categories,
				Ordered: true}}})
		noted := strings.Contains(strings.Join(found.Dataset.Report.Notes, "\n"), "categoriesOrdered")
		if noted != want || !found.Dataset.Fields[0].Ordered {
			t.Errorf("%s: note %t, want %t", values, noted, want)
		}
	}
}

// TestConstraints_patternLimits checks that the patterns of a schema are limited as a whole, and
// the steps of checking them.
func TestConstraints_patternLimits(t *testing.T) {
	t.Parallel()
	many := descriptor.Source{}
	header, line := "a", "x"
	for i := range 60 {
		header, line = fmt.Sprintf("%s,f%d", header, i), line+",x"
		many.Fields = append(many.Fields,
			ingest.FieldSetting{Name: fmt.Sprint("f", i), Constraints: descriptor.Constraints{Pattern: "[a-z]{0,999}"}})
	}
	many.Path = writeFile(t, t.TempDir(), "x.csv", header+"\n"+line+"\n")
	slow := ingest.Source{Path: writeFile(t, t.TempDir(), "x.csv",
		"a,b\n"+strings.Repeat(strings.Repeat("a", 400)+"!,x\n", 1000))}
	slow.Fields = []ingest.FieldSetting{{Name: "a", Constraints: descriptor.Constraints{Pattern: `(.*a){320}.*`}},
		{Name: "b"}}
	for want, src := range map[string]ingest.Source{
		`the patterns of the schema compile to more than 100,000 instructions`:                                                many,
		`field "a": checking the pattern "(.*a){320}.*" takes too long: more than 200,000,000 steps beyond 100 for each byte`: slow,
	} {
		src.Dialect.Header = "present"
		_, err := ingest.Inspect(t.Context(), src, ingest.Options{})
		if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}

// TestConstraints_notChecked says which constraints do not apply to the type of a field.
func TestConstraints_notChecked(t *testing.T) {
	t.Parallel()
	path := writeFile(t, t.TempDir(), "x.csv", "a,b\nx,y\nz,w\n")
	found := inspect(t, ingest.Source{
		Path: path, Fields: []ingest.FieldSetting{{Name: "a", Constraints: descriptor.Constraints{Minimum: "1"}},
			{Name: "b"}},
		UniqueKeys: [][]string{{"a"}, {"c"}}})
	if got := strings.Join(found.Dataset.Report.Notes, "\n"); !strings.Contains(got,
		"the constraint minimum is not checked") || !strings.Contains(got,
		`a unique key is not used, because there is no field "c"`) {
		t.Errorf("notes: %s", got)
	}
	if keys := found.Source.UniqueKeys; len(keys) != 1 || keys[0][0] != "a" {
		t.Errorf("unique keys %v", keys)
	}
}

// TestUniqueKeys resolves the fields of unique keys. Repeated keys are one, and their number is
// limited, because each is looked for in all records.
func TestUniqueKeys(t *testing.T) {
	t.Parallel()
	var many [][]string
	for i := range 101 {
		many = append(many, slices.Repeat([]string{"a"}, i+1))
	}
	for _, c := range []struct {
		name string
		keys [][]string
		want int
		err  string
	}{
		{"repeated", slices.Repeat([][]string{{"a"}, {"b", "a"}}, 1000), 2, ""},
		{"unknown field", [][]string{{"a"}, {"c"}}, 1, ""},
		{"as many as possible", many[:100], 100, ""},
		{"too many", many, 0, "the schema has more than 100 unique keys"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, t.TempDir(), "x.csv", "a,b\n1,2\n")
			found, err := ingest.Inspect(t.Context(), ingest.Source{Path: path, UniqueKeys: c.keys}, ingest.Options{})
			if c.err != "" {
				if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := len(found.Source.UniqueKeys); n != c.want || found.Close() != nil {
				t.Errorf("got %d keys, want %d", n, c.want)
			}
		})
	}
}
