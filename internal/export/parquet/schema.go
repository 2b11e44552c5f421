package parquet

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"herbarium/internal/typed"
)

// fixedDecimal is the number of bytes of decimals that do not fit 64 bits.
const fixedDecimal = 16

// int64Digits is the number of digits that fit 64 bits, whatever they are.
const int64Digits = 18

// physical returns the physical type of the values of a column, and their size in bytes; 0 if it
// varies.
func physical(c typed.Column) (kind format.Type, size int) {
	switch c.Kind {
	case typed.Boolean:
		return format.Boolean, 1 // while they are collected
	case typed.Date:
		return format.Int32, 4
	case typed.Double:
		return format.Double, 8
	case typed.Decimal:
		if c.Precision > int64Digits {
			return format.FixedLenByteArray, fixedDecimal
		}
		return format.Int64, 8
	case typed.Int64, typed.Timestamp, typed.Time:
		return format.Int64, 8
	}
	return format.ByteArray, 0
}

// schema returns the nodes of the schema: the root, and one or, for a list, three for each field.
func (w *Writer) schema() []format.SchemaElement {
	nodes := []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(len(w.columns)))}}
	for i, c := range w.columns {
		n := format.SchemaElement{
			Name: c.name, FieldID: int32(i + 1), RepetitionType: thrift.New(format.Optional),
		}
		if c.required {
			n.RepetitionType = thrift.New(format.Required)
		}
		if !c.isList() {
			n.Type = thrift.New(c.physical)
			setLogical(&n, c.Column)
			nodes = append(nodes, n)
			continue
		}
		n.NumChildren, n.ConvertedType = thrift.New(int32(1)), thrift.New(deprecated.List)
		n.LogicalType.Value = &format.ListType{}
		list := format.SchemaElement{
			Name: "list", RepetitionType: thrift.New(format.Repeated), NumChildren: thrift.New(int32(1)),
		}
		element := format.SchemaElement{
			Name: "element", RepetitionType: thrift.New(format.Required), Type: thrift.New(c.physical),
		}
		setLogical(&element, typed.Column{Kind: typed.Text})
		nodes = append(nodes, n, list, element)
	}
	return nodes
}

// setLogical sets the logical type of a leaf, and the type for programs that do not know it.
func setLogical(n *format.SchemaElement, c typed.Column) {
	switch c.Kind {
	case typed.Text:
		n.ConvertedType, n.LogicalType.Value = thrift.New(deprecated.UTF8), &format.StringType{}
	case typed.Date:
		n.ConvertedType, n.LogicalType.Value = thrift.New(deprecated.Date), &format.DateType{}
	case typed.Decimal:
		if c.Precision > int64Digits {
			n.TypeLength = thrift.New(int32(fixedDecimal))
		}
		d := &format.DecimalType{Scale: int32(c.Scale), Precision: int32(c.Precision)}
		n.ConvertedType, n.LogicalType.Value = thrift.New(deprecated.Decimal), d
		n.Scale, n.Precision = thrift.New(d.Scale), thrift.New(d.Precision)
	case typed.Time:
		n.LogicalType.Value = &format.TimeType{Unit: unit(c.Nanos)}
	case typed.Timestamp:
		if c.Zoned && !c.Nanos {
			n.ConvertedType = thrift.New(deprecated.TimestampMicros)
		}
		n.LogicalType.Value = &format.TimestampType{IsAdjustedToUTC: c.Zoned, Unit: unit(c.Nanos)}
	}
}

func unit(nanos bool) format.TimeUnit {
	if nanos {
		return format.TimeUnit{Value: &format.NanoSeconds{}}
	}
	return format.TimeUnit{Value: &format.MicroSeconds{}}
}
