package review_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish/review"
	"herbarium/internal/testseed"
)

// randomTable returns a table with rows that are not records and values that prevent types.
func randomTable(random *rand.Rand) string {
	var b strings.Builder
	if random.IntN(2) == 0 {
		b.WriteString("Stock of the garden\n\n")
	}
	b.WriteString("id,name,price,day,note\n")
	for i := range 12 + random.IntN(30) {
		price := fmt.Sprintf("%d.%d", random.IntN(100), random.IntN(10))
		if random.IntN(20) == 0 {
			price = "on request"
		}
		day := fmt.Sprintf("%02d/%02d/2024", 1+random.IntN(28), 1+random.IntN(12))
		note := []string{"", "fine", "\"two\nlines\"", "NA"}[random.IntN(4)]
		fmt.Fprintf(&b, "%d,plant %d,%s,%s,%s\n", i, random.IntN(5), price, day, note)
		if random.IntN(25) == 0 {
			b.WriteString("id,name,price,day,note\n")
		}
	}
	if random.IntN(2) == 0 {
		b.WriteString("\nSource: the gardener\n")
	}
	return b.String()
}

// randomEdits returns edits of what a review shows.
func randomEdits(random *rand.Rand, r review.Review) (e review.Edits) {
	chance := func() bool { return random.IntN(3) == 0 }
	if chance() {
		e.Title = new([]string{"", "Stock & more"}[random.IntN(2)])
	}
	if chance() {
		e.Description = new("All \"plants\"")
	}
	if chance() {
		e.License = new("CC-BY-4.0")
	}
	if chance() {
		e.Access = []herb.Access{herb.AccessOpen, herb.AccessKey}[random.IntN(2)]
	}
	if chance() {
		e.PrimaryKey = &[][]string{{}, {"name"}}[random.IntN(2)]
	}
	for _, row := range r.Rows {
		switch {
		case row.Kind == review.RowLeftOut && row.Text != "" && row.Reason != "repeats the header" &&
			row.Reason != "above the table" && chance():
			e.Keep = append(e.Keep, row.Number)
		case row.Kind == review.RowRecord && random.IntN(8) == 0:
			e.Drop = append(e.Drop, row.Number)
		case row.Kind == review.RowHeader && chance():
			e.HeaderRows = &[]int{row.Number}
		}
	}
	e.Columns = map[int]review.ColumnEdit{}
	for _, c := range r.Columns {
		edit := review.ColumnEdit{}
		if chance() && c.Position != 1 {
			edit.Name = fmt.Sprintf("field %d", c.Position)
		}
		if chance() {
			edit.Title = new("Column " + c.Source)
		}
		switch random.IntN(6) {
		case 0:
			edit.Type = herb.TypeText
		case 1:
			edit.Type = c.Type
		case 2:
			edit.Missing = []string{"on request", "fine"}
		case 3:
			edit.Hidden = c.Position > 1
		case 4:
			edit.Type = c.Almost
			for _, x := range c.Others {
				edit.Missing = append(edit.Missing, x.Value)
			}
		}
		e.Columns[c.Position] = edit
	}
	return e
}

// TestPublish_random publishes drafts with random edits, twice, and compares the versions with
// those that a PUT of the file with the descriptor of the draft gives.
func TestPublish_random(t *testing.T) {
	t.Parallel()
	seed := testseed.Seed(t)
	const runs = 8
	var published atomic.Int32
	t.Cleanup(func() {
		if n := published.Load(); n < runs/2 {
			t.Errorf("only %d of %d drafts could be published", n, 2*runs)
		}
	})
	for i := range runs {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			n := newNode(t, nodeOptions{})
			for range 2 { // a new dataset, and one with the settings of the first
				content := randomTable(random)
				id := n.create("stock.csv", content)
				r := n.review(id)
				if r.Error != "" { // the row decisions of the first file may not fit the second
					continue
				}
				e := randomEdits(random, r)
				r = n.edit(id, e)
				if r.Error != "" {
					if !strings.Contains(r.Error, "name") && !strings.Contains(r.Error, "not a ") &&
						!strings.Contains(r.Error, "header") {
						t.Errorf("%+v: %s\n%s", e, r.Error, content)
					}
					continue
				}
				checkPublish(t, n, id, "stock.csv", content)
				published.Add(1)
			}
		})
	}
}

// TestPublish_odd keeps and drops rows of files with titles, units and footnotes, and compares the
// records with those that are expected.
func TestPublish_odd(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../ingest/testdata/odd/*")
	must.NoError(t, err)
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(path)
			must.NoError(t, err)
			n := newNode(t, nodeOptions{})
			id := n.create(filepath.Base(path), string(content))
			r := n.review(id)
			if strings.HasPrefix(filepath.Base(path), "no-records.") {
				if !strings.Contains(r.Error, "has no records, so nothing names its fields") {
					t.Errorf("got error %q", r.Error)
				}
				return
			}
			if r.Error != "" {
				t.Fatal(r.Error)
			}
			if !slices.ContainsFunc(r.Rows, func(row review.Row) bool { return row.Kind == review.RowRecord }) &&
				r.Records > 0 {
				t.Error("no record is shown")
			}
			shown := 0
			for _, row := range r.Rows {
				switch row.Kind {
				case review.RowRecord:
					shown++
				case review.RowGap:
					shown += row.Count
				}
			}
			if shown != r.Records {
				t.Errorf("%d records are shown or in gaps, of %d:\n%s", shown, r.Records,
					strings.Join(rowsOf(r.Rows), "\n"))
			}
			checkPublish(t, n, n.create(filepath.Base(path), string(content)), filepath.Base(path), string(content))
		})
	}
}
