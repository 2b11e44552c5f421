package segment_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/segmenttest"
)

// FuzzOpen opens arbitrary bytes as a file, both unchanged and with correct checksums, and uses it
// if that succeeds. Lengths in a file must not make a reader use much more memory than the size of
// the file.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte("HERBSEG\x00"))
	f.Add(fileOf(f, nil, nil, segment.Options{}))
	f.Add(fileOf(f, []herb.Field{{Name: "n", Type: herb.TypeNumber, Sortable: true}}, []herb.Record{{"1"}},
		segment.Options{}))
	f.Add(fileOf(f, everyType(), fewRecords()[:3], segment.Options{}))
	path := filepath.Join(f.TempDir(), "fuzzed.seg")
	f.Fuzz(func(t *testing.T, b []byte) {
		const most = 1 << 20
		if len(b) > most {
			t.Skip("large files only take longer")
		}
		for _, file := range [][]byte{b, repair(b)} {
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			before := allocated()
			r, err := segment.Open(path)
			if took := allocated() - before; took > 1<<20+100*uint64(len(file)) {
				t.Errorf("opening %d bytes took %d bytes of memory", len(file), took)
			}
			if err != nil {
				if !isDamage(err) {
					t.Errorf("Open: %v", err)
				}
				continue
			}
			fields := r.Fields()
			fields = fields[:min(len(fields), 8)]
			if err := r.Verify(); err != nil && !isDamage(err) {
				t.Errorf("Verify: %v", err)
			}
			before = allocated()
			asked := requests(fields)
			if err := use(r, asked, "fuzzed file"); err != nil {
				t.Error(err)
			}
			if took := allocated() - before; took > uint64(len(asked)+1)*(1<<20+100*uint64(len(file))) {
				t.Errorf("%d listings of %d bytes took %d bytes of memory", len(asked), len(file), took)
			}
			if err := r.Release(); err != nil {
				t.Error(err)
			}
		}
	})
}

// allocated returns the total number of allocated bytes.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// FuzzList runs arbitrary queries on a valid segment and compares the results with those of the
// oracle.
func FuzzList(f *testing.F) {
	for _, raw := range rawQueries(everyType()) {
		f.Add(raw)
	}
	f.Add("search=%22rose+fern%22+-moss&sort=number&order=desc&list=fern&list=oak&per_page=7&page=9")
	f.Add("date%5Bgte%5D=2024-01-10&date%5Blt%5D=2024-02-02&sort=text&text%5Bprefix%5D=fe")
	records := append(fewRecords(), manyRecords(400)...)
	r := openBuilt(f, everyType(), records, segment.Options{})
	oracle := segmenttest.NewOracle(everyType(), records)
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := query.Parse(raw, everyType())
		if err != nil {
			t.Skip("not a query")
		}
		page, err := r.List(t.Context(), q)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		want, total := oracle.Find(q)
		if page.Total != total {
			t.Errorf("the total is %d; want %d", page.Total, total)
		}
		got := decoded(t, everyType(), page.Records)
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("the page differs (-want +got):\n%s", d)
		}
		facets, err := r.Facets(t.Context(), facetsOf(q, everyType()))
		if err != nil {
			t.Fatalf("Facets: %v", err)
		}
		counted, err := oracle.Facets(t.Context(), facetsOf(q, everyType()))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(counted, facets, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("the facets differ (-want +got):\n%s", d)
		}
	})
}

// decoded returns the decoded records of a page.
func decoded(t *testing.T, fields []herb.Field, page [][]byte) []herb.Record {
	t.Helper()
	var records []herb.Record
	for _, b := range page {
		var members map[string]string
		if err := json.Unmarshal(b, &members); err != nil || len(members) != len(fields) {
			t.Fatalf("%d members, %v in %.200q", len(members), err, b)
		}
		record := make(herb.Record, 0, len(fields))
		for _, field := range fields {
			record = append(record, members[field.Name])
		}
		records = append(records, record)
	}
	return records
}
