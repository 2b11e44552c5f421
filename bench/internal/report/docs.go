package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Block is a part of a document that is written from figures: all between two comments that have its name.
type Block struct {
	File string // in the folder of documents
	Name string
	Text string
}

// WriteDocs writes the blocks of the documents anew from the figures in a folder. Where some of them are missing, it does
// nothing.
func WriteDocs(dir, docs string) error {
	blocks, err := Blocks(dir)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		path := filepath.Join(docs, b.File)
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if content, err = b.Put(content); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Blocks returns the blocks of the documents for the figures in a folder, none where some of those are missing.
func Blocks(dir string) ([]Block, error) {
	r, err := Read(dir)
	if err != nil {
		return nil, err
	}
	c, err := ReadCluster(dir)
	if err != nil || c == nil || r.Main == nil {
		return nil, err
	}
	f := figures{r.Main.Largest(), c}
	return []Block{
		{"growing.md", "spread", f.spread()},
		{"growing.md", "limits", f.limits()},
		{"operations.md", "needs", f.needs()},
	}, nil
}

// Put replaces the block in a document.
func (b Block) Put(document []byte) ([]byte, error) {
	begin, end := "<!-- cluster:"+b.Name+":begin -->\n", "<!-- cluster:"+b.Name+":end -->"
	before, rest, ok1 := bytes.Cut(document, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("there is no %q with a %q behind it", strings.TrimSpace(begin), end)
	}
	return bytes.Join([][]byte{before, []byte(begin), []byte(b.Text), []byte(end), after}, nil), nil
}

// figures are those that documents quote.
type figures struct {
	node    Size // one node with the most records of the main run
	cluster *Cluster
}

// spread tells what listings take by the number of nodes.
func (f figures) spread() string {
	p := &page{}
	header := []string{"listing of " + count(f.cluster.Records) + " records"}
	var rows [][]string
	for _, l := range f.cluster.Listings {
		if l.Nodes == 1 {
			rows = append(rows, []string{l.Title})
		}
		if len(rows) == 1 {
			header = append(header, fmt.Sprintf("CPU for one, %s", nodes(l.Nodes)))
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], took(l.Answers.CPU))
	}
	header = append(header, "CPU of the database for one")
	for i, l := range f.most() {
		rows[i] = append(rows[i], took(l.Database))
	}
	p.table(header, rows)
	return tight(p)
}

// most are the listings by the largest number of nodes.
func (f figures) most() (out []NodesListing) {
	for _, l := range f.cluster.Listings {
		if l.Nodes == len(f.cluster.Memory) {
			out = append(out, l)
		}
	}
	return out
}

// best is the way that creates most plants, with or without a standby.
func (f figures) best(standby bool) (best NodesCreation) {
	for _, c := range f.cluster.Creations {
		if c.Standby == standby && c.Plants.Rate > best.Plants.Rate {
			best = c
		}
	}
	return best
}

// perMillion is the size of the segment of a million records.
func (f figures) perMillion() int64 { return f.node.Publish.Bytes * 1_000_000 / int64(f.node.Records) }

// fetched is how many bytes a second a node fetches, in the middle.
func (f figures) fetched() float64 {
	var all []time.Duration
	for _, one := range f.cluster.Fetches {
		all = append(all, one.Took)
	}
	return float64(f.cluster.Bytes) / median(all).Seconds()
}

