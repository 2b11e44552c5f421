package gen_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/bench/gen"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/text"
)

func write(t *testing.T, seed uint64, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gen.New(seed).WriteCSV(t.Context(), &b, n); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWriteCSV_golden checks that the generated data never change, so that results stay comparable.
func TestWriteCSV_golden(t *testing.T) {
	t.Parallel()
	const want = "57e0717e5a4c9eeb1e5404f1dce9555a1e99917074701a03a3ae18df0afde1e7"
	sum := sha256.Sum256(write(t, 1, 1000))
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the hash of 1000 records is %s; want %s", got, want)
	}
}

func TestWriteCSV_seeds(t *testing.T) {
	t.Parallel()
	if bytes.Equal(write(t, 1, 10), write(t, 2, 10)) {
		t.Error("two seeds give the same records")
	}
	if !bytes.HasPrefix(write(t, 1, 100), write(t, 1, 10)) {
		t.Error("ten records are not the beginning of a hundred")
	}
}

func TestWriteCSV_canceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := gen.New(1).WriteCSV(ctx, new(bytes.Buffer), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestFile also checks that Fields are those inferred from a file.
func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, err := gen.File(t.Context(), dir, 1, 500)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content, write(t, 1, 500)) {
		t.Error("the file is not what the generator writes")
	}
	again, err := gen.File(t.Context(), dir, 1, 500)
	if err != nil || again != path {
		t.Errorf("again: %s, %v; want %s", again, err, path)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("there are %d files in the folder, %v", len(files), err)
	}
	table, err := ingest.Inspect(t.Context(), ingest.Source{Path: path}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gen.Fields(), table.Dataset.Fields); diff != "" {
		t.Errorf("fields (-want +inferred):\n%s", diff)
	}
}

// TestDistribution compares the data with their description.
func TestDistribution(t *testing.T) {
	t.Parallel()
	const n = 25_000
	rows, err := csv.NewReader(bytes.NewReader(write(t, 7, n))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows = rows[1:]
	texts := make([][]string, n)
	for i, row := range rows {
		texts[i] = text.AppendWords(nil, row[1]+" "+row[2])
	}
	share := func(meets func(row []string, words []string) bool) float64 {
		found := 0
		for i, row := range rows {
			if meets(row, texts[i]) {
				found++
			}
		}
		return float64(found) / n
	}
	word := func(ws ...string) func([]string, []string) bool {
		return func(_, words []string) bool {
			return !slices.ContainsFunc(ws, func(w string) bool { return !slices.Contains(words, w) })
		}
	}
	column := func(i int, value string) func([]string, []string) bool {
		return func(row, _ []string) bool { return row[i] == value }
	}
	for _, c := range []struct {
		name      string
		meets     func(row, words []string) bool
		want, off float64
	}{
		{"common word", word(gen.CommonWord), 0.40, 0.02},
		{"rare word", word(gen.RareWord), 0.0004, 0.0003},
		{"first word", word(gen.FirstWord), 0.12, 0.01},
		{"two words", word(gen.FirstWord, gen.SecondWord), 0.005, 0.002},
		{"phrase", func(_, words []string) bool {
			return strings.Contains(strings.Join(words, " "), gen.Phrase)
		}, 0.0005, 0.0003},
		{"prefix", func(_, words []string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, gen.Prefix) })
		}, 0.07, 0.01},
		{"category", column(3, gen.Category), 0.16, 0.01},
		{"published", column(4, "published"), 0.95, 0.01},
		{"author", column(9, gen.Author), 0.0007, 0.0005},
		{"tag", func(row, _ []string) bool { return slices.Contains(text.Elements(&herb.Field{}, row[10]), gen.Tag) },
			0.02, 0.01},
		{"price below the range", func(row, _ []string) bool {
			return len(row[8]) < 5 || row[8] < "20" &&
				len(row[8]) == 5
		}, 0.2, 0.01},
	} {
		if got := share(c.meets); math.Abs(got-c.want) > c.off {
			t.Errorf("%s: %.5f of the records; want %.4f ± %.4f", c.name, got, c.want, c.off)
		}
	}
	t.Run("ranges", func(t *testing.T) { checkRanges(t, rows) })
}

func checkRanges(t *testing.T, rows [][]string) {
	values := make([]map[string]bool, len(rows[0]))
	for i := range values {
		values[i] = map[string]bool{}
	}
	tags, vocabulary := map[string]bool{}, map[string]bool{}
	for _, row := range rows {
		for i, v := range row {
			values[i][v] = true
		}
		for _, tag := range text.Elements(&herb.Field{}, row[10]) {
			tags[tag] = true
		}
		title, description := text.AppendWords(nil, row[1]), text.AppendWords(nil, row[2])
		for _, w := range slices.Concat(title, description) {
			vocabulary[w] = true
		}
		perTags := len(text.Elements(&herb.Field{}, row[10]))
		if len(title) < 3 || len(title) > 8 || len(description) < 15 || len(description) > 30 || perTags < 1 ||
			perTags > 4 {
			t.Fatalf("a record of %d, %d words and %d tags: %q", len(title), len(description), perTags, row)
		}
		if date := row[5]; date < "2015-01-01" || date > "2024-12-31" {
			t.Fatalf("date %s", date)
		}
		if _, cents, _ := strings.Cut(row[8], "."); len(cents) != 2 {
			t.Fatalf("price %s", row[8])
		}
	}
	for _, c := range []struct {
		name             string
		got, least, most int
	}{
		{"ids", len(values[0]), len(rows), len(rows)},
		{"categories", len(values[3]), 12, 12},
		{"statuses", len(values[4]), 3, 3},
		{"dates", len(values[5]), 3600, 3653},
		{"addresses", len(values[6]), len(rows), len(rows)},
		{"authors", len(values[9]), 4800, 5000},
		{"tags", len(tags), 200, 200},
		{"words", len(vocabulary), 26_000, 30_000},
	} {
		if c.got < c.least || c.got > c.most {
			t.Errorf("there are %d %s; want %d to %d", c.got, c.name, c.least, c.most)
		}
	}
}

func BenchmarkAppendRecord(b *testing.B) {
	g := gen.New(1)
	var line []byte
	for i := 0; b.Loop(); i++ {
		line = g.AppendRecord(line[:0], i)
	}
	b.SetBytes(int64(len(line)))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
