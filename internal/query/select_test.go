package query_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// TestSelector selects fields of records whose names and values need escaping.
func TestSelector(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "a"}, {Name: `b "x" \`}, {Name: "c"}}
	values := []string{"", "plain", `"`, `\`, `\"`, `\\`, "\n", `","c":"`, `{"a":"b"}`, "植物"}
	for _, selected := range [][]int{nil, {0}, {2, 0}, {1}, {2, 1, 0}} {
		req := &query.Request{Selected: selected}
		if selected != nil {
			parsed, err := query.Parse("", fields)
			if err != nil {
				t.Fatal(err)
			}
			parsed.Selected = selected
			req = parsed
		}
		selector := req.NewSelector(nil)
		for i, value := range values {
			record := herb.Record{value, values[(i+3)%len(values)], values[(i+5)%len(values)]}
			want := record.AppendJSON(nil, fields)
			if selected != nil {
				var chosen herb.Record
				for _, position := range selected {
					chosen = append(chosen, record[position])
				}
				want = chosen.AppendJSON(nil, req.Fields())
			}
			encoded := record.AppendJSON(nil, fields)
			var got bytes.Buffer
			size, err := selector.Size(encoded)
			if err := errors.Join(err, selector.Write(&got, encoded)); err != nil || got.String() != string(want) ||
				size != len(want) {
				t.Errorf("%v of %s: %s with %d bytes, %v; want %s", selected, encoded, got.String(), size, err, want)
			}
		}
	}
}

func TestSelector_malformed(t *testing.T) {
	t.Parallel()
	req, err := query.Parse("_fields=b", []herb.Field{{Name: "a"}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	selector := req.NewSelector(nil)
	for _, record := range []string{"", "{", "{}", `{"a":"1"}`, `{"a":"1","b":"2","c":"3"}`, `{"a":"1","b":"2`,
		`{"a":"1","b":"2\`, `{"a":1,"b":2}`} {
		_, err := selector.Size([]byte(record))
		if written := selector.Write(io.Discard, []byte(record)); err == nil || written == nil {
			t.Errorf("%s: %v, %v; want errors", record, err, written)
		}
	}
}

// TestSelector_memory checks that selecting fields of large records copies nothing.
func TestSelector_memory(t *testing.T) {
	fields := []herb.Field{{Name: "a"}, {Name: "b"}}
	req, err := query.Parse("_fields=b", fields)
	if err != nil {
		t.Fatal(err)
	}
	selector := req.NewSelector(nil)
	record := herb.Record{"1", string(bytes.Repeat([]byte("x\n"), 1<<20))}.AppendJSON(nil, fields)
	if n := testing.AllocsPerRun(10, func() { err = selector.Write(io.Discard, record) }); n > 1 || err != nil {
		t.Errorf("%v allocations, %v", n, err)
	}
}
