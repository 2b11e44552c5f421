package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"herbarium/internal/query"
)

func TestAggregate(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const target = "/api/v1/garden/catalog/aggregate"
	answer := s.get(t, target+"?_by=category&_measure=count&_measure=sum:price&_sort=-count&_top=2")
	var got query.AggregateResponse
	if err := json.Unmarshal([]byte(answer.body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Meta.Total != 60 || got.Meta.Groups < 2 || len(got.Data) != 2 || len(got.Data[0].Values) != 2 {
		t.Errorf("unexpected body %s", answer.body)
	}
	if tag := answer.header.Get("Etag"); tag == "" || answer.header.Get("X-Dataset-Version") != "v1" {
		t.Errorf("headers are %v", answer.header)
	} else if again := s.do(t, request(http.MethodGet, target+"?_by=category&_measure=count&_measure=sum:price&_sort=-count&_top=2", "", "If-None-Match: "+tag)); again.status != http.StatusNotModified {
		t.Errorf("status with the entity tag is %d", again.status)
	}
	if body := s.get(t, target+"?_by=tags&category=none").body; body != `{"data":[],"meta":{"total":0,"groups":0,"by_elements":true}}`+"\n" &&
		body != `{"data":[],"meta":{"total":0,"groups":0,"by_elements":true}}` {
		t.Errorf("unexpected body %s", body)
	}
	table := s.get(t, target+".csv?_by=category&_by=date:year&_measure=mean:price&_top=1")
	if lines := strings.Split(table.body, "\r\n"); lines[0] != "category,date:year,mean:price" || len(lines) != 3 {
		t.Errorf("unexpected CSV %q", table.body)
	}
	if got := table.header.Get("Content-Disposition"); got != `attachment; filename="catalog-aggregate.csv"` {
		t.Errorf("Content-Disposition is %s", got)
	}
	for _, path := range []string{target, target + ".csv"} {
		if bad := s.get(t, path+"?_by=categry"); bad.status != http.StatusBadRequest || !strings.Contains(bad.message(t), "did you mean") {
			t.Errorf("%s: %d %s", path, bad.status, bad.body)
		}
	}
	for _, path := range []string{"/api/v1/locked/staff/aggregate", "/api/v1/locked/staff/aggregate.csv"} {
		if denied := s.get(t, path+"?_by=name"); denied.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", path, denied.status, denied.body)
		}
	}
}
