package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
)

func testDataset() *herb.Dataset {
	return &herb.Dataset{Fields: testFields()}
}

func testFields() []herb.Field {
	return []herb.Field{
		{Name: "price", Type: herb.TypeNumber, Filterable: true, Sortable: true},
		{Name: "page", Type: herb.TypeText, Filterable: true},
		{Name: "_column", Type: herb.TypeText, Filterable: true},
		{Name: "x[gte]", Type: herb.TypeText, Filterable: true},
		{Name: "a,b", Type: herb.TypeText},
	}
}

// TestShownColumns checks that columns are in the order of the file unless they are selected or one
// is pinned, and that the one that names the records is among them.
func TestShownColumns(t *testing.T) {
	t.Parallel()
	narrow, far := testDataset(), &herb.Dataset{}
	narrow.Fields[3].Name = "title"
	for range 2 * maxDefaultColumns {
		far.Fields = append(far.Fields, herb.Field{Name: fmt.Sprint("f", len(far.Fields)), Type: herb.TypeNumber})
	}
	far.Fields[40] = herb.Field{Name: "title", Type: herb.TypeText}
	for _, tt := range []struct {
		dataset *herb.Dataset
		raw     string
		want    string
	}{
		{narrow, "", "0 1 2 3 4"}, {narrow, "_pin=title", "3 0 1 2 4"}, {narrow, "_fields=title,price", "3 0"},
		{far, "", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 40"},
	} {
		s, _, err := ParseState("/p", query.Split(tt.raw), columns.Read(tt.dataset))
		if got := strings.Trim(fmt.Sprint(s.ShownColumns()), "[]"); err != nil || got != tt.want {
			t.Errorf("%q: the columns are %s, want %s, %v", tt.raw, got, tt.want, err)
		}
	}
}

func TestParseState(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, raw string
		url       string
		canonical bool
	}{
		{"empty", "", "/p", true},
		{"listing", "price%5Bgte%5D=5&sort=price", "/p?price%5Bgte%5D=5&sort=price", true},
		{"repeated lists", "sort=price&sort=-page&_fields=page&_fields=price",
			"/p?sort=price%2C-page&_fields=page%2Cprice", true},
		{"empty comparison", "price%5Bgte%5D=&sort=price", "/p?sort=price", false},
		{"empty values", "price=&price%5Bin%5D=&price%5Bne%5D=", "/p?price=&price%5Bin%5D=&price%5Bne%5D=", true},
		{"field that looks like a comparison", "x%5Bgte%5D=", "/p?x%5Bgte%5D=", true},
		{"unknown parameter", "colour=", "/p?colour=", true},
		{"field with a reserved name", "page%5Beq%5D=1", "/p?page%5Beq%5D=1", true},
		{"filters of a generated client", "_filter=price%5Bgte%5D%3D5&_filter=page%3D1%3D1",
			"/p?price%5Bgte%5D=5&page%5Beq%5D=1%3D1", false},
		{"filter without a value", "_filter=price", "/p?_filter=price", true},
		{"first page", "page=1", "/p", false},
		{"order without sort", "order=desc", "/p", false},
		{"record", "_record=3&_facet=price", "/p?_facet=price&_record=3", true},
		{"record out of range", "_record=101", "/p", false},
		{"columns", "_column=nope&_column=price&_column=page&_column=price", "/p?_fields=price%2Cpage", false},
		{"canonical columns", "_fields=page%2Cprice&price=1", "/p?price=1&_fields=page%2Cprice", true},
		{"unknown field", "_fields=nope", "/p?_fields=nope", true},
		{"name with a comma", "_column=a%2Cb&_column=price", "/p?_column=a%2Cb&_column=price", true},
		{"only name with a comma", "_column=a%2Cb", "/p?_fields=a%2Cb", false},
		{"pin", "_pin=price&_distributions=1", "/p?_pin=price&_distributions=1", true},
		{"unknown pin", "_pin=nope&_distributions=2", "/p", false},
		{"number as shown", "price%5Bgte%5D=50%2C000%2C000&price%5Blte%5D=%E2%88%921+000.5",
			"/p?price%5Bgte%5D=50000000&price%5Blte%5D=-1000.5", false},
		{"not a number", "price%5Bgte%5D=50%2C000x", "/p?price%5Bgte%5D=50%2C000x", true},
		{"text that columns of a menu contain", "_find=pri", "/p", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, canonical, err := ParseState("/p", query.Split(tt.raw), columns.Read(testDataset()))
			if err != nil || canonical != tt.canonical || s.URL() != tt.url {
				t.Errorf("got %s, canonical %t, %v; want %s, %t", s.URL(), canonical, err, tt.url, tt.canonical)
			}
		})
	}
	if _, _, err := ParseState("/p", query.Split("a=%zz"),
		columns.Read(&herb.Dataset{})); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("a malformed query string gives %v", err)
	}
}

