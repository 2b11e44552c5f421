package parquet

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

func some[T any](v T) thrift.Null[T] { return thrift.Null[T]{V: v, Valid: true} }

func testBudget(t *testing.T) *rows.Budget { return rows.NewBudget(t.Context(), 1<<20, rows.Limits{}) }

// group and leaf are nodes of a schema in the order of the file.
func group(name string, r meta.FieldRepetitionType, children int32) meta.SchemaElement {
	return meta.SchemaElement{Name: name, RepetitionType: some(r), NumChildren: some(children)}
}

func leaf(name string, r meta.FieldRepetitionType, t meta.Type) meta.SchemaElement {
	return meta.SchemaElement{Name: name, RepetitionType: some(r), Type: some(t)}
}

func annotated(e meta.SchemaElement, t deprecated.ConvertedType) meta.SchemaElement {
	e.ConvertedType = some(t)
	return e
}

// value is a value of a leaf with its levels. data is nil for null.
type value struct {
	rep, def uint64
	data     []byte
}

// newValue returns a value as a page has it.
func newValue(v any, rep, def uint64) value {
	data, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return value{rep: rep, def: def, data: data}
}

// nestedCell returns the cell of the only column of a schema from the values of its leaves in one
// row.
func nestedCell(t *testing.T, elements []meta.SchemaElement, leaves [][]value) (string, error) {
	t.Helper()
	s, err := readSchema(append([]meta.SchemaElement{group("root", meta.Required, 1)}, elements...), testBudget(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.columns) != 1 || s.columns[0].name != "v" {
		t.Fatalf("got columns %v", s.columns)
	}
	c := columnReader{column: s.columns[0], budget: testBudget(t)}
	for i, values := range leaves {
		var rep, def []byte // runs of one level each
		var data [][]byte
		for _, v := range values {
			rep, def = append(rep, 1<<1, byte(v.rep)), append(def, 1<<1, byte(v.def))
			if v.data != nil {
				data = append(data, v.data)
			}
		}
		next := func() ([]byte, error) {
			v := data[0]
			data = data[1:]
			return v, nil
		}
		cursor := &cursor{
			leaf: s.leaves[i], chunk: new(columnMetadata), left: int64(len(values)),
			repLevels: newLevelReader(rep, s.leaves[i].rep), defLevels: newLevelReader(def, s.leaves[i].def),
			values: next,
		}
		cursor.advance()
		c.cursors = append(c.cursors, cursor)
	}
	b, err := c.appendCell(nil)
	return string(b), err
}

// TestSchema_UnsupportedTypes names the columns of types that are not read.
func TestSchema_UnsupportedTypes(t *testing.T) {
	t.Parallel()
	half := leaf("v", meta.Optional, meta.FixedLenByteArray)
	half.TypeLength = some(int32(2))
	half.LogicalType.Value = new(meta.Float16Type)
	interval := annotated(leaf("v", meta.Optional, meta.FixedLenByteArray), deprecated.Interval)
	interval.TypeLength = some(int32(12))
	variant := group("v", meta.Optional, 1)
	variant.LogicalType.Value = new(meta.VariantType)
	for name, element := range map[string]meta.SchemaElement{"FLOAT16": half, "INTERVAL": interval,
		"VARIANT": variant} {
		elements := []meta.SchemaElement{group("root", meta.Required, 1), element,
			leaf("metadata", meta.Required, meta.ByteArray)}
		_, err := readSchema(elements, testBudget(t))
		want := `column "v" has the unsupported type ` + name + "; write it as text, numbers or dates"
		if err == nil || err.Error() != want || herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("got error  %v\nwant error %s", err, want)
		}
	}
}

