package report_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/bench/internal/report"
)

// madeUp are figures of a cluster, each another.
func madeUp() *report.Cluster {
	measure := func(n int) report.Measure {
		d := time.Duration(n) * time.Microsecond
		return report.Measure{Requests: 1000 * n, P50: d, P99: 3 * d, Rate: 1e6 / float64(n), CPU: d / 2}
	}
	c := &report.Cluster{
		Machine: results().Main.Machine, Seconds: 2, Seed: 1, Records: 100_000, Bytes: 80 << 20,
		Listing: report.Polls{Nodes: 3, Took: 20 * time.Second, Requests: 300_000, Transactions: 72, Database: 30 * time.Millisecond},
		Idle:    report.Polls{Nodes: 3, Took: 10 * time.Second, Transactions: 36, Database: 12 * time.Millisecond},
		Switches: []report.Switch{{
			Records: 1000, Bytes: 1 << 20, Nodes: 3,
			First: []time.Duration{100, 300, 200}, All: []time.Duration{700, 900, 800},
		}},
		Fetches: []report.Fetch{{Bytes: 80 << 20, Took: 200 * time.Millisecond, CPU: 120 * time.Millisecond}},
		Plain:   []time.Duration{100 * time.Millisecond},
	}
	for i := range 3 {
		n := i + 1
		c.Memory = append(c.Memory, report.NodeMemory{Start: 8 << 20, Own: int64(60+n) << 20, File: 70 << 20})
		c.Listings = append(c.Listings, report.NodesListing{
			Name: "first", Title: "first page", Total: 100_000, Nodes: n, Answers: measure(50 + n), Bytes: 12_886, Database: 40,
		})
		c.Creations = append(c.Creations, report.NodesCreation{
			Callers: 256, Nodes: n, Conns: 4 * n, Plants: measure(200 - n), Database: 90 * time.Microsecond,
			Floor: measure(100 + n), FloorDatabase: 45 * time.Microsecond,
		})
	}
	safe := c.Creations[2]
	safe.Standby, safe.Plants.Rate, safe.Database = true, 2000, 170*time.Microsecond
	c.Creations = append(c.Creations, safe)
	return c
}

func TestWriteCluster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := report.WriteCluster(dir, madeUp()); err != nil {
		t.Fatal(err)
	}
	read, err := report.ReadCluster(dir)
	if diff := cmp.Diff(madeUp(), read); diff != "" || err != nil {
		t.Errorf("what is read again: %v (-want +got):\n%s", err, diff)
	}
	golden(t, filepath.Join(dir, "CLUSTER.md"), "testdata/CLUSTER.md")
}

func TestReadCluster_nothing(t *testing.T) {
	t.Parallel()
	if c, err := report.ReadCluster(t.TempDir()); c != nil || err != nil {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestWriteDocs writes blocks into documents that have others around them.
func TestWriteDocs(t *testing.T) {
	t.Parallel()
	dir, docs := t.TempDir(), t.TempDir()
	growing := "# Growing\n<!-- cluster:spread:begin -->\nold\n<!-- cluster:spread:end -->\nbetween\n" +
		"<!-- cluster:limits:begin -->\n<!-- cluster:limits:end -->\nbehind\n"
	operations := "<!-- cluster:needs:begin -->\n<!-- cluster:needs:end -->"
	for name, content := range map[string]string{"growing.md": growing, "operations.md": operations} {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := report.WriteCluster(dir, madeUp()); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteDocs(dir, docs); err != nil { // half of the figures are missing
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(docs, "growing.md")); got != growing {
		t.Errorf("without figures of one node it was changed to:\n%s", got)
	}
	if err := report.Write(dir, results()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // written again, nothing changes
		if err := report.WriteDocs(dir, docs); err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join(docs, "growing.md"), "testdata/growing.md")
		golden(t, filepath.Join(docs, "operations.md"), "testdata/operations.md")
	}
}

func TestBlock_Put(t *testing.T) {
	t.Parallel()
	b := report.Block{Name: "x", Text: "new\n"}
	for name, c := range map[string]struct{ document, want, err string }{
		"in the middle": {
			"a\n<!-- cluster:x:begin -->\nold\n<!-- cluster:x:end -->\nb\n",
			"a\n<!-- cluster:x:begin -->\nnew\n<!-- cluster:x:end -->\nb\n", "",
		},
		"no beginning": {"a\n<!-- cluster:x:end -->\n", "", "there is no"},
		"no end":       {"<!-- cluster:x:begin -->\nold\n", "", "there is no"},
		"another":      {"<!-- cluster:y:begin -->\n<!-- cluster:y:end -->\n", "", "there is no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := b.Put([]byte(c.document))
			if string(got) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestDocs holds that CLUSTER.md and the documents quote the figures that are in this repository, and no others.
func TestDocs(t *testing.T) {
	t.Parallel()
	const bench, docs = "../..", "../../../docs"
	figures, err := report.ReadCluster(bench)
	if err != nil || figures == nil {
		t.Fatalf("there are no figures; `make bench-cluster` measures them: %v", err)
	}
	if *update {
		if err := errors.Join(report.WriteCluster(bench, figures), report.WriteDocs(bench, docs)); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if err := report.WriteCluster(dir, figures); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read(t, filepath.Join(dir, "CLUSTER.md")), read(t, filepath.Join(bench, "CLUSTER.md"))); diff != "" {
		t.Errorf("bench/CLUSTER.md (-want +got):\n%s", diff)
	}
	blocks, err := report.Blocks(bench)
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) == 0 {
		t.Fatal("there are no figures of one node; `make bench` measures them")
	}
	for _, b := range blocks {
		document := read(t, filepath.Join(docs, b.File))
		want, err := b.Put([]byte(document))
		if diff := cmp.Diff(string(want), document); diff != "" || err != nil {
			t.Errorf("docs/%s, %s: %v (-want +got):\n%s", b.File, b.Name, err, diff)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// golden compares a file with what it should be.
func golden(t *testing.T, path, golden string) {
	t.Helper()
	got := read(t, path)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, golden), got); diff != "" {
		t.Errorf("%s (-want +got); go test -update writes it:\n%s", golden, diff)
	}
}
