package herb_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
)

func TestParseRef(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", herb.MaxName)
	for s, want := range map[string]herb.Ref{
		"garden/catalog":     {Namespace: "garden", Name: "catalog"},
		"a/0":                {Namespace: "a", Name: "0"},
		"2024/a.b-c_d":       {Namespace: "2024", Name: "a.b-c_d"},
		long + "/" + long:    {Namespace: long, Name: long},
		"store/plants":       herb.PlantsRef,
		"a../b--":            {Namespace: "a..", Name: "b--"},
		"data.example.org/x": {Namespace: "data.example.org", Name: "x"},
	} {
		got, err := herb.ParseRef(s)
		if err != nil || got != want {
			t.Errorf("ParseRef(%q) = %v, %v", s, got, err)
		}
		if got.String() != s {
			t.Errorf("%q is written %q", s, got)
		}
	}
	for _, s := range []string{
		"", "/", "garden", "garden/", "/catalog", "a/b/c", "Garden/catalog", "garden/Catalog", "gar den/x", "../x",
		"x/..", ".a/b", "-a/b", "a/_b", "é/x", "a/b\x00",
		"a%2Fb/c", long + "a/b", "a/" + long + "a", `a\b/c`,
	} {
		if ref, err := herb.ParseRef(s); herb.CodeOf(err) != herb.CodeInvalid || err == nil {
			t.Errorf("ParseRef(%q) = %v, %v", s, ref, err)
		}
	}
	_, err := herb.ParseRef("Garden")
	want := `"Garden" does not name a dataset; write namespace/dataset, each of up to 100 lower-case letters, digits, ` +
		`'-', '_' and '.', starting with a letter or digit`
	if herb.MessageOf(err) != want {
		t.Errorf("the message is %q, want %q", herb.MessageOf(err), want)
	}
}

func TestRefCompare(t *testing.T) {
	t.Parallel()
	refs := []herb.Ref{{"a", "b"}, {"a", "c"}, {"a-b", "a"}, {"b", "a"}}
	shuffled := []herb.Ref{refs[3], refs[1], refs[2], refs[0]}
	slices.SortFunc(shuffled, herb.Ref.Compare)
	if !slices.Equal(refs, shuffled) {
		t.Errorf("sorted: %v", shuffled)
	}
}

func TestParseAccess(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]herb.Access{"": herb.AccessOpen, "open": herb.AccessOpen, "key": herb.AccessKey} {
		if got, err := herb.ParseAccess(s); err != nil || got != want {
			t.Errorf("ParseAccess(%q) = %q, %v", s, got, err)
		}
	}
	if _, err := herb.ParseAccess("closed"); herb.MessageOf(err) != `unknown access "closed"; choose open or key` {
		t.Errorf("closed access: %v", err)
	}
}

func TestFieldIndex(t *testing.T) {
	t.Parallel()
	fields := herb.PlantFields()
	for name, want := range map[string]int{"id": 0, "name": 1, "tag": 2, "Tag": -1, "": -1} {
		if got := herb.FieldIndex(fields, name); got != want {
			t.Errorf("FieldIndex(%q) = %d, want %d", name, got, want)
		}
	}
}

// TestAppendJSON checks that values survive a round trip through JSON and that members keep their
// order.
func TestAppendJSON(t *testing.T) {
	t.Parallel()
	var control strings.Builder
	for c := range rune(0x20) {
		control.WriteRune(c)
	}
	for _, s := range []string{
		"", "rose", `q"\/`, "<b>&amp;", "a\nb\r\t\x00\x1f\x7f", control.String(), "\u2028\u2029\u00a0",
		"植物 🌹 e\u0301", "\uFFFD",
	} {
		b := herb.AppendJSONString([]byte("x"), s)
		var got string
		if err := json.Unmarshal(b[1:], &got); err != nil || got != s || b[0] != 'x' {
			t.Errorf("%q is written %s and read %q, %v", s, b, got, err)
		}
	}
	fields := []herb.Field{{Name: "z"}, {Name: `a"b`}, {Name: "<m>"}}
	got := string(herb.Record{"1", "", "é<\n"}.AppendJSON(nil, fields))
	if want := `{"z":"1","a\"b":"","<m>":"é<\n"}`; got != want {
		t.Errorf("the record is written %s, want %s", got, want)
	}
	if got := string(herb.Record{}.AppendJSON(nil, nil)); got != "{}" {
		t.Errorf("the empty record is written %s", got)
	}
}

func TestOrigin_Overlaps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{{"", "", true}, {"", "x", true}, {"x", "x", true}, {"x", "y", false}, {"b.xlsx", "b.xlsx#Sheet", true},
		{"b.xlsx#A", "b.xlsx#B", false}, {"b", "bc", false}} {
		a, b := herb.Origin{Path: "f", InnerPath: tt.a}, herb.Origin{Path: "f", InnerPath: tt.b}
		if a.Overlaps(b) != tt.want || b.Overlaps(a) != tt.want || a.Overlaps(herb.Origin{Path: "g", InnerPath: tt.b}) {
			t.Errorf("%q and %q: want %t", tt.a, tt.b, tt.want)
		}
	}
}

// TestDetails_DecodeMetadata checks that all metadata is encoded before the report, so that it is
// decoded from the start of the encoding.
func TestDetails_DecodeMetadata(t *testing.T) {
	t.Parallel()
	metadata := herb.Details{Order: herb.Order{Field: "price", Desc: true}, PrimaryKey: []string{"id"},
		Descriptor: herb.NewDescriptor([]byte(`{"title":"x"}`))}
	all := metadata
	all.Report, all.File, all.Origins, all.Settings = &herb.Report{Rows: 1}, &herb.File{Size: 1},
		[]herb.Origin{{Path: "/a"}}, &herb.Settings{Public: true}
	content, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	start, _, found := strings.Cut(string(content), `"report":`)
	if !found {
		t.Fatalf("no report in %s", content)
	}
	for _, encoded := range []string{string(content), start + `"report":`} {
		var got herb.Details
		if err := got.DecodeMetadata([]byte(encoded)); err != nil || !reflect.DeepEqual(got, metadata) {
			t.Errorf("decoded %+v, %v; want %+v", got, err, metadata)
		}
	}
}
