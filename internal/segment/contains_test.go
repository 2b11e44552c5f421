package segment_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// TestContains_longValues rejects a search for a part of many long values, in every kind of
// request, and names the operator to use instead. Elements of lists, few values, and few distinct
// ones are searched.
func TestContains_longValues(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{
		{Name: "id", Type: herb.TypeNumber, Filterable: true}, {Name: "long", Type: herb.TypeText, Filterable: true,
			Searchable: true},
		{Name: "same", Type: herb.TypeText, Filterable: true}, {Name: "list", Type: herb.TypeList, Filterable: true},
		{Name: "other", Type: herb.TypeText, Filterable: true},
	}
	padding := strings.Repeat("x", 150)
	records := make([]herb.Record, 5_001)
	for i := range records {
		records[i] = herb.Record{
			fmt.Sprint(i), fmt.Sprintf("%s %d", padding, i), fmt.Sprintf("%s %d", padding, i%10),
			fmt.Sprintf("%s, %d", padding, i%10),
			fmt.Sprintf("%s %d", padding, -i),
		}
	}
	all := openBuilt(t, fields, records, segment.Options{FS: unsynced{}})
	few := openBuilt(t, fields, records[:5_000], segment.Options{FS: unsynced{}})
	for _, tt := range []struct {
		name     string
		engine   query.Engine
		raw      string
		total    int
		rejected string // part of the message
	}{
		{"searchable", all, "long[contains]=77", 0,
			`long[contains] searches at most 5000 long values, and field "long" has 5001; use long[match]`},
		{"not searchable", all, "id=77&other[contains]=77", 0, `use other[prefix]`},
		{"few values", few, "long[contains]=77", 95, ""},
		{"few values and another condition", few, "long[contains]=77&id[lt]=100", 1, ""},
		{"few distinct values", all, "same[contains]=X+7", 500, ""},
		{"list", all, "list[contains]=7", 500, ""},
		{"every value", all, "same[contains]=%CC%81", 5001, ""},
	} {
		r, err := query.Parse(strings.NewReplacer("[", "%5B", "]", "%5D").Replace(tt.raw), fields)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range requestKinds(t) {
			total, err := kind.call(t.Context(), tt.engine, r)
			switch {
			case tt.rejected == "" && (err != nil || total != tt.total):
				t.Errorf("%s, %s: %d, error %v; want %d", tt.name, kind.name, total, err, tt.total)
			case tt.rejected != "" &&
				(herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), tt.rejected)):
				t.Errorf("%s, %s: %v; want %s", tt.name, kind.name, err, tt.rejected)
			}
		}
	}
}

// BenchmarkContains searches a million short values.
func BenchmarkContains(b *testing.B) {
	fields := []herb.Field{{Name: "name", Type: herb.TypeText, Filterable: true},
		{Name: "tags", Type: herb.TypeList, Filterable: true}}
	records := make([]herb.Record, 1_000_000)
	for i := range records {
		records[i] = herb.Record{fmt.Sprintf("Rosa %c%d-%d", 'a'+i%26, i*7919%1_000_003, i),
			fmt.Sprintf("tag %d, t%d", i%1000, i%7)}
	}
	r := openBuilt(b, fields, records, segment.Options{FS: unsynced{}})
	for _, raw := range []string{"name[contains]=77", "name[contains]=rosa", "name[contains]=zzz",
		"tags[contains]=77"} {
		q, err := query.Parse(strings.NewReplacer("[", "%5B", "]", "%5D").Replace(raw), fields)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(raw, func(b *testing.B) {
			for b.Loop() {
				if _, err := r.List(context.Background(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
