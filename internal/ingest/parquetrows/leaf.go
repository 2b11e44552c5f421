package parquetrows

import (
	"github.com/parquet-go/parquet-go/deprecated"
	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
)

// leafType describes what the values of a leaf mean and how they are stored.
type leafType struct {
	kind   leafKind
	stored meta.Type
	width  int  // of a value in bytes; 0 for booleans and byte arrays
	scale  int  // of a decimal
	digits int  // of the fraction of a second
	utc    bool // times are in UTC
	// isUnannotated is set for bytes that the file does not declare as text.
	isUnannotated bool
}

type leafKind int

const (
	leafUnknown leafKind = iota
	leafBoolean
	leafInt // the first number
	leafUint
	leafFloat
	leafFloat16
	leafDecimal // the last number
	leafDate
	leafTime
	leafTimestamp
	leafInt96
	leafText
	leafUUID
	leafInterval
	leafBinary // bytes, always as base64
	leafBytes  // text or binary; the values of the column decide
)

// isNumber reports whether values are numbers.
func (l *leafType) isNumber() bool { return l.kind >= leafInt && l.kind <= leafDecimal }

// newLeafType returns the annotated type of a leaf, or else its stored type.
func newLeafType(e *meta.SchemaElement) (leafType, error) {
	types := []leafType{
		meta.Boolean:           {kind: leafBoolean},
		meta.Int32:             {kind: leafInt, width: 4},
		meta.Int64:             {kind: leafInt, width: 8},
		meta.Int96:             {kind: leafInt96, width: 12, digits: 9},
		meta.Float:             {kind: leafFloat, width: 4},
		meta.Double:            {kind: leafFloat, width: 8},
		meta.ByteArray:         {kind: leafBytes, isUnannotated: true},
		meta.FixedLenByteArray: {kind: leafBytes, width: int(e.TypeLength.V), isUnannotated: true},
	}
	stored := e.Type.V
	switch {
	case stored < 0 || int(stored) >= len(types):
		return leafType{}, herb.Invalidf("column %q has an unsupported type; write it as text, numbers or dates", e.Name)
	case stored == meta.FixedLenByteArray && e.TypeLength.V <= 0:
		return leafType{}, herb.Invalidf("column %q has values of a fixed length without that length; write the file again", e.Name)
	}
	types[stored].stored = stored
	annotated := logicalType(e.LogicalType.Value)
	if e.LogicalType.Value == nil && e.ConvertedType.Valid {
		annotated = convertedType(e)
	}
	annotated.stored, annotated.width = stored, types[stored].width
	if annotated.isValid() {
		return annotated, nil
	}
	return types[stored], nil
}

// logicalType returns the type that an annotation declares.
func logicalType(annotation any) leafType {
	switch t := annotation.(type) {
	case *meta.StringType, *meta.EnumType, *meta.JsonType:
		return leafType{kind: leafText}
	case *meta.BsonType, *meta.GeometryType, *meta.GeographyType:
		return leafType{kind: leafBinary}
	case *meta.UUIDType:
		return leafType{kind: leafUUID}
	case *meta.Float16Type:
		return leafType{kind: leafFloat16}
	case *meta.DecimalType:
		return leafType{kind: leafDecimal, scale: int(t.Scale)}
	case *meta.DateType:
		return leafType{kind: leafDate}
	case *meta.TimeType:
		return leafType{kind: leafTime, digits: unitDigits(t.Unit), utc: t.IsAdjustedToUTC}
	case *meta.TimestampType:
		return leafType{kind: leafTimestamp, digits: unitDigits(t.Unit), utc: t.IsAdjustedToUTC}
	case *meta.IntType:
		if t.IsSigned {
			return leafType{kind: leafInt}
		}
		return leafType{kind: leafUint}
	default:
		return leafType{}
	}
}

// unitDigits returns the digits of the fraction of a second, 0 for an unknown unit.
func unitDigits(unit meta.TimeUnit) int {
	if unit.Value == nil {
		return 0
	}
	return 3 * int(unit.Value.FieldID()) // milliseconds, microseconds, nanoseconds
}

// convertedType returns the type that an annotation of older writers declares.
func convertedType(e *meta.SchemaElement) leafType {
	return map[deprecated.ConvertedType]leafType{
		deprecated.UTF8: {kind: leafText}, deprecated.Enum: {kind: leafText}, deprecated.Json: {kind: leafText},
		deprecated.Bson: {kind: leafBinary}, deprecated.Interval: {kind: leafInterval}, deprecated.Date: {kind: leafDate},
		deprecated.Decimal:         {kind: leafDecimal, scale: int(e.Scale.V)},
		deprecated.TimeMillis:      {kind: leafTime, digits: 3, utc: true},
		deprecated.TimeMicros:      {kind: leafTime, digits: 6, utc: true},
		deprecated.TimestampMillis: {kind: leafTimestamp, digits: 3, utc: true},
		deprecated.TimestampMicros: {kind: leafTimestamp, digits: 6, utc: true},
		deprecated.Uint8:           {kind: leafUint}, deprecated.Uint16: {kind: leafUint},
		deprecated.Uint32: {kind: leafUint}, deprecated.Uint64: {kind: leafUint},
	}[e.ConvertedType.V]
}

// isValid reports whether values of a kind can be stored this way.
func (l *leafType) isValid() bool {
	isBytes := l.stored == meta.ByteArray || l.stored == meta.FixedLenByteArray
	isInt := l.stored == meta.Int32 || l.stored == meta.Int64
	switch l.kind {
	case leafText, leafBinary:
		return isBytes
	case leafUUID, leafFloat16, leafInterval:
		return l.stored == meta.FixedLenByteArray && l.width == map[leafKind]int{leafUUID: 16, leafFloat16: 2, leafInterval: 12}[l.kind]
	case leafInt, leafUint:
		return isInt
	case leafDecimal:
		return (isInt || isBytes) && l.scale >= 0 && l.scale <= 10_000
	case leafDate:
		return l.stored == meta.Int32
	case leafTime, leafTimestamp:
		return l.stored == meta.Int64 && l.digits > 0 || l.kind == leafTime && l.stored == meta.Int32 && l.digits == 3
	default:
		return false
	}
}
