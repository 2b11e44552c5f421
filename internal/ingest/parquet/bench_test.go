package parquet

import (
	"fmt"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// BenchmarkReader reads plants with numbers, distinct and recurring text, nulls and lists.
func BenchmarkReader(b *testing.B) {
	type plant struct {
		ID    int64    `parquet:"id,delta"`
		Name  string   `parquet:"name"`
		Bed   string   `parquet:"bed,dict"`
		Price *float64 `parquet:"price,optional"`
		Tags  []string `parquet:"tags,list"`
	}
	price := 12.5
	var plants []plant
	for i := range 5000 {
		p := plant{ID: int64(i), Name: fmt.Sprint("plant ", i), Bed: fmt.Sprint("bed ", i%9),
			Tags: []string{"shade", "hardy"}[:i%3]}
		if i%4 > 0 {
			p.Price = &price
		}
		plants = append(plants, p)
	}
	file := mustWrite(b, plants, parquet.Compression(&parquet.Snappy))
	b.ReportAllocs()
	for b.Loop() {
		r, err := openFile(b.Context(), file)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = r.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