// TestSchema_Legacy reads lists and maps in the ways of older writers.
func TestSchema_Legacy(t *testing.T) {
	t.Parallel()
	null := func(rep, def uint64) value { return value{rep: rep, def: def} }
	list := annotated(group("v", meta.Optional, 1), deprecated.List)
	for _, c := range []struct {
		name     string
		elements []meta.SchemaElement
		leaves   [][]value
		want     string
	}{
		{
			"two levels", []meta.SchemaElement{list, leaf("element", meta.Repeated, meta.Int32)},
			[][]value{{newValue(int32(1), 0, 2), newValue(int32(2), 1, 2)}}, "[1,2]",
		}, {
			"two levels, empty", []meta.SchemaElement{list, leaf("element", meta.Repeated, meta.Int32)},
			[][]value{{null(0, 1)}}, "",
		}, {
			"a group of two is the element", []meta.SchemaElement{
				list, group("element", meta.Repeated, 2), leaf("a", meta.Required, meta.Int32),
				leaf("b", meta.Optional, meta.Int32),
			},
			[][]value{{newValue(int32(1), 0, 2), newValue(int32(2), 1, 2)}, {null(0, 2), newValue(int32(3), 1, 3)}},
			`[{"a":1,"b":null},{"a":2,"b":3}]`,
		}, {
			"a group called array is the element", []meta.SchemaElement{
				list, group("array", meta.Repeated, 1), leaf("a", meta.Required, meta.Int32),
			},
			[][]value{{newValue(int32(1), 0, 2)}}, `[{"a":1}]`,
		}, {
			"a group called after the list is the element", []meta.SchemaElement{
				list, group("v_tuple", meta.Repeated, 1), leaf("a", meta.Required, meta.Int32),
			},
			[][]value{{newValue(int32(1), 0, 2)}}, `[{"a":1}]`,
		}, {
			"any other group of one is not", []meta.SchemaElement{
				list, group("bag", meta.Repeated, 1), leaf("array_element", meta.Optional, meta.Int32),
			},
			[][]value{{newValue(int32(1), 0, 3), newValue(int32(2), 1, 3)}}, "[1,2]",
		}, {
			"map by its older name", []meta.SchemaElement{
				annotated(group("v", meta.Optional, 1), deprecated.MapKeyValue), group("map", meta.Repeated, 2),
				leaf("key", meta.Required, meta.Int32), leaf("value", meta.Optional, meta.Double),
			},
			[][]value{{newValue(int32(1), 0, 2), newValue(int32(2), 1, 2)}, {newValue(0.5, 0, 3), null(1, 2)}},
			`{"1":0.5,"2":null}`,
		}, {
			"keys without values are a list", []meta.SchemaElement{
				annotated(group("v", meta.Optional, 1), deprecated.Map), group("key_value", meta.Repeated, 1),
				leaf("key", meta.Required, meta.Int32),
			},
			[][]value{{newValue(int32(1), 0, 2), newValue(int32(2), 1, 2)}}, "[1,2]",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := nestedCell(t, c.elements, c.leaves)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestSchema_Damaged(t *testing.T) {
	t.Parallel()
	deep := []meta.SchemaElement{group("root", meta.Required, 1)}
	for range 200 {
		deep = append(deep, group("g", meta.Required, 1))
	}
	for name, elements := range map[string][]meta.SchemaElement{
		"nothing":           {},
		"missing children":  {group("root", meta.Required, 3), leaf("a", meta.Required, meta.Int32)},
		"endless":           deep,
		"no fixed length":   {group("root", meta.Required, 1), leaf("a", meta.Required, meta.FixedLenByteArray)},
		"unknown type":      {group("root", meta.Required, 1), leaf("a", meta.Required, 99)},
		"a list of nothing": {group("root", meta.Required, 1<<30)},
	} {
		if _, err := readSchema(elements, testBudget(t)); herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	pairs := []meta.SchemaElement{
		annotated(group("v", meta.Optional, 1), deprecated.List), group("element", meta.Repeated, 2),
		leaf("a", meta.Required, meta.Int32), leaf("b", meta.Required, meta.Int32),
	}
	first, second := newValue(int32(1), 0, 2), newValue(int32(1), 1, 2)
	for name, leaves := range map[string][][]value{
		"leaves of different lengths": {{first, second}, {first}},
		"a longer second leaf":        {{first}, {first, second}},
		"a row that begins inside":    {{second}, {first}},
		"a leaf without its list":     {{first}, {{def: 1}}},
		"a list without its leaf":     {{{def: 1}}, {first}},
		"a leaf without its element":  {{first, second}, {first, {rep: 1, def: 1}}},
	} {
		if _, err := nestedCell(t, pairs, leaves); err != errLevels {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}
