package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/contenthash"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/testseed"
)

// evolving is a random dataset with a key, of which every edition differs from the one before.
type evolving struct {
	random  *rand.Rand
	columns []evolvingColumn // the first one is the key
	rows    [][]string
	keys    int // number of keys that have been used
}

type evolvingColumn struct {
	name string
	kind int // of its values
}

// kindOfKeys is the kind of the values of the key; the others are positions in evolvingValues.
const kindOfKeys = -1

// evolvingValues are values of columns of several types. Those of texts look like something else.
var evolvingValues = [][]string{
	{"", "Rose", "rose", "a,b", `x "y"`, " blanks ", "line\nbreak", "line\r\nbreak", "# note", "Total", "id", "NULL",
		"\t", "=1+1", "true", "'", "café", "\u00a0", `\N`, "007"},
	{"", "1", "1.0", "-7.50", "NA", "300"},
	{"", "2024-02-29", "1969-12-31"},
	{"", "oak,elm", "elm,oak", "oak"},
	{"", "yes", "no"},
}

func (e *evolving) value(kind int) string {
	if kind == kindOfKeys {
		e.keys++
		return strconv.Itoa(e.keys)
	}
	values := evolvingValues[kind]
	return values[e.random.IntN(len(values))]
}

// evolve makes the next edition, which has a number of records.
func (e *evolving) evolve(records int) {
	e.rows = slices.DeleteFunc(e.rows, func([]string) bool { return e.random.IntN(20) == 0 })
	switch i := 1 + e.random.IntN(len(e.columns)); e.random.IntN(10) {
	case 0: // a column is added
		kind := e.random.IntN(len(evolvingValues))
		e.columns = slices.Insert(e.columns, i, evolvingColumn{fmt.Sprint("c", e.random.IntN(1000)), kind})
		for n := range e.rows {
			e.rows[n] = slices.Insert(e.rows[n], i, e.value(kind))
		}
	case 1: // removed
		if i < len(e.columns) {
			e.columns = slices.Delete(e.columns, i, i+1)
			for n := range e.rows {
				e.rows[n] = slices.Delete(e.rows[n], i, i+1)
			}
		}
	case 2: // renamed
		if i < len(e.columns) {
			e.columns[i].name += "x"
		}
	case 3: // retyped
		if i < len(e.columns) {
			e.columns[i].kind = e.random.IntN(len(evolvingValues))
			for n := range e.rows {
				e.rows[n][i] = e.value(e.columns[i].kind)
			}
		}
	case 4: // the notation of keys changes, and so does their type if one of them is no number
		for n := range e.rows {
			switch key, isWhole := strings.CutSuffix(e.rows[n][0], ".0"); e.random.IntN(8) {
			case 0:
				e.rows[n][0] = key + ".0"
			case 1:
				e.rows[n][0] = key
			case 2:
				if !isWhole && e.random.IntN(20) == 0 {
					e.rows[n][0] = "k" + strings.TrimPrefix(key, "k")
				}
			}
		}
	case 5:
		e.random.Shuffle(len(e.rows), func(i, k int) { e.rows[i], e.rows[k] = e.rows[k], e.rows[i] })
	}
	for n := range e.rows {
		if i := 1 + e.random.IntN(len(e.columns)); e.random.IntN(30) == 0 && i < len(e.columns) {
			e.rows[n][i] = e.value(e.columns[i].kind)
		}
	}
	for len(e.rows) < records {
		row := make([]string, len(e.columns))
		for i, c := range e.columns {
			row[i] = e.value(c.kind)
		}
		e.rows = append(e.rows, row)
	}
}

// file returns the edition as a file. In a file with duplicates, two records have the same key.
func (e *evolving) file(duplicates bool) string {
	var b strings.Builder
	write := func(values []string) {
		for i, v := range values {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"` + strings.ReplaceAll(v, `"`, `""`) + `"`)
		}
		b.WriteByte('\n')
	}
	names := make([]string, len(e.columns))
	for i, c := range e.columns {
		names[i] = c.name
	}
	write(names)
	for _, row := range e.rows {
		write(row)
	}
	if duplicates {
		for range 1 + e.random.IntN(3) {
			write(e.rows[e.random.IntN(len(e.rows))])
		}
	}
	return b.String()
}

