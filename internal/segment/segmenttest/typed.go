package segmenttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/typed"
)

// maxTyped is the maximum number of records of a stream that are compared in typed JSON.
const maxTyped = 50

// agreeOnTyped compares records in typed JSON with a simple rendering of their values.
//
// Rule: docs/api.md, "Typed JSON".
func agreeOnTyped(r *query.Request, types []typed.Column, records [][]byte) error {
	q := *r
	q.Typed = true
	whole := *r
	whole.Selected = nil
	all := whole.Fields() // in the order of the types
	selector := q.NewSelector(types)
	for _, record := range records[:min(len(records), maxTyped)] {
		values, err := herb.DecodeRecords(all, [][]byte{record})
		if err != nil {
			return err
		}
		var members []string
		for _, f := range q.Fields() {
			i := herb.FieldIndex(all, f.Name)
			value := string(types[i].AppendJSON(nil, &f, values[0][i]))
			if _, missing := missingPosition(f, values[0][i]); missing != (value == "null") {
				return fmt.Errorf("%q of %s is %s", values[0][i], types[i], value)
			}
			members = append(members, string(herb.AppendJSONString(nil, f.Name))+":"+value)
		}
		want := "{" + strings.Join(members, ",") + "}"
		var got bytes.Buffer
		size, err := selector.Size(record)
		if err == nil {
			err = selector.Write(&got, record)
		}
		if err != nil || got.String() != want || size != len(want) || !json.Valid(got.Bytes()) {
			return fmt.Errorf("typed record %s with %d bytes, %w; want %s", got.String(), size, err, want)
		}
	}
	return nil
}

// checkTypedAggregate compares the groups of an engine in typed JSON with the texts: numbers have
// the digits of the texts, and null stands for texts that are empty.
//
// Rule: docs/api.md, "Typed JSON".
func checkTypedAggregate(ctx context.Context, l query.Engine, raw string, fields []herb.Field) error {
	r, err := query.ParseAggregate(raw, fields)
	if err != nil {
		return err
	}
	found, err := l.Aggregate(ctx, r)
	if err != nil {
		return nil //nolint:nilerr // rejected, as by the oracle
	}
	types, err := l.Types()
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(query.NewTypedAggregate(r, found, nil, types))
	if err != nil {
		return err
	}
	var got struct {
		Data []struct{ By, Values []json.RawMessage }
	}
	if err := json.Unmarshal(encoded, &got); err != nil {
		return err
	}
	if len(got.Data) != len(found.Rows) {
		return fmt.Errorf("%d typed groups; want %d", len(got.Data), len(found.Rows))
	}
	for i, row := range found.Rows {
		for k, label := range row.By {
			if isNull := string(got.Data[i].By[k]) == "null"; isNull != (label == "") {
				return fmt.Errorf("the label %q is %s in typed JSON", label, got.Data[i].By[k])
			}
		}
		for k, value := range row.Values {
			m, literal := r.Measures[k], string(got.Data[i].Values[k])
			isNumber := m.Field < 0 || m.Kind.ResultType(fields[m.Field].Type) == herb.TypeNumber &&
				(m.Kind.IsComputed() || types[m.Field].IsNumber())
			if value == "" && literal != "null" || value != "" && isNumber && literal != value || value != "" &&
				literal == "null" {
				return fmt.Errorf("%s is %s, and %s in typed JSON", m.Name, strconv.Quote(value), literal)
			}
		}
	}
	return nil
}
