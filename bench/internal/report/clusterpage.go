package report

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// clusterPage writes CLUSTER.md.
func clusterPage(c *Cluster) []byte {
	p := &page{}
	p.say("# A cluster, measured\n")
	p.say("`make bench-cluster` writes this page, and the tables of [growing](../docs/growing.md) and [operations](../docs/operations.md) "+
		"that have figures of it. No figure in it is written by hand; all of them are in [%s](%s), too.\n", clusterFile, clusterFile)
	p.say("%s\n", c.Machine)
	p.say("**All nodes, PostgreSQL, the S3 server and what asks them share the %d cores of one machine**, so more nodes cannot answer "+
		"more here. What tells how they would do on machines of their own is the CPU time for one request, and what they ask of the "+
		"parts that they share.\n", c.Machine.Cores)
	p.nodesListings(c)
	p.polls(c)
	p.nodesMemory(c)
	p.creations(c)
	p.switches(c)
	p.fetches(c)
	p.clusterMethod(c)
	return append(bytes.TrimRight(p.Bytes(), "\n"), '\n')
}

func (p *page) nodesListings(c *Cluster) {
	p.say("## Listings\n")
	p.say("%s records, a segment of %s, %d who ask, each going round the nodes. What the database does meanwhile is what the nodes ask of it "+
		"by themselves.\n", count(c.Records), size(c.Bytes), ManyConns)
	var rows [][]string
	for _, l := range c.Listings {
		m := &l.Answers
		rows = append(rows, []string{
			l.Title, count(l.Total), strconv.Itoa(l.Nodes), rate(m), p50(m), p99(m), cpu(m), took(l.Database), size2(l.Bytes), answered(m),
		})
	}
	p.table([]string{
		"shape", "records found", "nodes", "answers a second", "p50", "p99", "CPU of the nodes for one", "CPU of the database for one",
		"body", "requests",
	}, rows)
}

func (p *page) polls(c *Cluster) {
	p.say("## What nodes ask of the database by themselves\n")
	p.say("Each looks at the catalogue once a second, and asks as often whether the database is there, which is no transaction. Listings " +
		"of published datasets ask it for nothing: it does the same whether they are answered or not.\n")
	var rows [][]string
	for _, w := range []struct {
		name string
		Polls
	}{{"nothing was asked", c.Idle}, {"the listings above were answered", c.Listing}} {
		rows = append(rows, []string{
			w.name, strconv.Itoa(w.Nodes), took(w.Took), count(w.Requests), count(w.Transactions),
			fmt.Sprintf("%.1f", w.perNode(float64(w.Transactions))), took(w.databasePerNode()),
		})
	}
	p.table([]string{
		"while", "nodes", "time", "requests", "transactions", "transactions of a node, a second", "CPU of the database for a node, a second",
	}, rows)
}

// perNode is what there was of something for one node in a second.
func (w Polls) perNode(n float64) float64 {
	if w.Took == 0 || w.Nodes == 0 {
		return 0
	}
	return n / w.Took.Seconds() / float64(w.Nodes)
}

func (w Polls) databasePerNode() time.Duration { return time.Duration(w.perNode(float64(w.Database))) }

func (p *page) nodesMemory(c *Cluster) {
	p.say("## Memory of a node\n")
	p.say("*Own* is memory that is not pages of mapped files; those the system can take back.\n")
	var rows [][]string
	for i, m := range c.Memory {
		rows = append(rows, []string{strconv.Itoa(i + 1), size(m.Start), size(m.Own), size(m.File)})
	}
	p.table([]string{"node", "own, at the start", "own, at the end", "mapped, at the end"}, rows)
}

