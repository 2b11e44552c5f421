package geometry

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
)

// wkb writes values as WKB: bytes as they are, integers as counts or kinds, floats as coordinates.
func wkb(order binary.AppendByteOrder, values ...any) (b []byte) {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			b = append(b, v...)
		case int:
			b = order.AppendUint32(b, uint32(v))
		case float64:
			b = order.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

func little(values ...any) []byte {
	return wkb(binary.LittleEndian, append([]any{"\x01"}, values...)...)
}
func big(values ...any) []byte { return wkb(binary.BigEndian, append([]any{"\x00"}, values...)...) }

func TestAppendWKT(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	p := func(x, y float64) string { return string(little(1, x, y)) }
	for _, tt := range []struct {
		in   []byte
		want string // empty: it is not a geometry
	}{
		{little(1, 8.54, -47.0), "POINT (8.54 -47)"},
		{big(1, 0.1, 1e-7), "POINT (0.1 0.0000001)"},
		{little(1, 1e300, 5e-324), "POINT (1e+300 5e-324)"},
		{little(1, nan, nan), "POINT EMPTY"},
		{little(1001, 1.0, 2.0, 3.0), "POINT Z (1 2 3)"},
		{big(2001, 1.0, 2.0, 3.0), "POINT M (1 2 3)"},
		{little(3001, 1.0, 2.0, 3.0, 4.0), "POINT ZM (1 2 3 4)"},
		{little(0x20000001, 4326, 1.0, 2.0), "SRID=4326;POINT (1 2)"},
		{little(0x80000001, 1.0, 2.0, 3.0), "POINT Z (1 2 3)"},
		{little(0xE0000001, 4326, 1.0, 2.0, 3.0, 4.0), "SRID=4326;POINT ZM (1 2 3 4)"},
		{little(2, 2, 1.0, 2.0, 3.0, 4.0), "LINESTRING (1 2, 3 4)"},
		{little(2, 0), "LINESTRING EMPTY"},
		{little(3, 2, 3, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1, 2.0, 2.0), "POLYGON ((0 0, 1 0, 0 0), (2 2))"},
		{little(4, 2, p(1, 2), p(nan, nan)), "MULTIPOINT ((1 2), EMPTY)"},
		{little(5, 1, string(big(2, 1, 1.0, 2.0))), "MULTILINESTRING ((1 2))"},
		{little(6, 1, string(little(3, 1, 1, 1.0, 2.0))), "MULTIPOLYGON (((1 2)))"},
		{little(7, 2, p(1, 2), string(little(7, 1, string(little(2, 1, 3.0, 4.0))))),
			"GEOMETRYCOLLECTION (POINT (1 2), GEOMETRYCOLLECTION (LINESTRING (3 4)))"},
		{little(1007, 1, string(little(1001, 1.0, 2.0, 3.0))), "GEOMETRYCOLLECTION Z (POINT Z (1 2 3))"},
		{nil, ""},
		{[]byte("\x02abcdefghijklmnopqrstuvw"), ""},
		{little(1, 1.0), ""},
		{little(1, 1.0, nan), ""},
		{little(1, 1.0, math.Inf(1)), ""},
		{little(1, 1.0, 2.0, "x"), ""},
		{little(2, 0xFFFFFFFF, 1.0, 2.0), ""},
		{little(3, 0xFFFFFFFF, 0, 0), ""},
		{little(7, 0xFFFFFFFF), ""},
		{little(0), ""},
		{little(8, 0), ""},
		{little(4001, 1.0, 2.0), ""},
		{little(4, 1, string(little(2, 0))), ""},
		{little(1004, 1, p(1, 2)), ""},
		{little(4, 1, string(little(0x20000001, 4326, 1.0, 2.0))), ""},
	} {
		got, ok := AppendWKT([]byte("x"), tt.in)
		if string(got) != "x"+tt.want || ok != (tt.want != "") {
			t.Errorf("%x: got %q, %t; want %q", tt.in, got, ok, tt.want)
		}
	}
}

func TestAppendWKT_depth(t *testing.T) {
	t.Parallel()
	nested := bytes.Repeat(little(7, 1), 1<<20)
	if _, ok := AppendWKT(nil, nested); ok {
		t.Error("a deep collection is a geometry")
	}
}

func TestAppendGeoPackage(t *testing.T) {
	t.Parallel()
	at := string(little(1, 1.0, 2.0))
	for in, want := range map[string]string{
		"GP\x00\x01\xE6\x10\x00\x00" + at:                           "POINT (1 2)",
		"GP\x00\x03\xE6\x10\x00\x00" + strings.Repeat("x", 32) + at: "POINT (1 2)",
		"GP\x00\x05\xE6\x10\x00\x00" + strings.Repeat("x", 48) + at: "POINT (1 2)",
		"GP\x00\x09\xE6\x10\x00\x00" + strings.Repeat("x", 64) + at: "POINT (1 2)",
		"GP\x00\x0B\xE6\x10\x00\x00" + at:                           "",
		"GP\x00\x21\xE6\x10\x00\x00" + at:                           "",
		"GP\x00\x03\xE6\x10\x00\x00x":                               "",
		"GP\x01\x01\xE6\x10\x00\x00" + at:                           "",
		"GP\x00":                                                    "",
		at:                                                          "",
	} {
		if got, ok := AppendGeoPackage(nil, []byte(in)); string(got) != want || ok != (want != "") {
			t.Errorf("%q: got %q, %t; want %q", in, got, ok, want)
		}
	}
}

func FuzzAppendWKT(f *testing.F) {
	f.Add(little(3, 1, 2, 1.0, 2.0, 3.0, 4.0))
	f.Add(little(7, 1, string(big(0xE0000001, 4326, 1.0, 2.0, 3.0, 4.0))))
	f.Fuzz(func(t *testing.T, data []byte) {
		if out, _ := AppendWKT(nil, data); len(out) > 64+8*len(data) {
			t.Errorf("%d bytes become %d", len(data), len(out))
		}
	})
}
