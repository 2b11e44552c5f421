//go:build linux

package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"herbarium/bench/gen"
	"herbarium/bench/internal/report"
	"herbarium/bench/peer"
	"herbarium/bench/shapes"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// dataset is the name of the dataset in Herbarium.
const dataset = "bench/items"

// measureSize measures with n records. The largest number of records is measured with more
// connections, expensive shapes and random requests, too.
func (b *bench) measureSize(t *testing.T, n int) {
	csv, err := gen.File(t.Context(), b.data, b.seed, n)
	must.NoError(t, err)
	folder := filepath.Join(b.scratch, strconv.Itoa(n))
	b.publish(t, csv, folder, n)
	start := time.Now()
	herbarium := startServer(t, "herbarium", b.server, "serve", "--data", folder)
	first := time.Since(start)
	memory, err := programtest.MemoryOf(herbarium.PID())
	must.NoError(t, err)
	b.report.Add(fmt.Sprintf("Start/n=%d", n), 1, report.Nanoseconds(first, "ns/op"), report.Bytes(memory.RSS, "rss-B"),
		report.Bytes(memory.Anon, "anon-B"))
	s := servers{herbarium: herbarium}
	if !b.alone {
		s.peer = startPeer(t, csv)
	}
	serve := fmt.Sprintf("Serve/n=%d", n)
	if n != b.records {
		b.measureShapes(t, s, serve, shapes.All(), false)
		return
	}
	page, err := herbarium.fetch(t.Context(), shapes.Shape{})
	must.NoError(t, err)
	s.constant = startServer(t, "constant", os.Args[0], peerCommand, "-constant", strconv.Itoa(page.size))
	t.Log("random requests")
	b.measureRandom(t, s, n, folder)
	if b.randomOnly {
		return
	}
	// It takes longer than the rest because the difference is small.
	t.Log("first page against a constant")
	two := servers{herbarium: herbarium, constant: s.constant}
	b.compare(t, two, fmt.Sprintf("Ceiling/n=%d/conns=%d", n, manyConns), shapes.Shape{}, manyConns, 4*turns)
	b.measureShapes(t, s, serve, shapes.All(), true)
	b.measureShapes(t, two, fmt.Sprintf("Cliff/n=%d", n), shapes.Cliffs(), true)
}

// publish measures a publish from the outside.
func (b *bench) publish(t *testing.T, csv, folder string, n int) {
	t.Log("publishing")
	cmd := exec.CommandContext(t.Context(), b.server, "publish", csv, "--as", dataset, "--data", folder)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	start := time.Now()
	must.NoError(t, cmd.Start())
	watching, stop := context.WithCancel(t.Context())
	watched := make(chan programtest.Memory)
	go func() { watched <- programtest.WatchMemory(watching, cmd.Process.Pid) }()
	err := cmd.Wait()
	took := time.Since(start)
	stop()
	memory := <-watched
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, output.Bytes())
	}
	b.report.Add(fmt.Sprintf("Publish/n=%d", n), 1, report.Nanoseconds(took, "ns/op"),
		report.Nanoseconds(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), "cpu-ns/op"),
		report.Bytes(memory.Peak, "peak-rss-B"),
		report.Bytes(memory.Anon, "peak-anon-B"), report.Bytes(sizeOf(t, csv), "csv-B"),
		report.Bytes(sizeOf(t, filepath.Join(folder, "versions", "*")), "segment-B"))
}

// startPeer serves the database of the peer, which it builds unless an earlier run has.
func startPeer(t *testing.T, csv string) *process {
	db := fmt.Sprintf("%s-%s.db", csv, peer.Fingerprint())
	if _, err := os.Stat(db); errors.Is(err, fs.ErrNotExist) {
		t.Log("loading the peer")
		must.NoError(t, peer.Load(t.Context(), csv, db))
	}
	return startServer(t, "sqlite", os.Args[0], peerCommand, "-db", db)
}

// sizeOf returns the size of all files that match a pattern.
func sizeOf(t *testing.T, pattern string) (total int64) {
	files, err := filepath.Glob(pattern)
	must.NoError(t, err)
	for _, name := range files {
		info, err := os.Stat(name)
		must.NoError(t, err)
		total += info.Size()
	}
	return total
}
