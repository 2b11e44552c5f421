package httpapi_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/testseed"
)

// publishModel predicts the content of every version from the requests that succeeded.
type publishModel struct {
	mu       sync.Mutex
	versions map[string][][2]string // id and price of the records
	accepted int                    // requests that made a version live
}

// step is one request and its effect on the version that it replaces.
type step struct {
	method, path, body string
	apply              func(before [][2]string) [][2]string
}

func (m *publishModel) randomStep(r *rand.Rand, n int) step {
	m.mu.Lock()
	defer m.mu.Unlock()
	table := func(rows [][2]string) string {
		b := "id,price\n"
		for _, row := range rows {
			b += row[0] + "," + row[1] + "\n"
		}
		return b
	}
	price := func() string { return fmt.Sprint(r.IntN(1000)) }
	switch known := slices.Sorted(func(yield func(string) bool) {
		for v := range m.versions {
			if !yield(v) {
				return
			}
		}
	}); {
	case len(known) > 1 && r.IntN(10) == 0:
		to := known[r.IntN(len(known))]
		content := m.versions[to]
		return step{http.MethodPost, "/rollback", `{"to":"` + to + `"}`,
			func([][2]string) [][2]string { return content }}
	case r.IntN(3) == 0 || len(known) == 0:
		var rows [][2]string
		for i := range 1 + r.IntN(20) {
			rows = append(rows, [2]string{fmt.Sprint(i), price()})
		}
		return step{http.MethodPut, "/source?_allow_breaking=true", table(rows),
			func([][2]string) [][2]string { return rows }}
	case r.IntN(2) == 0:
		row := [2]string{fmt.Sprintf("%d", 1000+n), price()}
		return step{http.MethodPatch, "/source?_mode=append", table([][2]string{row}),
			func(before [][2]string) [][2]string {
				return append(slices.Clone(before), row)
			}}
	}
	changed, removed := [2]string{fmt.Sprint(r.IntN(25)), price()}, fmt.Sprint(r.IntN(25))
	body := "id,price,_deleted\n" + changed[0] + "," + changed[1] + ",\n" + removed + ",,true\n"
	return step{http.MethodPatch, "/source?_mode=upsert&_allow_breaking=true", body,
		func(before [][2]string) (after [][2]string) {
			found := false
			for _, row := range before {
				switch {
				case row[0] == removed: // the last line of the file counts
				case row[0] == changed[0]:
					found = true
					after = append(after, changed)
				default:
					after = append(after, row)
				}
			}
			if !found && changed[0] != removed {
				after = append(after, changed)
			}
			return after
		}}
}

// record applies a successful request to the model.
func (m *publishModel) record(t *testing.T, s step, body string) {
	var result struct{ Status, Version, Replaces string }
	must.NoError(t, json.Unmarshal([]byte(body), &result))
	m.mu.Lock()
	defer m.mu.Unlock()
	if result.Status == "unchanged" {
		return
	}
	if s.method != http.MethodPost { // a rollback only switches
		m.versions[result.Version] = s.apply(m.versions[result.Replaces])
	}
	m.accepted++
}

// TestPublish_model sends random requests from several clients, a thousand in soak runs. Each
// succeeds or changes nothing, and the content of every version is what the model predicts.
func TestPublish_model(t *testing.T) {
	t.Parallel()
	const clients = 4
	requests := 50
	if testseed.Soak() {
		requests = 250
	}
	p := newPublishing(t, nil)
	m := &publishModel{versions: map[string][][2]string{}}
	first, contentType := form(t, "prices.csv", "id,price\n0,1\n", "descriptor",
		`{"resources":[{"path":"prices.csv","schema":{"primaryKey":"id","fields":[{"name":"id","type":"string"},{"name":"price","type":"string"}]}}]}`)
	created := p.put(t, "", first, contentType)
	m.versions[decode[publishedBody](t, created).Version] = [][2]string{{"0", "1"}}
	seed := testseed.Seed(t)
	var running sync.WaitGroup
	for c := range clients {
		running.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(c)))
			for i := range requests {
				s := m.randomStep(r, c*requests+i)
				w := httptest.NewRecorder()
				p.ServeHTTP(w, request(s.method, pricesPath+s.path, s.body, "X-API-Key: "+publisher))
				switch w.Code {
				case http.StatusOK, http.StatusCreated:
					m.record(t, s, w.Body.String())
				case http.StatusConflict, http.StatusGone, http.StatusUnprocessableEntity:
					// overtaken, no longer kept, or without records
				default:
					t.Errorf("%s %s %q gives %d %s", s.method, s.path, s.body, w.Code, w.Body)
				}
			}
		})
	}
	running.Wait()
	history, err := p.library.History(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"})
	must.NoError(t, err)
	checked := 0
	for _, v := range history {
		want, known := m.versions[v.Version]
		if !known {
			t.Errorf("version %s is in the history, but no request has published it", v.Version)
			continue
		}
		checked++
		view, err := p.library.AcquireVersion(t.Context(), v.Ref, v.Version)
		must.NoError(t, err)
		var got [][2]string
		decoder := herb.NewRecordDecoder(view.Fields)
		must.NoError(t, view.Reader.Each(t.Context(), func(record []byte) error {
			var values []string
			err := decoder.Decode(record, func(value []byte) { values = append(values, string(value)) })
			got = append(got, [2]string(values))
			return err
		}))
		view.Release()
		if !slices.Equal(got, want) {
			t.Errorf("version %s has %v, want %v", v.Version, got, want)
		}
	}
	t.Logf("%d successful requests, %d versions compared", m.accepted, checked)
	if m.accepted < requests/2 || checked == 0 {
		t.Errorf("only %d requests succeeded", m.accepted)
	}
	if strings.Contains(p.live(t), "no such") {
		t.Error("the dataset is gone")
	}
}
