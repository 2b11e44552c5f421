package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// TestHostileDataset requests all routes of a dataset with ten thousand long names, and of one with
// numbers of very many digits, from a server with little memory: none fails.
func TestHostileDataset(t *testing.T) {
	t.Parallel()
	const smallServer = 128 << 20
	s, _ := newLimitedService(t, smallServer/4)
	wide := make([]herb.Field, 10_000)
	report, record := &herb.Report{Columns: make([]herb.ColumnReport, len(wide))}, make(herb.Record, len(wide))
	for i := range wide {
		wide[i] = herb.Field{Name: fmt.Sprint("c", i, "_", strings.Repeat("n", 240)), Type: herb.TypeNumber,
			Filterable: true, Sortable: true}
		report.Columns[i] = herb.ColumnReport{Field: wide[i].Name, Column: wide[i].Name, Type: herb.TypeNumber,
			Evidence: "number: 1 of 1"}
		record[i] = "1"
	}
	ref := herb.Ref{Namespace: "hostile", Name: "wide"}
	d := herb.Dataset{Ref: ref, Access: herb.AccessOpen, Version: "v1", Fields: wide}
	d.Report = report
	s.library.put(d, []herb.Record{record})
	numbers := []herb.Field{{Name: "n", Type: herb.TypeNumber, Filterable: true, Sortable: true}}
	values := []herb.Record{{strings.Repeat("9", 200_000)}, {"0." + strings.Repeat("3", 70_000)}, {"1"}}
	ref.Name = "numbers"
	s.library.put(herb.Dataset{Ref: ref, Access: herb.AccessOpen, Version: "v1", Fields: numbers}, values)
	digits := strings.Repeat("9", 7000)
	for name, field := range map[string]string{"wide": wide[0].Name, "numbers": "n"} {
		base := "/api/v1/hostile/" + name
		for target, want := range map[string]int{
			base:                                                 200,
			base + "/data":                                       200,
			base + "/data?sort=" + field:                         200,
			base + "/data.csv":                                   200,
			base + "/data.ndjson":                                200,
			base + "/facets?field=" + field:                      200,
			"/openapi.json?dataset=" + base[8:]:                  200,
			base + "/data?unknown=1":                             400,
			base + "/data?" + field + "=" + digits:               200,
			base + "/data?" + field + "%5Bgt%5D=" + digits:       200,
			base + "/data?" + field + "%5Bgt%5D=1e999999999":     400,
			base + "/aggregate?_by=" + field + ":1e999999999":    400,
			base + "/aggregate?_by=" + field + "&_having=" + "x": 400,
		} {
			w := httptest.NewRecorder() // not validated against the document of so many fields, which would be slow
			s.ServeHTTP(w, request(http.MethodGet, target, ""))
			if w.Code != want {
				t.Errorf("%s gives %d %.200s; want %d", target[:min(len(target), 100)], w.Code, w.Body, want)
			}
		}
	}
}
