package segment_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/testseed"
	"herbarium/internal/text"
)

// compared is a version as the naive comparison sees it.
type compared struct {
	fields  []herb.Field
	records []herb.Record
}

func (c compared) open(t testing.TB) *segment.Reader {
	t.Helper()
	r, err := segment.InMemory(t.Context(), c.fields, c.records)
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, r.Release()) })
	return r
}

// aligned returns the values of a record in the order of other fields; those that it does not have
// are empty.
func (c compared) aligned(r herb.Record, fields []herb.Field) herb.Record {
	values := make(herb.Record, len(fields))
	for i, f := range fields {
		if k := herb.FieldIndex(c.fields, f.Name); k >= 0 {
			values[i] = r[k]
		}
	}
	return values
}

// naiveComparison is the definition of a comparison.
type naiveComparison struct {
	Keyed                              bool
	Added, Removed, Changed, Unchanged int
	Fields                             []herb.FieldChange
	Lines                              []string // of the differences, sorted
}

func line(op string, records ...herb.Record) string { return fmt.Sprintf("%s %q", op, records) }

func compareNaively(from, to compared, key []string) (n naiveComparison) {
	identities := func(c compared) (all []string, ok bool) {
		fields, positions := slices.Clone(c.fields), []int(nil)
		for _, name := range key {
			a, b := herb.FieldIndex(from.fields, name), herb.FieldIndex(to.fields, name)
			if a < 0 || b < 0 {
				return nil, false
			}
			i := herb.FieldIndex(fields, name)
			if from.fields[a].Type != to.fields[b].Type {
				fields[i].Type = herb.TypeText
			}
			positions = append(positions, i)
		}
		seen := map[string]bool{}
		for _, r := range c.records {
			id, filled := text.AppendKey(nil, fields, positions, func(i int) string { return r[i] })
			if !filled || seen[string(id)] {
				return nil, false
			}
			seen[string(id)] = true
			all = append(all, string(id))
		}
		return all, len(key) > 0
	}
	before, ok1 := identities(from)
	after, ok2 := identities(to)
	n.Keyed = ok1 && ok2
	if !n.Keyed {
		left := map[string]int{}
		for _, r := range from.records {
			left[fmt.Sprintf("%q", from.aligned(r, to.fields))]++
		}
		common := map[string]int{}
		for _, r := range to.records {
			if id := fmt.Sprintf("%q", r); left[id] > 0 {
				left[id]--
				common[id]++
				n.Unchanged++
			} else {
				n.Added++
				n.Lines = append(n.Lines, line("added", r))
			}
		}
		for _, r := range from.records {
			if id := fmt.Sprintf("%q", from.aligned(r, to.fields)); common[id] > 0 {
				common[id]--
			} else {
				n.Removed++
				n.Lines = append(n.Lines, line("removed", r))
			}
		}
		slices.Sort(n.Lines)
		return n
	}
	counts := make([]int, len(to.fields))
	for i, r := range to.records {
		k := slices.Index(before, after[i])
		if k < 0 {
			n.Added++
			n.Lines = append(n.Lines, line("added", r))
			continue
		}
		was := from.aligned(from.records[k], to.fields)
		if slices.Equal(was, r) {
			n.Unchanged++
			continue
		}
		n.Changed++
		n.Lines = append(n.Lines, line("changed", from.records[k], r))
		for f := range r {
			if was[f] != r[f] {
				counts[f]++
			}
		}
	}
	for i, r := range from.records {
		if !slices.Contains(after, before[i]) {
			n.Removed++
			n.Lines = append(n.Lines, line("removed", r))
		}
	}
	for i, f := range to.fields {
		if counts[i] > 0 {
			n.Fields = append(n.Fields, herb.FieldChange{Field: f.Name, Records: counts[i]})
		}
	}
	slices.Sort(n.Lines)
	return n
}