func (p *page) creations(c *Cluster) {
	p.say("## Creations\n")
	p.say("`POST /plants` through one, two and three nodes, and beside it the same rows by `INSERT` into a table that has nothing but " +
		"a key, a name and a tag: over as many connections as the nodes have together, with no HTTP, no keys, no sort keys, no words " +
		"and no listing that has to see them in order. Everything is synced.\n")
	var rows [][]string
	for _, n := range c.Creations {
		m, f := &n.Plants, &n.Floor
		standby := "–"
		if n.Standby {
			standby = "synchronous"
		}
		rows = append(rows, []string{
			strconv.Itoa(n.Callers), standby, strconv.Itoa(n.Nodes), rate(m), p50(m), p99(m), cpu(m), took(n.Database),
			strconv.Itoa(n.Conns), rate(f), p50(f), p99(f), took(n.FloorDatabase), n.againstFloor(),
		})
	}
	p.table([]string{
		"callers", "standby", "nodes", "plants a second", "p50", "p99", "CPU of the nodes for one", "CPU of the database for one",
		"connections", "INSERT a second", "p50", "p99", "CPU of the database for one", "plants / INSERT",
	}, rows)
}

// againstFloor is how many plants are created for a row that is inserted.
func (n NodesCreation) againstFloor() string {
	if n.Floor.Rate == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f ×", n.Plants.Rate/n.Floor.Rate)
}

func (p *page) switches(c *Cluster) {
	p.say("## Following a publish\n")
	p.say("From the end of `herbarium publish` until the first node lists the new version, and until all do. A node looks at the " +
		"catalogue once a second, so half of that is what is to be expected of one node with a small dataset.\n")
	var rows [][]string
	for _, s := range c.Switches {
		rows = append(rows, []string{
			count(s.Records), size(s.Bytes), strconv.Itoa(s.Nodes), strconv.Itoa(len(s.All)),
			took(median(s.First)), took(median(s.All)), took(slices.Max(s.All)),
		})
	}
	p.table([]string{"records", "segment", "nodes", "publishes", "first node, median", "all nodes, median", "all nodes, longest"}, rows)
}

func (p *page) fetches(c *Cluster) {
	p.say("## A node that has nothing\n")
	p.say("From the first request to a new node until its answer: the segment of %s is fetched, compared with its hash, synced, read through "+
		"and opened. Beside it a client of S3 that copies the same object into a file and syncs that.\n", size(c.Bytes))
	var rows [][]string
	for i, f := range c.Fetches {
		rows = append(rows, []string{
			strconv.Itoa(i + 1), took(f.Took), perSecond(f.Bytes, f.Took), took(f.CPU), took(c.Plain[i]), perSecond(f.Bytes, c.Plain[i]),
		})
	}
	p.table([]string{"", "first answer", "a second", "CPU of the node", "plain copy", "a second"}, rows)
}

func (p *page) clusterMethod(c *Cluster) {
	p.say("## How it was measured\n")
	for _, s := range []string{
		fmt.Sprintf("The data are made up by `bench/gen` (seed %d), and published to an S3 server (versitygw, on the disk of the temporary "+
			"folder). PostgreSQL has its own settings (`fsync` on) and is reached over TCP on the loopback address. Nodes are "+
			"`herbarium serve` with their settings as they come, their log goes to /dev/null, and no proxy is before them.", c.Seed),
		fmt.Sprintf("Ways that stand beside each other are taken in turns, %g s each in slices of a third, so that what disturbs one "+
			"disturbs all. All %d nodes run all the time; those that are not asked do nothing but look at the catalogue. Who asks has a "+
			"connection to each node, open and used before, and asks the next one as soon as it has its answer.", c.Seconds, len(c.Memory)),
		"CPU time is that of the processes from /proc, before and after: of the nodes to ten milliseconds of a slice; of the database for " +
			"listings and polls that of the nodes' connections, to the nanosecond; for creations that of all its processes, and of those " +
			"of a standby.",
		"A publish is seen by asking each node every 2 ms for its total, which differs from version to version.",
	} {
		p.say("- %s", s)
	}
}

func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

// perSecond writes how fast bytes came.
func perSecond(n int64, d time.Duration) string {
	if d == 0 {
		return "–"
	}
	return size(int64(float64(n)/d.Seconds())) + "/s"
}

// size2 writes the size of a body, which size would round too much.
func size2(n int64) string { return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10)) }

// cores writes a number of processors with two digits.
func cores(f float64) string {
	s := strconv.FormatFloat(f, 'f', 4, 64)
	if f >= 0.1 {
		s = strconv.FormatFloat(f, 'f', 2, 64)
	} else if f >= 0.01 {
		s = strconv.FormatFloat(f, 'f', 3, 64)
	}
	return strings.TrimSuffix(s, ".00")
}
