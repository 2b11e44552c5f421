package httpapi_test

import "testing"

func TestAccept(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const json, csv, ndjson = "application/json", "text/csv; charset=utf-8; header=present", "application/x-ndjson"
	tests := []struct{ accept, want string }{
		{"", json},
		{"*/*", json},
		{"application/json", json},
		{"application/*", json},
		{"text/csv", csv},
		{"TEXT/CSV", csv},
		{"text/csv; header=present", csv},
		{"text/csv;charset=utf-8;q=0.1", csv},
		{"application/x-ndjson", ndjson},
		{"text/csv, application/x-ndjson", csv},
		{"text/csv;q=0.5, application/x-ndjson", ndjson},
		{"text/csv, */*", csv},
		{"text/csv, */*;q=0.8", csv},
		{"text/csv;q=0.5, */*", json},
		{"application/x-ndjson, application/*", ndjson},
		{"application/x-ndjson;q=0.9, application/*", json},
		{"text/csv;q=0.9, application/*;q=0.5, */*", csv},
		{"text/csv, application/json", json},
		{"application/json, text/csv", json},
		{"application/json;q=0.9, text/csv", csv},
		{"application/json;q=0, text/csv;q=0.1", csv},
		{"text/csv;q=0", json},
		{"text/csv;q=0, */*;q=0", json},
		{"text/csv;q=x", json},
		{"text/*", json},
		{"text/html", json},
		{"image/png", json},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", json},
		{"text/csvx", json},
		{",;,", json},
	}
	for _, tt := range tests {
		t.Run(tt.accept, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, "/api/v1/garden/catalog/data", "Accept: "+tt.accept)
			if got := a.header.Get("Content-Type"); a.status != 200 || got != tt.want {
				t.Errorf("%d with Content-Type %q, want %q", a.status, got, tt.want)
			}
			if got := a.header.Get("Vary"); got != "Accept, Accept-Encoding" {
				t.Errorf("Vary is %q", got)
			}
		})
	}
	a := s.get(t, "/api/v1/garden/catalog/data", "Accept: image/png", "Accept: text/csv")
	if got := a.header.Get("Content-Type"); got != csv {
		t.Errorf("in a second header: %q", got)
	}
}
