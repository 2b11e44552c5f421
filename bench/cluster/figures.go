//go:build linux

package main

import (
	"errors"
	"fmt"
	"time"

	"herbarium/bench/internal/report"
)

// figures are the measurements of several nodes.
type figures struct {
	Records   int
	Bytes     int64 // of the segment
	Listings  []nodesListing
	Memory    []nodeMemory // of each node
	Listing   polls        // while listings were served
	Idle      polls        // while there were no requests
	Creations []nodesCreation
	Switches  []versionSwitch
	Fetches   []objectFetch   // by nodes with an empty cache
	Plain     []time.Duration // the same object, read by a client that writes it to a file
}

// nodesListing is the measurement of a kind of query with a number of nodes.
type nodesListing struct {
	Name     string
	Title    string
	Query    string
	Total    int
	Nodes    int
	Answers  measurement   // its CPU is that of all nodes
	Bytes    int64         // of one body
	Database time.Duration // CPU for one request
}

// nodeMemory is the memory of a node.
type nodeMemory struct {
	Start int64 // anonymous memory, before the first request
	Own   int64 // anonymous memory, after listings and creations
	File  int64 // pages of mapped files, at the same time
}

// polls is the load of the nodes on the database in a period.
type polls struct {
	Nodes        int
	Took         time.Duration
	Requests     int // answered by the nodes meanwhile
	Transactions int
	Database     time.Duration // CPU
	NodeCPU      time.Duration // of all nodes
}

// nodesCreation compares the creation of plants through a number of nodes with INSERT over as many
// connections to the database.
type nodesCreation struct {
	Callers       int
	Nodes         int
	Conns         int           // to the database
	Standby       bool          // a synchronous one
	Plants        measurement   // its CPU is that of all nodes
	Database      time.Duration // CPU for one plant, that of a standby included
	Floor         measurement
	FloorDatabase time.Duration
}

// versionSwitch is the time until nodes list a published version of a size.
type versionSwitch struct {
	Records int
	Bytes   int64
	Nodes   int
	First   []time.Duration // from the end of each publish until one node listed it
	All     []time.Duration // until all did
}

// objectFetch is the fetch of a segment that a node did not have.
type objectFetch struct {
	Bytes int64
	Took  time.Duration // from the first request to its answer
	CPU   time.Duration // of the node
}

// measurement is the result of a series of requests.
type measurement struct {
	Requests int
	P50, P99 time.Duration
	Rate     float64       // requests per second
	CPU      time.Duration // of the server, per request
}

func (m measurement) values(more ...report.Value) []report.Value {
	return append(report.Load(m.P50, m.P99, m.Rate, m.CPU), more...)
}

// check returns what is missing in the figures.
func (f *figures) check(s settings) error {
	var missing []error
	add := func(what string, figure any) { missing = append(missing, fmt.Errorf("%s: %+v", what, figure)) }
	for _, l := range f.Listings {
		if l.Answers.Requests == 0 || l.Answers.P50 <= 0 || l.Total == 0 || l.Bytes == 0 {
			add("a listing", l)
		}
	}
	for _, c := range f.Creations {
		if c.Plants.Requests == 0 || c.Floor.Requests == 0 || c.Plants.P99 <= 0 || c.Floor.P99 <= 0 {
			add("a creation", c)
		}
	}
	for _, s := range f.Switches {
		if len(s.All) == 0 || s.Bytes == 0 {
			add("a switch", s)
		}
	}
	for _, x := range f.Fetches {
		if x.Bytes != f.Bytes || x.Took <= 0 {
			add("a fetch", x)
		}
	}
	if len(f.Listings) != maxNodes*len(listed) || len(f.Creations) != 4*len(s.callers) || len(f.Switches) != 2 ||
		len(f.Fetches) != s.fetches || len(f.Plain) != s.fetches || f.Bytes == 0 || f.Memory[0].Own == 0 {
		add("not all was measured", f)
	}
	return errors.Join(missing...)
}

// report returns the page of all figures.
func (f *figures) report() *report.Report {
	r := &report.Report{Title: "A cluster, measured", Text: method}
	for _, l := range f.Listings {
		r.Add(fmt.Sprintf("List/n=%d/shape=%s/nodes=%d", f.Records, l.Name, l.Nodes), l.Answers.Requests,
			l.Answers.values(report.Nanoseconds(l.Database, "db-cpu-ns/op"), report.Bytes(l.Bytes, "body-B"))...)
	}
	for i, p := range []polls{f.Idle, f.Listing} {
		seconds := p.Took.Seconds() * float64(p.Nodes)
		r.Add("Poll/while="+[]string{"idle", "busy"}[i], p.Transactions,
			report.Value{Number: float64(p.Transactions) / seconds, Unit: "tx/node/s"},
			report.Value{Number: float64(p.Database) / seconds, Unit: "db-cpu-ns/node/s"})
	}
	for i, m := range f.Memory {
		r.Add(fmt.Sprintf("Memory/node=%d", i+1), 1, report.Bytes(m.Start, "start-anon-B"),
			report.Bytes(m.Own, "end-anon-B"),
			report.Bytes(m.File, "end-file-B"))
	}
	for _, c := range f.Creations {
		name := fmt.Sprintf("Create/callers=%d/standby=%t/nodes=%d", c.Callers, c.Standby, c.Nodes)
		r.Add(name+"/way=plants", c.Plants.Requests, c.Plants.values(report.Nanoseconds(c.Database, "db-cpu-ns/op"))...)
		r.Add(name+"/way=insert", c.Floor.Requests,
			c.Floor.values(report.Nanoseconds(c.FloorDatabase, "db-cpu-ns/op"))...)
	}
	for _, s := range f.Switches {
		for i := range s.All {
			r.Add(fmt.Sprintf("Switch/n=%d/nodes=%d", s.Records, s.Nodes), 1,
				report.Nanoseconds(s.First[i], "first-ns"),
				report.Nanoseconds(s.All[i], "ns/op"), report.Bytes(s.Bytes, "segment-B"))
		}
	}
	for i, x := range f.Fetches {
		r.Add(fmt.Sprintf("Fetch/n=%d/by=node", f.Records), 1, report.Nanoseconds(x.Took, "ns/op"),
			report.Nanoseconds(x.CPU, "cpu-ns/op"))
		r.Add(fmt.Sprintf("Fetch/n=%d/by=copy", f.Records), 1, report.Nanoseconds(f.Plain[i], "ns/op"))
	}
	return r
}

// method is the text of the page.
const method = "Written by `make bench-cluster`; [README.md](README.md) says how to repeat it.\n\n" +
	"All nodes, PostgreSQL, the S3 server and the load generator share the cores of one machine, so that more nodes " +
	"cannot\n" +
	"answer more requests here. cpu-ns/op and db-cpu-ns/op, the processor time of the nodes and of the database for " +
	"one request,\n" +
	"say how they would do on machines of their own. List: listings with 16 connections. Poll: what nodes ask of the " +
	"database\n" +
	"when idle and while listing. Create: `POST /plants`, and rows by INSERT for comparison. Switch: from the end of " +
	"a publish\n" +
	"until the first node and all nodes list the new version. Fetch: the first request to a node without cache, and " +
	"a plain\n" +
	"copy of the same object."
