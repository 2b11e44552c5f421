package ingest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

// writeBenchFile writes some ten megabytes that look like the catalogue of a garden.
func writeBenchFile(b *testing.B, name string, head, tail string, row func(i int) string) (path string, size int64) {
	b.Helper()
	var buf bytes.Buffer
	buf.WriteString(head)
	for i := range 50_000 {
		buf.WriteString(row(i))
	}
	buf.WriteString(tail)
	path = filepath.Join(b.TempDir(), name)
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return path, int64(buf.Len())
}

func benchCSV(b *testing.B) (string, int64) {
	return writeBenchFile(b, "bench.csv", "id,title,description,date,url,price,tags\n", "", func(i int) string {
		return fmt.Sprintf("%d,Plant %d,\"A plant, said to be \"\"hardy\"\", of the %dth bed; it flowers late and keeps its leaves.\",2024-05-%02d,"+
			"https://garden.example/plants/%d,%d.50,\"shade,hardy\"\n", i, i, i%97, 1+i%28, i, i%300)
	})
}

func benchJSON(b *testing.B) (string, int64) {
	return writeBenchFile(b, "bench.ndjson", "", "", func(i int) string {
		return fmt.Sprintf(`{"id":%d,"title":"Plant %d","description":"A plant, said to be \"hardy\", of the %dth bed; it flowers late.",`+
			`"date":"2024-05-%02d","price":%d.50,"tags":"shade,hardy"}`+"\n", i, i, i%97, 1+i%28, i%300)
	})
}

func BenchmarkInspect(b *testing.B) {
	for _, bench := range []struct {
		name string
		file func(*testing.B) (string, int64)
	}{{"csv", benchCSV}, {"ndjson", benchJSON}} {
		b.Run(bench.name, func(b *testing.B) {
			path, size := bench.file(b)
			src := ingest.Source{Ref: herb.Ref{Namespace: "a", Name: "b"}, Path: path}
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ingest.Inspect(b.Context(), src, ingest.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRecords(b *testing.B) {
	for _, bench := range []struct {
		name string
		file func(*testing.B) (string, int64)
	}{{"csv", benchCSV}, {"ndjson", benchJSON}} {
		b.Run(bench.name, func(b *testing.B) {
			path, size := bench.file(b)
			table, err := ingest.Inspect(b.Context(), ingest.Source{Path: path}, ingest.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range table.Records(b.Context()) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