func TestState_toggle(t *testing.T) {
	t.Parallel()
	s, _, err := ParseState("/p", query.Split("page%5Beq%5D=a&price%5Beq%5D=1&page=3"), columns.Read(testDataset()))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		field  int
		value  string
		want   string
		active bool
	}{
		{0, "1", "page%5Beq%5D=a", true},
		{0, "2", "page%5Beq%5D=a&price%5Beq%5D=1&price=2", false},
		{1, "a", "price%5Beq%5D=1", true},
		{1, "b", "page%5Beq%5D=a&price%5Beq%5D=1&page%5Beq%5D=b", false},
		{2, "c", "page%5Beq%5D=a&price%5Beq%5D=1&_column%5Beq%5D=c", false},
	} {
		ps, active := s.Toggle(tt.field, tt.value)
		if ps.Encode() != tt.want || active != tt.active {
			t.Errorf("field %d, value %q: %s, %t; want %s, %t", tt.field, tt.value, ps.Encode(), active,
				tt.want, tt.active)
		}
	}
	if got := s.WithoutFilters(1).Encode(); got != "price%5Beq%5D=1" {
		t.Errorf("without the filter of a field: %s", got)
	}
}

func TestState_toggleEmpty(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "n", Type: herb.TypeNumber, Filterable: true,
		Notation: herb.Notation{Missing: []string{"NA"}}}}
	s, _, err := ParseState("/p", query.Split("n[empty]=true"), columns.Read(&herb.Dataset{Fields: fields}))
	if err != nil {
		t.Fatal(err)
	}
	if ps, active := s.Toggle(0, ""); !active || len(ps) != 0 {
		t.Errorf("the filter of missing values is not removed: %s, %t", ps.Encode(), active)
	}
	s, _, _ = ParseState("/p", query.Split(""), columns.Read(&herb.Dataset{Fields: fields}))
	if ps, active := s.Toggle(0, ""); active || ps.Get("n[empty]") != "true" {
		t.Errorf("missing values are not filtered: %s, %t", ps.Encode(), active)
	}
}

func TestState_validListing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		raw, valid string
		invalid    []string
	}{
		{"price=1&colour=red&sort=nope", "price=1", []string{"colour", "sort"}},
		{"sort=price&sort=price", "", []string{"sort"}},
		{"search=a&search=a", "", nil}, // valid one by one
		{"price=1&page[eq]=a&_any=price,page", "price=1&page%5Beq%5D=a&_any=price%2Cpage", nil},
		{"price=x&page[eq]=a&_any=price,page", "page%5Beq%5D=a", []string{"price"}},
		{"price=1&page[eq]=a&_any=price,pages", "price=1&page%5Beq%5D=a", []string{"_any"}},
	} {
		s, _, err := ParseState("/p", query.Split(tt.raw), columns.Read(testDataset()))
		if err != nil {
			t.Fatal(err)
		}
		valid, invalid := s.ValidListing()
		var names []string
		for _, p := range invalid {
			names = append(names, p.Name)
			if !strings.Contains(p.Message, p.Name) {
				t.Errorf("%s: the message about %s is %q", tt.raw, p.Name, p.Message)
			}
		}
		if valid.Encode() != tt.valid || !slices.Equal(names, tt.invalid) {
			t.Errorf("%s: %s, %q; want %s, %q", tt.raw, valid.Encode(), invalid, tt.valid, tt.invalid)
		}
		if _, err := query.Parse(valid.Encode(), testFields()); err != nil {
			t.Errorf("%s: %v", tt.raw, err)
		}
	}
}

// TestParseState_zone checks that a zone belongs to the rows if a filter moves with time, and else
// to the chart.
func TestParseState_zone(t *testing.T) {
	t.Parallel()
	d := &herb.Dataset{Fields: []herb.Field{{Name: "at", Type: herb.TypeDateTime, Filterable: true},
		{Name: "t", Type: herb.TypeText, Filterable: true}}}
	for raw, want := range map[string]bool{
		"at[gte]=today&_zone=Asia/Tokyo": true, "_filter=at[gte]%3Dtoday&_zone=Asia/Tokyo": true,
		"at[gte]=2024-01-01&_zone=Asia/Tokyo": false, "t=today&_zone=Asia/Tokyo": false, "_zone=Asia/Tokyo": false,
	} {
		s, _, err := ParseState("/p", query.Split(raw), columns.Read(d))
		must.NoError(t, err)
		req, err := s.Request(herb.Order{})
		must.NoError(t, err)
		inCall := s.Call().Get(query.ParamZone) != ""
		if inCall != want || (s.Question.Get(query.ParamZone) != "") == want || (req.Resolved() != nil) != want {
			t.Errorf("%s: the call is %s, the question %s", raw, s.Call().Encode(), s.Question.Encode())
		}
		again, _, err := ParseState("/p", query.Split(s.Params().Encode()), columns.Read(d))
		if err != nil || again.URL() != s.URL() || again.Params().Get(query.ParamZone) == "" {
			t.Errorf("%s becomes %s, then %s", raw, s.URL(), again.URL())
		}
	}
	s, _, err := ParseState("/p", query.Split("at[gte]=today&_zone=Mars"), columns.Read(d))
	must.NoError(t, err)
	valid, invalid := s.ValidListing()
	if len(invalid) != 1 || invalid[0].Name != query.ParamZone || len(valid) != 1 {
		t.Errorf("valid: %v, invalid: %v", valid, invalid)
	}
}
