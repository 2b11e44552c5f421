package herb_test

import (
	"testing"

	"herbarium/internal/herb"
)

func TestReading_Merge(t *testing.T) {
	t.Parallel()
	live := herb.Reading{Format: "csv", Table: "a", Delimiter: ";", Encoding: "utf-8", Header: "2",
		Comment: "#", Skip: "1"}
	other := herb.Reading{Format: "tsv", Table: "b", Widths: "1,2", Encoding: "utf-16", Header: "none",
		Comment: "//", Skip: "3"}
	for _, tt := range []struct {
		name        string
		given, want herb.Reading
	}{
		{"nothing", herb.Reading{}, live},
		{"a header", herb.Reading{Header: "3"}, herb.Reading{Format: "csv", Table: "a", Delimiter: ";",
			Encoding: "utf-8", Header: "3", Comment: "#", Skip: "1"}},
		{"widths instead of a delimiter", other, other},
		{"a delimiter", herb.Reading{Delimiter: "|"}, herb.Reading{Format: "csv", Table: "a", Delimiter: "|",
			Encoding: "utf-8", Header: "2", Comment: "#", Skip: "1"}},
	} {
		if got := live.Merge(tt.given); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if got := (herb.Reading{Widths: "1,2"}).Merge(herb.Reading{Delimiter: ","}); got != (herb.Reading{Delimiter: ","}) {
		t.Errorf("a delimiter instead of widths: got %+v", got)
	}
}
