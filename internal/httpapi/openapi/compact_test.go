package openapi

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"herbarium/internal/herb"
)

// TestGenerate_levels validates the document at each level of detail, and requests by it.
func TestGenerate_levels(t *testing.T) {
	t.Parallel()
	var datasets []herb.Dataset
	for n := range 3 {
		d := herb.Dataset{Ref: herb.Ref{Namespace: "many", Name: fmt.Sprintf("d%d", n)}, Access: []herb.Access{herb.AccessOpen, herb.AccessKey}[n%2]}
		for i, typ := range herb.Types() {
			d.Fields = append(d.Fields, herb.Field{Name: fmt.Sprintf("f%d", i), Type: typ, Filterable: n < 2, Sortable: n < 2 && i > n})
		}
		datasets = append(datasets, d)
	}
	for level := allOperators; level <= generic; level++ {
		t.Run(fmt.Sprint(level), func(t *testing.T) {
			t.Parallel()
			body, err := generate("", datasets, len(datasets), level)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := libopenapi.NewDocument(body)
			if err != nil {
				t.Fatal(err)
			}
			v, errs := validator.NewValidator(doc)
			if errs != nil {
				t.Fatal(errs)
			}
			if ok, errs := v.ValidateDocument(); !ok {
				for _, e := range errs {
					t.Errorf("%s: %s %v", e.Message, e.Reason, e.SchemaValidationErrors)
				}
			}
			for target, want := range map[string]bool{
				"/api/v1/many/d0/data?page=2&sort=f2&f1=a&f1=b&f3[gte]=c": true,
				"/api/v1/many/d1/facets?field=f1&top=3&f2=a":              true,
				"/api/v1/many/d2/data?search=a":                           true,
				"/api/v1/many/d0/data?page=0":                             false,
				"/api/v1/many/d0/data?sort=f2,-f1":                        true,
				"/api/v1/many/d0/data?sort=unknown":                       level != allOperators,
				"/api/v1/many/d0/facets?field=unknown":                    level == generic,
				"/openapi.json?dataset=many/d0":                           true,
			} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("X-API-Key", "key")
				if ok, errs := v.ValidateHttpRequest(r); ok != want {
					t.Errorf("%s: valid is %t, want %t", target, ok, want)
					for _, e := range errs {
						t.Errorf("%s: %s", e.Message, e.Reason)
					}
				}
			}
		})
	}
}