// randomCompared returns two versions of a random dataset, and a primary key.
func randomCompared(random *rand.Rand) (from, to compared, key []string) {
	number := herb.Field{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true}
	all := []herb.Field{
		number,
		{Name: "name", Type: herb.TypeText, Filterable: true, Sortable: true, Searchable: true},
		{Name: "day", Type: herb.TypeDate, Filterable: true, Sortable: true},
		{Name: "tags", Type: herb.TypeList, Filterable: true, Sortable: true},
		{Name: `od"d`, Type: herb.TypeText},
	}
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	value := func(f herb.Field, n int) string {
		switch f.Name {
		case "id":
			return pick(fmt.Sprint(n), fmt.Sprint(n), fmt.Sprintf("%d.0", n))
		case "name":
			return pick("Rose", "rose", "Röse", "", `quote " and \ slash`, "new\nline", fmt.Sprint("name ", n))
		case "day":
			return pick("2024-01-02", "2024-12-31", "", "1999-09-09")
		case "tags":
			return pick("a,b", "b,a", "", "c")
		}
		return pick("", "x", "y")
	}
	fieldsOf := func() (fields []herb.Field) {
		fields = append(fields, number)
		for _, f := range all[1:] {
			if random.IntN(6) == 0 {
				continue
			}
			if random.IntN(8) == 0 && f.Type == herb.TypeDate {
				f.Type = herb.TypeText
			}
			fields = append(fields, f)
		}
		if random.IntN(5) == 0 {
			random.Shuffle(len(fields), func(i, k int) { fields[i], fields[k] = fields[k], fields[i] })
		}
		return fields
	}
	from.fields = fieldsOf()
	to.fields = from.fields
	if random.IntN(2) == 0 {
		to.fields = fieldsOf()
	}
	if key = []string{"id"}; random.IntN(4) == 0 {
		key = nil
	} else if random.IntN(3) == 0 {
		key = []string{"name", "id"}
	}
	size, unique := random.IntN(40), random.IntN(3) > 0
	for n := range size {
		if !unique {
			n = random.IntN(8)
		}
		r := make(herb.Record, len(from.fields))
		for i, f := range from.fields {
			r[i] = value(f, n)
		}
		if random.IntN(8) > 0 {
			from.records = append(from.records, r)
		}
		next := from.aligned(r, to.fields)
		for i, f := range to.fields {
			if random.IntN(8) == 0 {
				next[i] = value(f, n)
			}
		}
		if random.IntN(8) > 0 {
			to.records = append(to.records, next)
		}
	}
	random.Shuffle(len(to.records), func(i, k int) { to.records[i], to.records[k] = to.records[k], to.records[i] })
	return from, to, key
}

// reopen writes a comparison to a file and returns the one that is read from it, after checking
// that no byte of it can be wrong.
func reopen(t *testing.T, c *segment.Comparison, from, to *segment.Reader) *segment.Comparison {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.comparison")
	file, err := os.Create(path)
	must.NoError(t, err)
	must.NoError(t, errors.Join(c.Write(file), c.Close(), file.Close()))
	intact, err := os.ReadFile(path)
	must.NoError(t, err)
	for at := range len(intact) {
		if at%(1+len(intact)/8) > 0 {
			continue
		}
		for _, damaged := range [][]byte{intact[:at], append(bytes.Clone(intact[:at]), intact[at:]...)} {
			if len(damaged) > at {
				damaged[at] ^= 1
			}
			must.NoError(t, os.WriteFile(path, damaged, 0o600))
			file, err := os.Open(path)
			must.NoError(t, err)
			if _, err := segment.OpenComparison(file, from, to); !errors.Is(err, segment.ErrComparison) {
				t.Errorf("with damage at %d of %d: %v", at, len(intact), err)
			}
			must.NoError(t, file.Close())
		}
	}
	must.NoError(t, os.WriteFile(path, intact, 0o600))
	file, err = os.Open(path)
	must.NoError(t, err)
	read, err := segment.OpenComparison(file, from, to)
	must.NoError(t, err)
	return read
}

