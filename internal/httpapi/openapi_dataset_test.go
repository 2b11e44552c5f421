package httpapi_test

import (
	"strings"
	"testing"
)

// TestDocument_ownOperations checks the operations that only the document of one dataset has, by
// requests and responses of this dataset.
func TestDocument_ownOperations(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.library.put(stock())
	sites, records := stock()
	sites.Name, sites.PrimaryKey = "sites", []string{"site"}
	s.library.put(sites, records)
	for _, tt := range []struct {
		dataset, target string
		valid           bool
		operation       string // the path of the operation, relative to the dataset
	}{
		{"shop/stock", "/data/a%2Fb/1", true, "/data/{key1}/{key2}"},
		{"shop/stock", "/data/%C3%A9/1", true, "/data/{key1}/{key2}"},
		{"shop/stock", "/data/%C3%A9/1?_fields=site,note", true, "/data/{key1}/{key2}"},
		{"shop/stock", "/data/%C3%A9/1?_fields=site,cod", false, "/data/{key1}/{key2}"},
		{"shop/sites", "/data/a%2Fb", true, "/data/{key}"},
		{"shop/stock", "/data.csv?_fields=note,site&site=a", true, "/data.csv"},
		{"shop/stock", "/data.csv?_fields=note,note", false, "/data.csv"},
		{"shop/stock", "/data.ndjson?code[gte]=1&code[empty]=true", true, "/data.ndjson"},
		{"garden/catalog", "/data.csv?sort=-price,title&category[contains]=f", true, "/data.csv"},
		{"garden/catalog", "/data.xlsx?sort=prize", false, "/data.xlsx"},
		{"garden/catalog", "/facets?field=category&price[lt]=3", true, "/facets"},
		{"garden/catalog", "/facets?field=prize", false, "/facets"},
	} {
		d := newAPIDocument(t, []byte(s.get(t, "/openapi.json?dataset="+tt.dataset).body))
		r := request("GET", "/api/v1/"+tt.dataset+tt.target, "")
		operation, ok := d.operation(r)
		if !ok || operation[1] != "/api/v1/"+tt.dataset+tt.operation {
			t.Errorf("%s of %s is the operation %q", tt.target, tt.dataset, operation)
			continue
		}
		if err := d.checkRequest(r); (err == nil) != tt.valid {
			t.Errorf("%s: %v, want valid: %t", tt.target, err, tt.valid)
		}
	}
	// A record and facets have the types of the dataset.
	for target, other := range map[string][2]string{
		"/data/a%2Fb/1":                 {`"note":`, `"nothing":`},
		"/facets?field=site&field=code": {`"field":"site"`, `"field":"sight"`},
		"/facets?field=code":            {`"type":"number"`, `"type":"integer"`},
	} {
		d := newAPIDocument(t, []byte(s.get(t, "/openapi.json?dataset=shop/stock").body))
		r := request("GET", "/api/v1/shop/stock"+target, "")
		a := s.get(t, r.URL.String())
		if err := d.checkResponse(r, a.status, a.header, a.body); a.status != 200 || err != nil {
			t.Errorf("%s: %d %v", target, a.status, err)
		}
		if d.checkResponse(r, a.status, a.header, strings.Replace(a.body, other[0], other[1], 1)) == nil {
			t.Errorf("%s: a response with %s is valid", target, other[1])
		}
	}
}
