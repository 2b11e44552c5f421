package report

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// page is a Markdown page under way.
type page struct{ bytes.Buffer }

func (p *page) say(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// table writes a table; the first column is text, the others are figures.
func (p *page) table(header []string, rows [][]string) { p.aligned("|---:", header, rows) }

// words writes a table in which all columns are text.
func (p *page) words(header []string, rows [][]string) { p.aligned("|---", header, rows) }

func (p *page) aligned(column string, header []string, rows [][]string) {
	p.say("| %s |", strings.Join(header, " | "))
	p.say("|---%s|", strings.Repeat(column, len(header)-1))
	for _, row := range rows {
		p.say("| %s |", strings.Join(row, " | "))
	}
	p.say("")
}

func markdown(r Results) []byte {
	p := &page{}
	p.say("# Results\n")
	p.say("`make bench` writes this page and the plots; `make bench-10m` adds to it. No figure in it is written by hand; "+
		"all of them are in [%s](%s), too.\n", resultsFile, resultsFile)
	if r.Main != nil {
		p.main(r.Main)
		p.bySize(r)
	}
	if r.Large != nil {
		p.large(r.Large)
	}
	p.method(r)
	return append(bytes.TrimRight(p.Bytes(), "\n"), '\n')
}

func (p *page) main(run *Run) {
	p.say("%s\n", run.Machine)
	p.byShape(run)
	p.ceiling(run.Ceiling)
	p.inProcess(run.Largest())
	p.byDepth(run)
	p.publishing(run)
}

// String tells the machine in a line.
func (m Machine) String() string {
	return fmt.Sprintf("Measured on %s, %d cores, %s of memory, %s, %s, on %s, at commit %s.",
		m.CPU, m.Cores, size(m.Memory), m.System, m.Go, m.Date.UTC().Format("2006-01-02 15:04 MST"), m.Commit)
}

func (p *page) byShape(run *Run) {
	largest := run.Largest()
	p.say("## By shape of query\n")
	p.say("![Latency by shape](%s)\n", shapesPlot)
	p.say("%s records, one connection. The records found are the same for both servers; this is checked, as is that the records "+
		"of the page are, wherever their order is not by relevance.\n", count(largest.Records))
	var rows [][]string
	for _, s := range largest.Shapes {
		h, f, o := s.One.Herbarium, s.One.Floor, s.One.Peer
		rows = append(rows, []string{s.Title, count(s.Total), p50(h), p99(h), p50(f), p99(f), p50(o), p99(o), answered(o), times(o, h)})
	}
	p.table([]string{
		"shape", "records found", "Herbarium p50", "p99", "constant p50", "p99", "SQLite p50", "p99", "requests", "SQLite / Herbarium",
	}, rows)
	p.say("The same with %d connections: answers a second, p99, and CPU time of the server for one request. The peer is not "+
		"asked over %d connections where it takes more than %s over one.\n", ManyConns, ManyConns, took(PatienceWithPeer))
	rows = nil
	for _, s := range largest.Shapes {
		h, f, o := s.Many.Herbarium, s.Many.Floor, s.Many.Peer
		rows = append(rows, []string{s.Title, rate(h), p99(h), cpu(h), rate(f), p99(f), cpu(f), rate(o), p99(o), cpu(o)})
	}
	p.table([]string{
		"shape", "Herbarium /s", "p99", "CPU", "constant /s", "p99", "CPU", "SQLite /s", "p99", "CPU",
	}, rows)
}

// PatienceWithPeer is the median over one connection up to which the peer is also measured with ManyConns.
const PatienceWithPeer = 250 * time.Millisecond

func (p *page) ceiling(c *Ceiling) {
	if c == nil {
		return
	}
	p.say("## The first page against a constant\n")
	p.say("A handler that does nothing but write %s bytes, as many as the first page has, and the first page with everything a "+
		"request passes through, in turns and four times as long as the rest, over %d connections.\n", count(c.Bytes), ManyConns)
	var rows [][]string
	for _, m := range []struct {
		name string
		Measure
	}{{nameHerbarium, c.Herbarium}, {nameFloor, c.Floor}} {
		rows = append(rows, []string{m.name, rate(&m.Measure), cpu(&m.Measure), p50(&m.Measure), p99(&m.Measure), answered(&m.Measure)})
	}
	p.table([]string{"handler", "answers a second", "CPU for one", "p50", "p99", "requests"}, rows)
	if c.Floor.CPU > 0 {
		p.say("CPU time for one request: %.2f times that of the constant.\n", float64(c.Herbarium.CPU)/float64(c.Floor.CPU))
	}
}

func (p *page) inProcess(s Size) {
	if len(s.InProcess) == 0 {
		return
	}
	p.say("## Without a server around it\n")
	p.say("The engine called in the process, %s records, one call at a time.\n", count(s.Records))
	var rows [][]string
	for _, i := range s.InProcess {
		rows = append(rows, []string{s.shape(i.Name).Title, took(i.P50), took(i.P99), count(i.Allocs)})
	}
	p.table([]string{"shape", "p50", "p99", "allocations"}, rows)
}

func (p *page) byDepth(run *Run) {
	p.say("## By depth of the page\n")
	p.say("![Latency by depth](%s)\n", depthPlot)
	p.depthTable(run)
}

func (p *page) depthTable(run *Run) {
	var rows [][]string
	for _, d := range run.Depths {
		h, o := d.Systems.Herbarium, d.Systems.Peer
		rows = append(rows, []string{orderName(d.Query), fmt.Sprintf("%d %%", d.Percent), count(d.Page), p50(h), p99(h), p50(o), p99(o)})
	}
	p.table([]string{"order", "depth", "page", "Herbarium p50", "p99", "SQLite p50", "p99"}, rows)
}

func (p *page) publishing(run *Run) {
	p.say("## Publishing and starting\n")
	p.say("From `herbarium publish` of the CSV to its end, when everything is synced; from the start of the server to its first " +
		"answer, and its memory right after that. *Own* is memory that is not pages of mapped files.\n")
	var rows [][]string
	for _, s := range run.Sizes {
		pub := s.Publish
		perSecond := "–"
		if pub.Took > 0 {
			perSecond = count(int(float64(s.Records) / pub.Took.Seconds()))
		}
		rows = append(rows, []string{
			count(s.Records), size(s.CSVBytes), took(pub.Took), perSecond, took(pub.CPU), size(pub.PeakRSS), size(pub.PeakAnon),
			size(pub.Bytes), against(pub.Bytes, s.CSVBytes), against(s.PeerBytes, s.CSVBytes),
			took(s.Start.FirstAnswer), size(s.Start.RSS), size(s.Start.Anon),
		})
	}
	p.table([]string{
		"records", "CSV", "publish", "records/s", "CPU", "peak memory", "own", "file", "file / CSV", "SQLite / CSV",
		"first answer", "memory", "own",
	}, rows)
}

func (p *page) bySize(r Results) {
	p.say("## By number of records\n")
	p.say("![Latency by size](%s)\n", sizePlot)
	sizes := allSizes(r)
	p.say("Medians over one connection: Herbarium, and behind the stroke SQLite.\n")
	header := []string{"shape"}
	for _, s := range sizes {
		header = append(header, count(s.Records))
	}
	var rows [][]string
	for _, shape := range r.Main.Largest().Shapes {
		row := []string{shape.Title}
		for _, s := range sizes {
			one := s.shape(shape.Name).One
			row = append(row, p50(one.Herbarium)+" / "+p50(one.Peer))
		}
		rows = append(rows, row)
	}
	p.table(header, rows)
}

// large tells of the run with more records, which has its own day and machine.
func (p *page) large(run *Run) {
	largest := run.Largest()
	p.say("## %s records\n", count(largest.Records))
	p.say("Herbarium alone, in a run of its own. %s\n", run.Machine)
	var rows [][]string
	for _, s := range largest.Shapes {
		one, many := s.One.Herbarium, s.Many.Herbarium
		rows = append(rows, []string{s.Title, count(s.Total), p50(one), p99(one), rate(many), p99(many), cpu(many)})
	}
	p.table([]string{
		"shape", "records found", "p50", "p99", fmt.Sprintf("answers a second, %d connections", ManyConns), "p99", "CPU for one",
	}, rows)
	p.inProcess(largest)
	p.depthTable(run)
	p.publishing(run)
}

func p50(m *Measure) string {
	if m == nil {
		return "–"
	}
	return took(m.P50)
}

func p99(m *Measure) string {
	if m == nil {
		return "–"
	}
	return took(m.P99)
}

func cpu(m *Measure) string {
	if m == nil {
		return "–"
	}
	return took(m.CPU)
}

func rate(m *Measure) string {
	switch {
	case m == nil:
		return "–"
	case m.Rate < 10:
		return fmt.Sprintf("%.1f", m.Rate)
	default:
		return count(int(m.Rate))
	}
}

func answered(m *Measure) string {
	if m == nil {
		return "–"
	}
	return count(m.Requests)
}

// times is how many times longer a takes than b.
func times(a, b *Measure) string {
	if a == nil || b == nil || b.P50 == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f ×", float64(a.P50)/float64(b.P50))
}

func against(a, b int64) string {
	if a == 0 || b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f ×", float64(a)/float64(b))
}

// size writes bytes.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	}
}
