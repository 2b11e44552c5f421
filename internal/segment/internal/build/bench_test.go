package build_test

import (
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/build"
)

// benchFields returns a field of each kind of section.
func benchFields() []herb.Field {
	fields := []herb.Field{
		{Name: "name", Type: herb.TypeText, Searchable: true},
		{Name: "note", Type: herb.TypeText, Searchable: true, Weight: 2},
		{Name: "size", Type: herb.TypeNumber},
		{Name: "seen", Type: herb.TypeDate},
		{Name: "tags", Type: herb.TypeList},
	}
	for i := range fields {
		fields[i].Filterable, fields[i].Sortable = true, true
	}
	return fields
}

// benchRecords returns n records: unique values, few values, missing values, frequent words.
func benchRecords(n int) iter.Seq2[herb.Record, error] {
	words := strings.Fields("rose fern moss oak elm lily iris reed red tall old wild")
	return func(yield func(herb.Record, error) bool) {
		for i := range n {
			word := func(k int) string { return words[i*k/7%len(words)] }
			seen := fmt.Sprintf("20%02d-%02d-%02d", i%30, 1+i%12, 1+i%28)
			if i%11 == 5 {
				seen = ""
			}
			record := herb.Record{
				fmt.Sprintf("%s %s %06d", word(3), word(5), i*7919%n),
				fmt.Sprintf("%s %s %s and %s", word(2), word(3), word(11), word(13)),
				fmt.Sprint(i * 31 % 1000), seen, word(5) + "," + word(3),
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}

// BenchmarkCreate builds a segment in memory and with spilled data.
func BenchmarkCreate(b *testing.B) {
	for name, memory := range map[string]int{"memory": 0, "spilled": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				path := filepath.Join(b.TempDir(), "x")
				if _, err := build.Create(b.Context(), path, benchFields(), benchRecords(50_000),
					build.Options{Memory: memory}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
