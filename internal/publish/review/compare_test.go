package review_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
	"herbarium/internal/testseed"
	"herbarium/internal/versions"
)

// table is a file with a header.
type table struct {
	fields []string
	rows   [][]string
}

func (t table) csv() string {
	var b strings.Builder
	for _, row := range append([][]string{t.fields}, t.rows...) {
		b.WriteString(strings.Join(row, ",") + "\n")
	}
	return b.String()
}

// compareTables is the comparison of a review in the most obvious way, with the number of records
// whose primary key is not unique. A key that is not unique identifies no records.
func compareTables(before, after table, key []string) (c *herb.RecordChanges, duplicates int) {
	values := func(t table, row []string, fields []string) string {
		var all []string
		for _, f := range fields {
			value := "" // of a field that it does not have
			if i := slices.Index(t.fields, f); i >= 0 {
				value = row[i]
			}
			all = append(all, value)
		}
		return strings.Join(all, "\x00")
	}
	repeated := func(t table) (n int) {
		seen := map[string]bool{}
		for _, row := range t.rows {
			if k := values(t, row, key); seen[k] {
				n++
			} else {
				seen[k] = true
			}
		}
		return n
	}
	c = &herb.RecordChanges{}
	identity := after.fields
	if len(key) > 0 {
		duplicates = repeated(after)
		if duplicates+repeated(before) == 0 {
			c.Key, identity = key, key
		}
	}
	left, counts := slices.Clone(before.rows), map[string]int{}
	for _, row := range after.rows {
		k := values(after, row, identity)
		i := slices.IndexFunc(left, func(old []string) bool { return values(before, old, identity) == k })
		switch {
		case i < 0:
			c.Added++
			continue
		case values(before, left[i], after.fields) == values(after, row, after.fields):
			c.Unchanged++
		default:
			c.Changed++
			for _, f := range after.fields {
				if values(before, left[i], []string{f}) != values(after, row, []string{f}) {
					counts[f]++
				}
			}
		}
		left = slices.Delete(left, i, i+1)
	}
	c.Removed = len(left)
	for _, f := range after.fields {
		if counts[f] > 0 {
			c.Fields = append(c.Fields, herb.FieldChange{Field: f, Records: counts[f]})
		}
	}
	return c, duplicates
}

// TestReview_compare compares random files with a live version, with and without a primary key,
// with other fields, and with keys that are not unique.
func TestReview_compare(t *testing.T) {
	t.Parallel()
	seed := testseed.Seed(t)
	for i := range 12 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			spread := 1 + random.IntN(60)
			row := func() []string {
				return []string{fmt.Sprintf("k%d", random.IntN(spread)), fmt.Sprintf("v%d", random.IntN(4)),
					fmt.Sprintf("w%d", random.IntN(2))}
			}
			before := table{fields: []string{"id", "a", "b"}}
			for range 5 + random.IntN(50) {
				before.rows = append(before.rows, row())
			}
			after := table{fields: before.fields, rows: slices.Clone(before.rows)}
			random.Shuffle(len(after.rows), func(i, k int) {
				after.rows[i], after.rows[k] = after.rows[k],
					after.rows[i]
			})
			after.rows = after.rows[random.IntN(len(after.rows)/2):]
			for range random.IntN(20) {
				after.rows = append(after.rows, row())
			}
			for range random.IntN(10) {
				after.rows[random.IntN(len(after.rows))] = row()
			}
			if random.IntN(3) == 0 { // another field instead of one
				after.fields = []string{"c", "a", "id"}
				for i, r := range after.rows {
					after.rows[i] = []string{"x", r[1], r[0]}
				}
			}
			var key []string
			descriptor := ""
			if random.IntN(2) == 0 {
				key = []string{"id"}
				descriptor = `{"name":"shop","resources":[{"name":"prices","path":"a.csv","schema":{"primaryKey":"id"}}]}`
			}
			n := newNode(t, nodeOptions{})
			if r := n.put(prices, "a.csv", before.csv(), descriptor, nil); r.State != publish.StateLive {
				t.Fatal(r.Result.Error)
			}
			r := n.review(n.create("a.csv", after.csv()))
			if _, repeated := compareTables(before, after, []string{"id"}); repeated == 0 && len(after.rows) > 1 {
				key = []string{"id"} // inferred if it is not declared
			}
			want, duplicates := compareTables(before, after, key)
			want.Since, want.SinceAccess = r.Live, herb.AccessOpen
			if diff := gocmp.Diff(want, r.Compared, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("key %v (-want +got):\n%s", key, diff)
			}
			isReported := slices.ContainsFunc(r.Changes,
				func(c versions.Change) bool { return c.Kind == versions.KeyNotUnique })
			if isReported != (duplicates > 0) || isReported && !isBreaking(r) {
				t.Errorf("%d duplicates, and the changes are %+v", duplicates, r.Changes)
			}
		})
	}
}

