package store

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

func TestFields(t *testing.T) {
	t.Parallel()
	want := map[string]int{"id": fieldID, "name": fieldName, "tag": fieldTag}
	got := map[string]int{}
	for i, f := range herb.PlantFields() {
		got[f.Name] = i
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("positions (-want +got):\n%s", diff)
	}
}

func TestNewRow(t *testing.T) {
	t.Parallel()
	got := NewRow(herb.NewPlant{ID: 7, Plant: herb.Plant{Name: "Ångström's AB-12", Tag: new("Rose")}})
	want := Row{
		ID: 7, Name: "Ångström's AB-12", NameKey: []byte(text.CollationKey("Ångström's AB-12")),
		Tag: "Rose", TagGiven: true, TagKey: []byte(text.CollationKey("Rose")),
		Words: []Word{{"angstrom's", fieldName, 0}, {"ab", fieldName, 1}, {"12", fieldName, 2}, {"rose", fieldTag, 0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, tag := range map[string]*string{"none": nil, "empty": new("")} {
		r := NewRow(herb.NewPlant{Plant: herb.Plant{Name: "Fern", Tag: tag}})
		if r.TagKey != nil || r.Tag != "" || r.TagGiven != (tag != nil) {
			t.Errorf("tag %s: %+v", name, r)
		}
	}
}

func TestAfter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		prefix, want string
		ok           bool
	}{
		{"a", "b", true},
		{"rose", "rosf", true},
		{"z\x7f", "z\u0080", true}, // one byte becomes two
		{"\u07ff", "\u0800", true},
		{"\ud7ff", "\ue000", true}, // over the surrogates
		{"\uffff", "\U00010000", true},
		{"a\U0010ffff\U0010ffff", "b", true},
		{"\U0010ffff", "", false},
	} {
		got, ok := after(tt.prefix)
		if got != tt.want || ok != tt.ok || !utf8.ValidString(got) {
			t.Errorf("after(%q) is %q, %t; want %q", tt.prefix, got, ok, tt.want)
		}
		if longest := tt.prefix + strings.Repeat("\U0010ffff", 3); ok && got <= longest {
			t.Errorf("after(%q) is %q, which is not behind %q", tt.prefix, got, longest)
		}
	}
}

func TestIDCondition(t *testing.T) {
	t.Parallel()
	const most, least = "9223372036854775807", "-9223372036854775808"
	for _, tt := range []struct {
		raw  string
		want fragment
	}{
		{"id=25", fragment{"id = ?", []any{int64(25)}}},
		{"id=25.00", fragment{"id = ?", []any{int64(25)}}},
		{"id=-0.0", fragment{"id = ?", []any{int64(0)}}},
		{"id=25.5", never},
		{"id=9223372036854775808", never},
		{"id=", never},
		{"id=1&id=1.5&id=3", fragment{"id IN (?,?)", []any{int64(1), int64(3)}}},
		{"id[ne]=1&id[ne]=1.5&id[ne]=", fragment{"NOT id = ?", []any{int64(1)}}},
		{"id[ne]=1.5", always},
		{"id[gt]=1.5", fragment{"id >= ?", []any{int64(2)}}},
		{"id[gt]=-1.5", fragment{"id >= ?", []any{int64(-1)}}},
		{"id[gt]=-0.5", fragment{"id >= ?", []any{int64(0)}}},
		{"id[gt]=1", fragment{"id >= ?", []any{int64(2)}}},
		{"id[gt]=7&id[gt]=3", fragment{"id >= ?", []any{int64(4)}}},
		{"id[gte]=1.5", fragment{"id >= ?", []any{int64(2)}}},
		{"id[gte]=-1.5", fragment{"id >= ?", []any{int64(-1)}}},
		{"id[gte]=" + most, fragment{"id >= ?", []any{int64(1<<63 - 1)}}},
		{"id[gt]=" + most, never},
		{"id[gt]=" + least + ".5", fragment{"id >= ?", []any{int64(-1 << 63)}}},
		{"id[gt]=-99999999999999999999", always},
		{"id[lt]=1.5", fragment{"id <= ?", []any{int64(1)}}},
		{"id[lt]=-1.5", fragment{"id <= ?", []any{int64(-2)}}},
		{"id[lt]=1", fragment{"id <= ?", []any{int64(0)}}},
		{"id[lt]=7&id[lt]=3", fragment{"id <= ?", []any{int64(6)}}},
		{"id[lte]=1.5", fragment{"id <= ?", []any{int64(1)}}},
		{"id[lte]=-1.5", fragment{"id <= ?", []any{int64(-2)}}},
		{"id[lt]=" + least, never},
		{"id[lt]=" + most + ".5", fragment{"id <= ?", []any{int64(1<<63 - 1)}}},
		{"id[lt]=99999999999999999999", always},
		{"id[lt]=-" + strings.Repeat("9", 4000), never},
	} {
		r, err := query.Parse(tt.raw, herb.PlantFields())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, filter(r.Conditions), cmp.AllowUnexported(fragment{})); diff != "" {
			t.Errorf("%.60s (-want +got):\n%s", tt.raw, diff)
		}
	}
}

func TestNumbered(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		"":                               "",
		"SELECT 1":                       "SELECT 1",
		"?":                              "$1",
		"a = ? AND b IN (?,?) LIMIT ?":   "a = $1 AND b IN ($2,$3) LIMIT $4",
		strings.Repeat("?,", 11) + "end": "$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,end",
	} {
		if got := Numbered(statement); got != want {
			t.Errorf("%q became %q; want %q", statement, got, want)
		}
	}
}

// TestTextCondition_NUL holds that no database is asked about a character that some of them refuse.
func TestTextCondition_NUL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]fragment{
		"name=a%00":        never,
		"name=a%00&name=b": {"name = ?", []any{"b"}},
		"name[ne]=%00":     always,
		"tag[prefix]=%00":  {sql: "(tag_key IS NOT NULL)"}, // it has no primary weight
	} {
		r, err := query.Parse(raw, herb.PlantFields())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, filter(r.Conditions), cmp.AllowUnexported(fragment{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
}
