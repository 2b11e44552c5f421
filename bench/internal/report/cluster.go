package report

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// Cluster is what was measured of several nodes.
type Cluster struct {
	Machine   Machine         `json:"machine"`
	Seconds   float64         `json:"seconds"` // for each figure
	Seed      uint64          `json:"seed"`
	Records   int             `json:"records"`
	Bytes     int64           `json:"bytes"` // of the segment
	Listings  []NodesListing  `json:"listings"`
	Memory    []NodeMemory    `json:"memory"`  // of each node
	Listing   Polls           `json:"listing"` // while listings were answered
	Idle      Polls           `json:"idle"`    // while nothing was asked
	Creations []NodesCreation `json:"creations"`
	Switches  []Switch        `json:"switches"`
	Fetches   []Fetch         `json:"fetches"` // by nodes that had nothing
	Plain     []time.Duration `json:"plain"`   // the same object, read by a client that writes it to a file
}

// NodesListing is how a kind of query was answered by so many nodes.
type NodesListing struct {
	Name     string        `json:"name"`
	Title    string        `json:"title"`
	Query    string        `json:"query"`
	Total    int           `json:"total"`
	Nodes    int           `json:"nodes"`
	Answers  Measure       `json:"answers"`  // its CPU is that of all nodes
	Bytes    int64         `json:"bytes"`    // of one body
	Database time.Duration `json:"database"` // CPU for one request
}

// NodeMemory is what a node holds.
type NodeMemory struct {
	Start int64 `json:"start"` // of its own, before it was asked for anything
	Own   int64 `json:"own"`   // after listings and creations
	File  int64 `json:"file"`  // pages of mapped files, at the same time
}

// Polls is what the database did for nodes in some time.
type Polls struct {
	Nodes        int           `json:"nodes"`
	Took         time.Duration `json:"took"`
	Requests     int           `json:"requests"` // answered by the nodes meanwhile
	Transactions int           `json:"transactions"`
	Database     time.Duration `json:"database"` // CPU
	NodeCPU      time.Duration `json:"node_cpu"` // of all nodes
}

// NodesCreation is how plants were created, through so many nodes, and by INSERT over as many connections to the database.
type NodesCreation struct {
	Callers       int           `json:"callers"`
	Nodes         int           `json:"nodes"`
	Conns         int           `json:"conns"`    // to the database
	Standby       bool          `json:"standby"`  // a synchronous one
	Plants        Measure       `json:"plants"`   // its CPU is that of all nodes
	Database      time.Duration `json:"database"` // CPU for one plant, that of a standby included
	Floor         Measure       `json:"floor"`
	FloorDatabase time.Duration `json:"floor_database"`
}

// Switch is how nodes followed publishes of a size.
type Switch struct {
	Records int             `json:"records"`
	Bytes   int64           `json:"bytes"`
	Nodes   int             `json:"nodes"`
	First   []time.Duration `json:"first"` // from the end of each publish until one node listed it
	All     []time.Duration `json:"all"`   // until all did
}

// Fetch is how a node got a segment that it did not have.
type Fetch struct {
	Bytes int64         `json:"bytes"`
	Took  time.Duration `json:"took"` // from the first request to its answer
	CPU   time.Duration `json:"cpu"`  // of the node
}

const clusterFile = "cluster.json"

// ReadCluster returns the figures of a cluster in a folder, nil where there are none.
func ReadCluster(dir string) (*Cluster, error) {
	content, err := os.ReadFile(filepath.Join(dir, clusterFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := new(Cluster)
	return c, json.Unmarshal(content, c)
}

// WriteCluster puts the figures of a cluster into a folder: as they are, and as CLUSTER.md.
func WriteCluster(dir string, c *Cluster) error {
	figures, err := json.MarshalIndent(c, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, clusterFile), append(figures, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, "CLUSTER.md"), clusterPage(c), 0o644),
	)
}