// limits tells how far the parts that nodes share are from their limits.
func (f figures) limits() string {
	first := f.most()[0]
	segment := f.perMillion()
	polls := f.cluster.Idle
	transactions := polls.perNode(float64(polls.Transactions))
	const gigabit = 1e9 / 8
	p := &page{}
	p.words([]string{"part", "measured", "what follows"}, [][]string{
		{"creations, through one lock", f.created(), fmt.Sprintf("%s plants a second for each processor of the database, at most",
			count(int(time.Second/max(1, f.best(false).Database))))},
		{
			"the database, asked by each node without requests",
			fmt.Sprintf("%.1f transactions and %s of its CPU for a node, each second", transactions, took(polls.databasePerNode())),
			fmt.Sprintf("1,000 nodes take %s transactions a second and %s of its processors",
				count(int(1000*transactions)), cores(1000*polls.databasePerNode().Seconds())),
		},
		{
			"a publish, fetched by each node",
			fmt.Sprintf("%s for a million records; one node fetches %s/s", size(segment), size(int64(f.fetched()))),
			fmt.Sprintf("100 nodes fetch %s; an object store that sends 10 Gbit/s needs %s for that",
				size(100*segment), took(time.Duration(100*float64(segment)/(10*gigabit)*float64(time.Second)))),
		},
		{
			"the network of a node",
			fmt.Sprintf("%s of body for a first page, not compressed", size2(first.Bytes)),
			fmt.Sprintf("1 Gbit/s carries %s first pages a second; a processor answers %s",
				count(int(gigabit/float64(first.Bytes))), count(int(time.Second/max(1, first.Answers.CPU)))),
		},
	})
	return tight(p)
}

// created tells how many plants are created by the largest number of callers.
func (f figures) created() string {
	var callers int
	for _, c := range f.cluster.Creations {
		callers = max(callers, c.Callers)
	}
	var ways []string
	for _, c := range f.cluster.Creations {
		if c.Callers != callers {
			continue
		}
		way := fmt.Sprintf("%s plants a second through %s, %s a plain `INSERT`", rate(&c.Plants), nodes(c.Nodes), c.againstFloor())
		if c.Standby {
			way += ", with a synchronous standby"
		}
		ways = append(ways, way)
	}
	return fmt.Sprintf("by %d callers %s", callers, strings.Join(ways, "; "))
}

// needs tells what a node needs.
func (f figures) needs() string {
	c := f.cluster
	var own int64
	for _, m := range c.Memory {
		own = max(own, m.Own)
	}
	creation, safe := f.best(false), f.best(true)
	p := &page{}
	rows := [][]string{
		{
			"a million records", "disk, on each node that lists them and in the object store",
			size(f.perMillion()), "`make bench`",
		},
		{
			"a node under load", "memory of its own; the parts of files that are asked often want room beside it",
			size(own), "`make bench-cluster`",
		},
	}
	for _, l := range f.most() {
		at := fmt.Sprintf("%s with %s records", cores(1000*l.Answers.CPU.Seconds()), count(c.Records))
		if m := f.node.shape(l.Name).Many.Herbarium; m != nil {
			at += fmt.Sprintf(", %s with %s", cores(1000*m.CPU.Seconds()), count(f.node.Records))
		}
		rows = append(rows,
			[]string{"1,000 requests a second: " + l.Title, "processors of the nodes", at, "`make bench-cluster`, `make bench`"},
			[]string{"", "network, not compressed", size(1000*l.Bytes) + "/s", "`make bench-cluster`"})
	}
	rows = append(rows,
		[]string{
			fmt.Sprintf("1,000 creations a second, by %d callers", creation.Callers), "processors of the nodes",
			cores(1000 * creation.Plants.CPU.Seconds()), "`make bench-cluster`",
		},
		[]string{
			"", "processors of the database; with its synchronous standby",
			fmt.Sprintf("%s; %s", cores(1000*creation.Database.Seconds()), cores(1000*safe.Database.Seconds())), "`make bench-cluster`",
		},
		[]string{
			"a node that nobody asks", "transactions of the database, a second",
			fmt.Sprintf("%.1f", c.Idle.perNode(float64(c.Idle.Transactions))), "`make bench-cluster`",
		})
	p.words([]string{"for", "of what", "how much", "from"}, rows)
	return tight(p)
}

func nodes(n int) string {
	if n == 1 {
		return "1 node"
	}
	return strconv.Itoa(n) + " nodes"
}

// tight ends a block with its last line.
func tight(p *page) string { return strings.TrimRight(p.String(), "\n") + "\n" }
