package parquet

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// pointWKB returns a point as WKB.
func pointWKB(x, y float64) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{1}, 1)
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, math.Float64bits(x)),
		math.Float64bits(y))
}

// TestReader_Geometries reads WKB that the metadata or the name of its column declares.
func TestReader_Geometries(t *testing.T) {
	t.Parallel()
	type place struct {
		Name  string `parquet:"name"`
		Shape []byte `parquet:"shape,optional"`
		Geom  []byte `parquet:"geom,optional"`
		Data  []byte `parquet:"data"`
	}
	places := []place{
		{"a", pointWKB(8.54, 47.38), pointWKB(1, 2), []byte("x")},
		{"b", []byte{1, 2, 0xFF}, nil, []byte("ü")},
		{"c", nil, []byte("POINT (3 4)"), nil},
	}
	geo := parquet.KeyValueMetadata("geo",
		`{"version":"1.0.0","primary_column":"shape","columns":{"shape":{"encoding":"WKB","geometry_types":[]},"name":{"encoding":"point"}}}`)
	got, err := rowstest.Read(context.Background(), Format(), rowstest.File(mustWrite(t, places, geo)), rows.Options{},
		rows.Limits{})
	want := `[[name shape geom data] [a POINT (8.54 47.38) POINT (1 2) x] [b AQL/  ü] [c  POINT (3 4) ]] ` +
		`[column "shape": 1 value is not a geometry as WKB and listed as base64]`
	if s := fmt.Sprint(got.Rows, got.Notes); s != want || err != nil {
		t.Errorf("got  %s and error %v\nwant %s", s, err, want)
	}
}
