// Package report keeps what was measured and writes it for people: tables and plots.
package report

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Results are the figures of the last runs.
type Results struct {
	Main  *Run `json:"main,omitempty"`  // everything side by side
	Large *Run `json:"large,omitempty"` // Herbarium alone with more records
}

// Run is what was measured in one go.
type Run struct {
	Machine Machine  `json:"machine"`
	Seconds float64  `json:"seconds"` // for each server in each shape
	Seed    uint64   `json:"seed"`
	Sizes   []Size   `json:"sizes"`             // the smallest first
	Ceiling *Ceiling `json:"ceiling,omitempty"` // nil: no floor was measured
	Depths  []Depth  `json:"depths"`            // at the largest size
}

// Largest is the size that everything was measured at.
func (r *Run) Largest() Size { return r.Sizes[len(r.Sizes)-1] }

// Machine is where and when a run was made, and of what.
type Machine struct {
	CPU    string    `json:"cpu"`
	Cores  int       `json:"cores"`
	Memory int64     `json:"memory"`
	System string    `json:"system"`
	Go     string    `json:"go"`
	Commit string    `json:"commit"`
	Date   time.Time `json:"date"`
}

// Size is what was measured at one number of records.
type Size struct {
	Records   int         `json:"records"`
	CSVBytes  int64       `json:"csv_bytes"`
	PeerBytes int64       `json:"peer_bytes,omitempty"` // of the peer's database
	Publish   Publish     `json:"publish"`
	Start     Start       `json:"start"`
	Shapes    []Shape     `json:"shapes"`
	InProcess []InProcess `json:"in_process,omitempty"`
}

// Publish is what publishing took.
type Publish struct {
	Took     time.Duration `json:"took"`
	CPU      time.Duration `json:"cpu"`
	PeakRSS  int64         `json:"peak_rss"`
	PeakAnon int64         `json:"peak_anon"`
	Bytes    int64         `json:"bytes"` // of the files it made
}

// Start is what a start of the server took.
type Start struct {
	FirstAnswer time.Duration `json:"first_answer"`
	RSS         int64         `json:"rss"`
	Anon        int64         `json:"anon"`
	File        int64         `json:"file"`
}

// Shape is how long a kind of query took.
type Shape struct {
	Name  string  `json:"name"`
	Title string  `json:"title"`
	Query string  `json:"query"`
	Total int     `json:"total"`
	One   Systems `json:"one"`  // with one connection
	Many  Systems `json:"many"` // with ManyConns
}

// ManyConns is the number of connections that keep a server busy.
const ManyConns = 16

// Systems are the figures of each server; nil: it was not measured.
type Systems struct {
	Herbarium *Measure `json:"herbarium,omitempty"`
	Peer      *Measure `json:"peer,omitempty"`
	Floor     *Measure `json:"floor,omitempty"`
}

// Measure is how a server did.
type Measure struct {
	Requests int           `json:"requests"`
	P50      time.Duration `json:"p50"`
	P99      time.Duration `json:"p99"`
	Rate     float64       `json:"rate"` // answers a second
	CPU      time.Duration `json:"cpu"`  // of the server, for one request
}

// Ceiling is the first page against a constant of the same size, with ManyConns.
type Ceiling struct {
	Bytes     int     `json:"bytes"`
	Herbarium Measure `json:"herbarium"`
	Floor     Measure `json:"floor"`
}

// Depth is how long a page took, by how far into the listing it is.
type Depth struct {
	Query   string  `json:"query"`
	Percent int     `json:"percent"`
	Page    int     `json:"page"`
	Systems Systems `json:"systems"`
}

// InProcess is how long the engine took without a server around it.
type InProcess struct {
	Name   string        `json:"name"`
	P50    time.Duration `json:"p50"`
	P99    time.Duration `json:"p99"`
	Allocs int           `json:"allocs"`
}

const resultsFile = "results.json"

// Read returns the results in a folder, none where there are none.
func Read(dir string) (Results, error) {
	var r Results
	content, err := os.ReadFile(filepath.Join(dir, resultsFile))
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(content, &r)
}

// Write puts the results into a folder: the figures, RESULTS.md and the plots.
func Write(dir string, r Results) error {
	figures, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, plotsDir), 0o755); err != nil {
		return err
	}
	files := plots(r)
	files[resultsFile] = append(figures, '\n')
	files["RESULTS.md"] = markdown(r)
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