// TestReview_changes compares the changes that a review announces with those of the publish.
func TestReview_changes(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	n.put(prices, "a.csv", plainTable(), "", nil)
	lines := strings.Split(plainTable(), "\n")
	for i, line := range lines {
		cells := strings.Split(line, ",")
		if len(cells) == 4 {
			lines[i] = cells[0] + "," + cells[1] + ",x" + cells[2] + ",new"
		}
	}
	id := n.create("a.csv", strings.Join(lines[:12], "\n"))
	r := n.review(id)
	if !isBreaking(r) || r.Columns[3].Field != "xnew" && !r.Columns[3].Added {
		t.Errorf("got %+v", r)
	}
	rejected := n.publish(id, false, r.Live)
	if rejected.State != publish.StateRejected {
		t.Fatalf("got %+v", rejected)
	}
	if diff := gocmp.Diff(rejected.Result.Changes, r.Changes); diff != "" {
		t.Errorf("changes (-publish +review):\n%s", diff)
	}
	d, err := n.reviews.Draft(t.Context(), id)
	if err != nil || d.Publish != rejected.ID {
		t.Errorf("the draft after a rejection: %+v, %v", d, err)
	}
	if again := n.publish(id, true, r.Live); again.State != publish.StateLive {
		t.Errorf("with consent: %+v", again)
	}
}

// TestReview_uniqueKeys shows the repeated values of unique fields and keys before the publish, in
// a new dataset and in a later version.
func TestReview_uniqueKeys(t *testing.T) {
	t.Parallel()
	const descriptor = `{"name":"shop","resources":[{"name":"prices","path":"a.csv","schema":{
		"fields":[{"name":"id"},{"name":"a","constraints":{"unique":true}},{"name":"b"}],"primaryKey":"id","uniqueKeys":[["a"],["b","id"]]}}]}`
	const repeated = `unique key (a) is not unique: 1 record repeats the key of an earlier one; "y" in records 2 and 3`
	n := newNode(t, nodeOptions{})
	if r := n.put(prices, "a.csv", "id,a,b\n1,x,p\n2,y,p\n", descriptor, nil); r.State != publish.StateLive {
		t.Fatal(r.Result.Error)
	}
	for _, tt := range []struct {
		name, content string
		want          []string
	}{
		{"unique", "id,a,b\n1,x,p\n2,y,p\n3,,p\n4,,p\n", nil},
		{"a repeated value", "id,a,b\n1,x,p\n2,y,p\n3,y,p\n", []string{repeated}},
		{"every key", "id,a,b\n1,x,p\n2,y,p\n2,y,p\n", []string{
			`primary key (id) is not unique: 1 record repeats the key of an earlier one; "2" in records 2 and 3`,
			repeated,
			`unique key (b, id) is not unique: 1 record repeats the key of an earlier one; "p", "2" in records 2 and 3`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := n.review(n.create("a.csv", tt.content))
			var got []string
			for _, c := range r.Changes {
				if c.Kind == versions.KeyNotUnique {
					got = append(got, c.Message)
				}
			}
			if diff := gocmp.Diff(tt.want, got); diff != "" || isBreaking(r) != (tt.want != nil) {
				t.Errorf("breaking %t (-want +got):\n%s", isBreaking(r), diff)
			}
			if r.Compared == nil {
				t.Error("the records are not compared with the live version")
			}
		})
	}
}
