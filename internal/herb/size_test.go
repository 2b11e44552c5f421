package herb_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// TestDataset_size compares the estimate with the size of the JSON.
func TestDataset_size(t *testing.T) {
	t.Parallel()
	wide := herb.Dataset{Title: "Wide", Details: herb.Details{Report: &herb.Report{}}}
	for i := range 1000 {
		name := fmt.Sprintf("column_%d", i)
		wide.Fields = append(wide.Fields, herb.Field{Name: name, Type: herb.TypeText, Title: "Column",
			Searchable: true})
		wide.Report.Columns = append(wide.Report.Columns,
			herb.ColumnReport{Field: name, Column: name, Type: herb.TypeText, Evidence: "text: 1,000 of 1,000"})
	}
	long := strings.Repeat("x", 100_000)
	for name, d := range map[string]herb.Dataset{
		"wide":       wide,
		"descriptor": {Details: herb.Details{Descriptor: herb.NewDescriptor([]byte(`"` + long + `"`))}},
		"texts": {Description: long,
			Fields: []herb.Field{{Description: long, Notation: herb.Notation{Missing: []string{long}}}}},
		"report": {Details: herb.Details{
			Report: &herb.Report{Notes: []string{long},
				Columns: []herb.ColumnReport{{Min: long, Max: long, Notes: []string{long}}}}}},
	} {
		encoded, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := d.Size(), len(encoded); got < want*3/4 || got > want*5/2 {
			t.Errorf("%s: %d bytes; its JSON has %d", name, got, want)
		}
	}
}