// compare returns the result of segment.Compare in the form of the naive comparison.
func (c compared) compare(t *testing.T, to compared, key []string, memory int) (n naiveComparison) {
	t.Helper()
	before, after, dir := c.open(t), to.open(t), t.TempDir()
	result, err := segment.Compare(t.Context(), before, after,
		segment.CompareOptions{SortOptions: segment.SortOptions{Dir: dir, Memory: memory}, Key: key})
	must.NoError(t, err)
	if left := content(t, dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	result = reopen(t, result, before, after)
	defer result.Close()
	n = naiveComparison{Keyed: result.Key != nil, Added: result.Added, Removed: result.Removed, Changed: result.Changed,
		Unchanged: result.Unchanged, Fields: result.ChangedFields}
	differences, last := make([]segment.Difference, 7), ""
	for at := 0; ; {
		count, err := result.Differences.Read(differences, at)
		must.NoError(t, err)
		if count == 0 {
			break
		}
		at += count
		for _, d := range differences[:count] {
			switch {
			case d.To == segment.NoRecord:
				n.Lines = append(n.Lines, line("removed", c.records[d.From]))
			case d.From == segment.NoRecord:
				n.Lines = append(n.Lines, line("added", to.records[d.To]))
			default:
				n.Lines = append(n.Lines, line("changed", c.records[d.From], to.records[d.To]))
			}
			if n.Keyed && key[0] == "id" {
				side, row := c, d.From
				if row == segment.NoRecord {
					side, row = to, d.To
				}
				i := herb.FieldIndex(side.fields, "id")
				next, _ := text.FieldKey(&side.fields[i], side.records[row][i])
				if next < last {
					t.Errorf("record %s follows a greater key", side.records[row])
				}
				last = next
			}
		}
	}
	slices.Sort(n.Lines)
	return n
}

func TestCompare_random(t *testing.T) {
	random := rand.New(rand.NewPCG(testseed.Seed(t), 0))
	keyed, multiset := 0, 0
	comparisons := 100
	if testseed.Soak() {
		comparisons = 1000
	}
	for range comparisons {
		from, to, key := randomCompared(random)
		want := compareNaively(from, to, key)
		if d := gocmp.Diff(want, from.compare(t, to, key, 1+random.IntN(4)<<12)); d != "" {
			t.Fatalf("key %v, from %v %q, to %v %q:\n%s", key, from.fields, from.records, to.fields, to.records, d)
		}
		if want.Changed > 0 {
			keyed++
		} else if !want.Keyed && want.Added > 0 {
			multiset++
		}
	}
	if keyed == 0 || multiset == 0 {
		t.Errorf("%d comparisons have changed records, %d have none", keyed, multiset)
	}
}

// TestCompare_large compares versions whose keys and hashes do not fit in memory.
func TestCompare_large(t *testing.T) {
	const records = 30_000
	fields := []herb.Field{{Name: "id", Type: herb.TypeText, Filterable: true, Sortable: true},
		{Name: "n", Type: herb.TypeNumber}}
	var from, to compared
	from.fields, to.fields = fields, fields
	for i := range records {
		id := strings.Repeat("k", i%50) + fmt.Sprint(i)
		from.records = append(from.records, herb.Record{id, "1"})
		to.records = append(to.records, herb.Record{id, fmt.Sprint(cmp.Compare(i%3, 1))})
	}
	got := from.compare(t, to, []string{"id"}, 1<<16)
	got.Lines = nil
	want := naiveComparison{Keyed: true, Changed: 2 * records / 3, Unchanged: records / 3,
		Fields: []herb.FieldChange{{Field: "n", Records: 2 * records / 3}}}
	if d := gocmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestCompare_paced checks that a comparison by a key of two fields, which reads and sorts all
// records first, announces its work, and reserves its memory until it ends.
func TestCompare_paced(t *testing.T) {
	t.Parallel()
	const records = 20_000
	fields := []herb.Field{{Name: "a", Type: herb.TypeText}, {Name: "b", Type: herb.TypeText}}
	version := compared{fields: fields}
	for i := range records {
		version.records = append(version.records, herb.Record{fmt.Sprint(i / 100), fmt.Sprint(i % 100)})
	}
	r := version.open(t)
	opts := segment.CompareOptions{SortOptions: segment.SortOptions{Dir: t.TempDir()}, Key: []string{"a", "b"}}
	var p segmenttest.Pacer
	c, err := segment.Compare(query.WithPacer(t.Context(), &p), r, r, opts)
	must.NoError(t, err)
	if c.Key == nil || c.Unchanged != records || c.Close() != nil {
		t.Errorf("got %+v", c)
	}
	if p.Most < 2*records || p.Steps < 6*records || p.Peak < 16*records || p.Held != 0 {
		t.Errorf("%d steps, at most %d at once; reserved %d bytes, of which %d are left", p.Steps, p.Most,
			p.Peak, p.Held)
	}
	for _, p := range []segmenttest.Pacer{{Err: errors.New("no time")}, {Full: errors.New("no memory")}} {
		_, err := segment.Compare(query.WithPacer(t.Context(), &p), r, r, opts)
		if !errors.Is(err, cmp.Or(p.Err, p.Full)) || p.Yields > 1 || p.Held != 0 {
			t.Errorf("after %d yields: %v; %d bytes are left", p.Yields, err, p.Held)
		}
	}
	if left := content(t, opts.Dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
