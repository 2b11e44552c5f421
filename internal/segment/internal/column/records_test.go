package column

import (
	"encoding/binary"
	"strings"
	"testing"

	"herbarium/internal/herb"
)

func TestRecords_Start(t *testing.T) {
	t.Parallel()
	const most = 8
	for name, value := range map[string]string{
		"empty":              "",
		"short":              `a "b"`,
		"as long":            "12345678",
		"long":               strings.Repeat("long ", 1000),
		"long, of escapes":   strings.Repeat("\x01", 1000),
		"long, of quotes":    strings.Repeat(`"\`, 1000),
		"long, of two bytes": strings.Repeat("ä", 1000),
	} {
		record := herb.AppendJSONString([]byte(`{"a":"\"","b":`), value)
		record = append(record, `,"c":"x"}`...)
		r := &Records{Data: record, Starts: binary.LittleEndian.AppendUint64(make([]byte, 8), uint64(len(record))),
			labelSizes: []int{4, 4, 4}}
		got := r.ValuePrefix(0, 1, most)
		if n := min(most, len(value)); len(got) < n || got[:n] != value[:n] || len(got) > 6*most {
			t.Errorf("%s: got %q of %.100q", name, got, value)
		}
		if len(value) <= most && got != value {
			t.Errorf("%s: got %q; want all of %q", name, got, value)
		}
		if all := r.Value(0, 1); all != value {
			t.Errorf("%s: the whole value is %.100q; want %.100q", name, all, value)
		}
	}
}
