package parquetrows

import (
	"github.com/parquet-go/parquet-go/deprecated"
	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
)

// leafType describes how the values of a leaf are stored and what they mean.
type leafType struct {
	stored   meta.Type
	width    int       // of a value in bytes; 0 for booleans and byte arrays
	declared herb.Type // type of a column; empty for bytes without an annotation
	render   appendFunc
}

// appendFunc appends a value that is not null as text. It is nil for bytes that may be text or binary.
type appendFunc func(b, data []byte) ([]byte, error)

// newLeafType returns the annotated type of a leaf, or else its stored type.
func newLeafType(e *meta.SchemaElement) (leafType, error) {
	types := []leafType{
		meta.Boolean:           {declared: herb.TypeBoolean, render: appendBoolean},
		meta.Int32:             {width: 4, declared: herb.TypeNumber, render: appendInt},
		meta.Int64:             {width: 8, declared: herb.TypeNumber, render: appendInt},
		meta.Int96:             {width: 12, declared: herb.TypeDateTime, render: appendInt96},
		meta.Float:             {width: 4, declared: herb.TypeNumber, render: appendFloat},
		meta.Double:            {width: 8, declared: herb.TypeNumber, render: appendFloat},
		meta.ByteArray:         {},
		meta.FixedLenByteArray: {width: int(e.TypeLength.V)},
	}
	stored := e.Type.V
	switch {
	case stored < 0 || int(stored) >= len(types):
		return leafType{}, herb.Invalidf("column %q has an unsupported type; write it as text, numbers or dates", e.Name)
	case stored == meta.FixedLenByteArray && e.TypeLength.V <= 0:
		return leafType{}, herb.Invalidf("column %q has values of a fixed length without that length; write the file again", e.Name)
	}
	l := types[stored]
	l.stored = stored
	l.annotate(annotation(e))
	return l, nil
}

// annotate changes a stored type to the annotated one, unless values of that type cannot be stored this way.
func (l *leafType) annotate(annotation any) {
	set := func(isValid bool, declared herb.Type, render appendFunc) {
		if isValid && render != nil {
			l.declared, l.render = declared, render
		}
	}
	isBytes := l.stored == meta.ByteArray || l.stored == meta.FixedLenByteArray
	isFixed := func(width int) bool { return l.stored == meta.FixedLenByteArray && l.width == width }
	isInt := l.stored == meta.Int32 || l.stored == meta.Int64
	switch t := annotation.(type) {
	case *meta.StringType, *meta.EnumType, *meta.JsonType:
		set(isBytes, herb.TypeText, appendUTF8)
	case *meta.BsonType, *meta.GeometryType, *meta.GeographyType:
		set(isBytes, herb.TypeText, appendBase64)
	case *meta.UUIDType:
		set(isFixed(16), herb.TypeText, appendUUID)
	case *meta.Float16Type:
		set(isFixed(2), herb.TypeNumber, appendFloat16)
	case deprecated.ConvertedType: // Interval, which has no newer annotation
		set(isFixed(12), herb.TypeText, appendInterval)
	case *meta.DecimalType:
		set((isInt || isBytes) && t.Scale >= 0 && t.Scale <= 10_000, herb.TypeNumber, appendDecimal(int(t.Scale), isInt))
	case *meta.DateType:
		set(l.stored == meta.Int32, herb.TypeDate, appendDate)
	case *meta.TimeType:
		_, isMillis := t.Unit.Value.(*meta.MilliSeconds)
		set(l.stored == meta.Int64 || l.stored == meta.Int32 && isMillis, herb.TypeText, appendTime(t.Unit, t.IsAdjustedToUTC, false))
	case *meta.TimestampType:
		set(l.stored == meta.Int64, herb.TypeDateTime, appendTime(t.Unit, t.IsAdjustedToUTC, true))
	case *meta.IntType:
		set(isInt && !t.IsSigned, herb.TypeNumber, appendUint)
	}
}

// annotation returns the logical type of an element, translated from the older converted type if necessary.
func annotation(e *meta.SchemaElement) any {
	if e.LogicalType.Value != nil || !e.ConvertedType.Valid {
		return e.LogicalType.Value
	}
	millis, micros := meta.TimeUnit{Value: new(meta.MilliSeconds)}, meta.TimeUnit{Value: new(meta.MicroSeconds)}
	text, unsigned, pairs := new(meta.StringType), new(meta.IntType), new(meta.MapType)
	return map[deprecated.ConvertedType]any{
		deprecated.UTF8: text, deprecated.Enum: text, deprecated.Json: text, deprecated.Bson: new(meta.BsonType),
		deprecated.Uint8: unsigned, deprecated.Uint16: unsigned, deprecated.Uint32: unsigned, deprecated.Uint64: unsigned,
		deprecated.List: new(meta.ListType), deprecated.Map: pairs, deprecated.MapKeyValue: pairs,
		deprecated.Decimal:         &meta.DecimalType{Scale: e.Scale.V},
		deprecated.Date:            new(meta.DateType),
		deprecated.Interval:        deprecated.Interval,
		deprecated.TimeMillis:      &meta.TimeType{IsAdjustedToUTC: true, Unit: millis},
		deprecated.TimeMicros:      &meta.TimeType{IsAdjustedToUTC: true, Unit: micros},
		deprecated.TimestampMillis: &meta.TimestampType{IsAdjustedToUTC: true, Unit: millis},
		deprecated.TimestampMicros: &meta.TimestampType{IsAdjustedToUTC: true, Unit: micros},
	}[e.ConvertedType.V]
}
