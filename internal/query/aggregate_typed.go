package query

import (
	"herbarium/internal/herb"
	"herbarium/internal/text"
	"herbarium/internal/typed"
)

// TypedAggregate is an AggregateResponse whose labels and values are typed JSON.
type TypedAggregate struct {
	Data []typedRow    `json:"data"`
	Meta AggregateMeta `json:"meta"`
}

// NewTypedAggregate returns the typed response to a request. words is the result of Engine.Words,
// and types that of Request.Types.
func NewTypedAggregate(r *AggregateRequest, a Aggregate, words Words, types []typed.Column) TypedAggregate {
	untyped := NewAggregateResponse(r, a, words)
	rows, renderer := make([]typedRow, len(a.Rows)), &rowRenderer{r, types}
	for i := range rows {
		rows[i] = typedRow{renderer, &a.Rows[i]}
	}
	return TypedAggregate{rows, untyped.Meta}
}

// typedRow is a GroupRow as typed JSON. It is rendered when it is encoded, so that a response holds
// only its texts.
type typedRow struct {
	renderer *rowRenderer
	row      *GroupRow
}

// MarshalJSON implements json.Marshaler.
func (t typedRow) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 64), `{"by":[`...)
	for i, label := range t.row.By {
		b = t.renderer.appendLabel(appendComma(b, i), t.renderer.request.By[i], label)
	}
	b = append(b, `],"values":[`...)
	for i, value := range t.row.Values {
		b = t.renderer.appendValue(appendComma(b, i), t.renderer.request.Measures[i], value)
	}
	return append(b, "]}"...), nil
}

func appendComma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

// rowRenderer renders labels and values of groups as typed JSON.
type rowRenderer struct {
	request *AggregateRequest
	types   []typed.Column
}

// appendLabel appends a label: a value of the field has the type of the field, and an element of a
// list, an interval and a cycle are texts.
func (r *rowRenderer) appendLabel(b []byte, by By, label string) []byte {
	switch column := r.types[by.Field]; {
	case label == "":
		return append(b, "null"...)
	case by.HasIntervals() || column.Kind == typed.List:
		return herb.AppendJSONString(b, label)
	default:
		return column.AppendJSON(b, &r.request.Request.fields[by.Field], label)
	}
}

// appendValue appends the value of a measure. Computed values are numbers, those of durations in
// seconds. The others are values of the field and have its type.
func (r *rowRenderer) appendValue(b []byte, m Measure, value string) []byte {
	if value == "" {
		return append(b, "null"...)
	}
	if m.Field < 0 {
		return append(b, value...)
	}
	field, column := &r.request.Request.fields[m.Field], r.types[m.Field]
	if !m.Kind.IsComputed() && !column.IsNumber() {
		return column.AppendJSON(b, field, value)
	}
	if m.Kind.ResultType(field.Type) != herb.TypeDuration {
		return append(b, value...) // in plain decimal notation
	}
	seconds, status := text.AppendCanonical(b, &herb.Field{Type: herb.TypeDuration}, []byte(value))
	if status != text.Valid {
		return herb.AppendJSONString(b, value)
	}
	return seconds
}