var pricesRef = herb.Ref{Namespace: "shop", Name: "prices"}

// records returns the records of a version with some of its fields, sorted: copies have them in
// another order.
func (p *publishSite) records(t *testing.T, version string, names []string) (all []herb.Record) {
	t.Helper()
	view, err := p.library.AcquireVersion(t.Context(), pricesRef, version)
	must.NoError(t, err)
	defer view.Release()
	for r, err := range view.Reader.Records(t.Context()) {
		must.NoError(t, err)
		sorted := make(herb.Record, len(names))
		for i, name := range names {
			if k := herb.FieldIndex(view.Fields, name); k >= 0 {
				sorted[i] = r[k]
			}
		}
		all = append(all, sorted)
	}
	slices.SortFunc(all, slices.Compare[herb.Record])
	return all
}

// fieldNames returns the names of the fields of a version, sorted.
func (p *publishSite) fieldNames(t *testing.T, version string) (names []string) {
	t.Helper()
	view, err := p.library.AcquireVersion(t.Context(), pricesRef, version)
	must.NoError(t, err)
	defer view.Release()
	for _, f := range view.Fields {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

// keyType returns the type of the key in a version.
func (p *publishSite) keyType(t *testing.T, version string) herb.Type {
	t.Helper()
	view, err := p.library.AcquireVersion(t.Context(), pricesRef, version)
	must.NoError(t, err)
	defer view.Release()
	return view.Fields[herb.FieldIndex(view.Fields, "id")].Type
}

// contentHash returns the content hash of the live version, with its fields and records sorted.
func (p *publishSite) contentHash(t *testing.T) string {
	t.Helper()
	version := p.liveVersion(t)
	names := p.fieldNames(t, version)
	fields := make([]herb.Field, len(names))
	for i, name := range names {
		fields[i].Name = name
	}
	h := contenthash.New(fields)
	for range h.Of(func(yield func(herb.Record, error) bool) {
		for _, r := range p.records(t, version, names) {
			yield(r, nil)
		}
	}) {
		continue
	}
	return h.String()
}

// applyLines applies the lines of changes.ndjson to the records of a version without a key, and
// returns the records of the live version and the result, each with the number of equal ones.
func (p *publishSite) applyLines(t *testing.T, from, lines string) (want, got map[string]int) {
	t.Helper()
	names := p.fieldNames(t, p.liveVersion(t))
	count := func(version string) map[string]int {
		counts := map[string]int{}
		for _, r := range p.records(t, version, names) {
			counts[fmt.Sprintf("%q", r)]++
		}
		return counts
	}
	want, got = count(p.liveVersion(t)), count(from)
	for line := range strings.Lines(lines[strings.IndexByte(lines, '\n')+1:]) {
		var change struct {
			Op     string
			Record map[string]string
		}
		must.NoError(t, json.Unmarshal([]byte(line), &change))
		record := make(herb.Record, len(names))
		for i, name := range names {
			record[i] = change.Record[name]
		}
		id := fmt.Sprintf("%q", record)
		if got[id] += map[string]int{"added": 1, "removed": -1}[change.Op]; got[id] == 0 {
			delete(got, id)
		}
	}
	return want, got
}

// TestChanges_apply keeps a copy of a random dataset up to date with its changes only, through 50
// versions that grow from one record, some of which are withdrawn. It has 300,000 records in soak
// runs.
func TestChanges_apply(t *testing.T) {
	t.Parallel()
	const editions = 50
	largest := 150.0
	if testseed.Soak() {
		largest = 300_000
	}
	random := rand.New(rand.NewPCG(testseed.Seed(t), 0))
	p, q := newPublishing(t, nil), newPublishing(t, nil)
	e := &evolving{random: random, columns: []evolvingColumn{{"id", kindOfKeys}, {"name", 0}, {"price", 1},
		{"tags", 3}}}
	e.evolve(1)
	last := p.publish(t, e.file(false), withKey) // what the copy has
	q.publish(t, e.file(false), withKey)
	isUnique, isGone := true, false
	steps := map[string]int{}
	for n := range editions {
		e.evolve(int(math.Round(math.Pow(largest, float64(n)/(editions-1)))))
		duplicates := n%9 == 8
		version := p.publish(t, e.file(duplicates), withKey)
		if random.IntN(5) == 0 {
			steps["skipped"]++ // the copy is not updated after every publish
			if random.IntN(2) == 0 {
				continue
			}
			e.evolve(0)
			withdrawn := version
			version = p.publish(t, e.file(duplicates), withKey)
			if random.IntN(2) == 0 {
				withdrawn = last
			}
			if withdrawn != version {
				if a := p.send(t, http.MethodDelete, "/versions/"+withdrawn, "", "If-Match: *"); a.status/100 != 2 {
					t.Fatalf("%d %s", a.status, a.body)
				}
				isGone = withdrawn == last
			}
		}
		want := http.StatusOK
		if isGone {
			want = http.StatusGone
		} else if duplicates || !isUnique || p.keyType(t, last) != p.keyType(t, version) {
			want = http.StatusBadRequest
		}
		a := p.send(t, http.MethodGet, "/changes.csv?_from="+last, "")
		if a.status != want {
			t.Fatalf("changes are %d %s, want %d", a.status, a.body, want)
		}
		steps[http.StatusText(a.status)]++
		if a.status == http.StatusOK {
			if merged := q.send(t, http.MethodPatch, "/source?_mode=upsert&_allow_breaking=true",
				a.body); merged.status != http.StatusOK {
				t.Fatalf("%d %s\n%.10000s", merged.status, merged.body, a.body)
			}
		} else { // the copy starts again
			q.publish(t, p.send(t, http.MethodGet, "/data.csv", "").body, withKey)
		}
		if duplicates && !isGone {
			steps["without a key"]++
			lines := p.send(t, http.MethodGet, "/changes.ndjson?_from="+last, "")
			if want, got := p.applyLines(t, last, lines.body); !maps.Equal(want, got) {
				t.Fatalf("the changes of records without a key do not lead to the version:\n%.10000s", lines.body)
			}
		}
		last, isUnique, isGone = version, !duplicates, false
		if got, want := q.contentHash(t), p.contentHash(t); got != want {
			t.Fatalf("edition %d, the content hash is %s, want %s\n%.10000q\n%.10000q", n, got, want,
				q.live(t), p.live(t))
		}
	}
	for _, step := range []string{"skipped", "without a key", http.StatusText(http.StatusOK),
		http.StatusText(http.StatusBadRequest), http.StatusText(http.StatusGone)} {
		if steps[step] == 0 {
			t.Errorf("no step is %q: %v", step, steps)
		}
	}
}

// TestChanges_applyUnclear applies the changes between versions that differ in the order of records
// only, which are a header without rows, and changes whose rows look like units and notes.
func TestChanges_applyUnclear(t *testing.T) {
	t.Parallel()
	p, q := newPublishing(t, nil), newPublishing(t, nil)
	const header = "id,name,c656,c626,c380\n"
	last := p.publish(t, header+"a,1,2,,\nb,2,3,,\n", withKey)
	q.publish(t, header+"a,1,2,,\nb,2,3,,\n", withKey)
	for _, records := range []string{"b,2,3,,\na,1,2,,\n", "b,2,3,,\nkg,mm,s,m,°C\n",
		"\"Source: a, b\",, c,,\nb,2,3,,\nkg,mm,s,m,°C\n", "* d,,,,\nb,2,3,,\n"} {
		version := p.publish(t, header+records, withKey)
		table := p.send(t, http.MethodGet, "/changes.csv?_from="+last, "")
		a := q.send(t, http.MethodPatch, "/source?_mode=upsert&_allow_breaking=true", table.body)
		if got, want := q.contentHash(t), p.contentHash(t); a.status != http.StatusOK || got != want {
			t.Errorf("%s gives %d %s\n%s", table.body, a.status, a.body, q.live(t))
		}
		last = version
	}
}
