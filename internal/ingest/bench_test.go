package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/ingest"
)

// benchmarkFiles runs a benchmark for a file of each text format.
func benchmarkFiles(b *testing.B, run func(b *testing.B, src ingest.Source)) {
	for name, row := range map[string]func(i int) string{
		"bench.csv": func(i int) string {
			return fmt.Sprintf("%d,Plant %d,\"A plant, said to be \"\"hardy\"\", of the %dth bed; it flowers late "+
				"and keeps its leaves.\",2024-05-%02d,"+
				"https://garden.example/plants/%d,%d.50,\"shade,hardy\"\n", i, i, i%97, 1+i%28, i, i%300)
		},
		"bench.ndjson": func(i int) string {
			return fmt.Sprintf(`{"id":%d,"title":"Plant %d","description":"A plant, said to be \"hardy\", of the %dth bed; it flowers late.",`+
				`"date":"2024-05-%02d","price":%d.50,"tags":"shade,hardy"}`+"\n", i, i, i%97, 1+i%28, i%300)
		},
	} {
		b.Run(name, func(b *testing.B) {
			var content strings.Builder
			if name == "bench.csv" {
				content.WriteString("id,title,description,date,url,price,tags\n")
			}
			for i := range 50_000 {
				content.WriteString(row(i))
			}
			b.SetBytes(int64(content.Len()))
			b.ReportAllocs()
			run(b, ingest.Source{Path: writeFile(b, b.TempDir(), name, content.String())})
		})
	}
}

func BenchmarkInspect(b *testing.B) {
	benchmarkFiles(b, func(b *testing.B, src ingest.Source) {
		for b.Loop() {
			if err := inspect(b, src).Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRecords(b *testing.B) {
	benchmarkFiles(b, func(b *testing.B, src ingest.Source) {
		table := inspect(b, src)
		for b.Loop() {
			for _, err := range table.Records(b.Context()) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
