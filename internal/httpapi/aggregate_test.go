package httpapi_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/must"
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
	} else if again := s.do(t,
		request(http.MethodGet, target+"?_by=category&_measure=count&_measure=sum:price&_sort=-count&_top=2", "",
			"If-None-Match: "+tag)); again.status != http.StatusNotModified {
		t.Errorf("status with the entity tag is %d", again.status)
	}
	if body := s.get(t, target+
		"?_by=tags&category=none").body; body != `{"data":[],"meta":{"total":0,"groups":0,"by_elements":true}}`+"\n" &&
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
		if bad := s.get(t, path+"?_by=categry"); bad.status != http.StatusBadRequest ||
			!strings.Contains(bad.message(t), "did you mean") {
			t.Errorf("%s: %d %s", path, bad.status, bad.body)
		}
	}
	for _, path := range []string{"/api/v1/locked/staff/aggregate", "/api/v1/locked/staff/aggregate.csv"} {
		if denied := s.get(t, path+"?_by=name"); denied.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", path, denied.status, denied.body)
		}
	}
}

// TestAggregateCSV_trailer checks the trailers of a file of groups from a real server, and the end
// of one whose groups cannot be read.
func TestAggregateCSV_trailer(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	base := "http://" + s.listen(t)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(client.CloseIdleConnections)
	get := func(params string) (*http.Response, string, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/api/v1/garden/catalog/aggregate.csv?"+
			params, nil)
		must.NoError(t, err)
		res, err := client.Do(r)
		must.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		return res, string(body), err
	}
	for params, rows := range map[string]string{"_by=id": "60", "_by=id&_top=1000000&_offset=58": "2"} {
		res, body, err := get(params)
		want := http.Header{"Content-Digest": {digest(body)}, "Unencoded-Digest": {digest(body)},
			"X-Content-Rows": {rows}}
		if diff := cmp.Diff(want, res.Trailer); err != nil || diff != "" || res.Header.Get("X-Total-Count") != "60" {
			t.Errorf("%s: %v, trailer (-want +got):\n%s", params, err, diff)
		}
		if lines := strconv.Itoa(strings.Count(body, "\r\n") - 1); lines != rows {
			t.Errorf("%s: %s rows", params, lines)
		}
	}
	var released atomic.Int32
	s.library.groups = &query.GroupStream{Groups: 1 << 20, Len: 1 << 20, Release: func() { released.Add(1) },
		Rows: func(yield func(query.GroupRow, error) bool) {
			for range 50_000 {
				if !yield(query.GroupRow{By: []string{"a"}, Values: []string{"1"}}, nil) {
					return
				}
			}
			yield(query.GroupRow{}, errors.New("the disk is gone"))
		}}
	if a := s.do(t, request(http.MethodHead, "/api/v1/garden/catalog/aggregate.csv?_by=id",
		"")); a.status != http.StatusOK || released.Load() != 1 {
		t.Errorf("status of HEAD is %d; groups were released %d times", a.status, released.Load())
	}
	if res, body, err := get("_by=id"); err == nil || len(body) == 0 || res.Trailer.Get("X-Content-Rows") != "" {
		t.Errorf("%d bytes, %v, trailer %v", len(body), err, res.Trailer)
	}
}
