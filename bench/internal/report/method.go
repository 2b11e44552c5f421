package report

import "fmt"

// method says how the figures came about.
func (p *page) method(r Results) {
	run := r.Main
	if run == nil {
		run = r.Large
	}
	if run == nil {
		return
	}
	p.say("## How it was measured\n")
	for _, s := range []string{
		fmt.Sprintf("The data are made up by `bench/gen` (seed %d): eleven fields, texts of a vocabulary of 30,000 words whose most "+
			"frequent one is in 40 %% of the records, 12 categories, 5,000 authors, 200 tags. The same seed gives the same bytes.", run.Seed),
		"The servers run one beside the other on this machine, and so does what asks them, over loopback: **all of them share " +
			fmt.Sprintf("its %d cores**. They are asked in turns, a slice of time each, so that what disturbs one disturbs all.", run.Machine.Cores),
		fmt.Sprintf("Each connection asks again as soon as it has its answer and is kept open. A server gets %g s for each shape and "+
			"number of connections, at most %d requests, and at least one. Answers other than 200 end the run. p50 and p99 are right "+
			"to a hundredth; of few requests, p99 is the slowest.", run.Seconds, MaxRequests),
		"*Herbarium* is `./cmd/herbarium serve` with its settings as they come: request ids, metrics and a log line for each request " +
			"(to /dev/null) included. No answer is compressed or taken from a cache.",
		"*SQLite* is `bench/peer`: the same records in SQLite (modernc.org/sqlite, in the process, memory-mapped, statements prepared) " +
			"behind the same JSON, with `count(*)` for the total, `LIMIT` and `OFFSET` for the page, and FTS5 for words. Every field that " +
			"a shape filters or sorts by has an index, sorts one for each direction. There is none for each pair of a filter and a " +
			"sort: a listing that offers any filter with any sort would need over a hundred.",
		"*Constant body* is `bench/floor`: net/http and one `Write` of a body as large as the first page.",
		"CPU time is user and system time of the server's process from /proc, before and after. Memory is RssAnon, RssFile and VmHWM " +
			"of /proc; the peak of own memory in publishing is sampled every 5 ms.",
	} {
		p.say("- %s", s)
	}
}

// MaxRequests is the most that a server is asked for one figure.
const MaxRequests = 50_000
