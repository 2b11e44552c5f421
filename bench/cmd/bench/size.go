package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"herbarium/bench/gen"
	"herbarium/bench/internal/report"
	"herbarium/bench/peer"
	"herbarium/bench/shapes"
	"herbarium/internal/programtest"
)

// dataset is the name of the dataset in Herbarium.
const dataset = "bench/items"

// measureSize measures with n records. The largest number of records is measured with more connections, expensive shapes and random requests, too.
func (b *bench) measureSize(ctx context.Context, n int) (err error) {
	b.say("%d records: generating", n)
	csv, err := gen.File(ctx, b.data, b.seed, n)
	if err != nil {
		return err
	}
	folder := filepath.Join(b.scratch, strconv.Itoa(n))
	if err := b.publish(ctx, csv, folder, n); err != nil {
		return err
	}
	herbarium, first, err := startServer(ctx, "herbarium", b.server, "serve", "--data", folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, herbarium.Stop(), os.RemoveAll(folder)) }()
	memory, err := programtest.MemoryOf(herbarium.PID())
	if err != nil {
		return err
	}
	b.report.Add(fmt.Sprintf("Start/n=%d", n), 1, report.Nanoseconds(first, "ns/op"), report.Bytes(memory.RSS, "rss-B"),
		report.Bytes(memory.Anon, "anon-B"))
	s := servers{herbarium: herbarium}
	if !b.alone {
		if s.peer, err = b.startPeer(ctx, csv); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.peer.Stop()) }()
	}
	serve := fmt.Sprintf("Serve/n=%d", n)
	if n != b.records {
		return b.measureShapes(ctx, s, serve, shapes.All(), false)
	}
	page, err := herbarium.fetch(ctx, shapes.Shape{})
	if err != nil {
		return err
	}
	if s.constant, _, err = startServer(ctx, "constant", b.peer, peerCommand, "-constant", strconv.Itoa(page.size)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.constant.Stop()) }()
	b.say("random requests")
	if err := b.measureRandom(ctx, s, n, folder); err != nil || b.only {
		return err
	}
	// It takes longer than the rest because the difference is small.
	b.say("first page against a constant")
	two := servers{herbarium: herbarium, constant: s.constant}
	if _, err := b.compare(ctx, two, fmt.Sprintf("Ceiling/n=%d/conns=%d", n, manyConns), shapes.Shape{}, manyConns, 4*turns); err != nil {
		return err
	}
	if err := b.measureShapes(ctx, s, serve, shapes.All(), true); err != nil {
		return err
	}
	return b.measureShapes(ctx, two, fmt.Sprintf("Cliff/n=%d", n), shapes.Cliffs(), true)
}

// publish measures a publish from the outside.
func (b *bench) publish(ctx context.Context, csv, folder string, n int) error {
	b.say("%d records: publishing", n)
	start := time.Now()
	state, memory, err := runProgram(ctx, b.server, "publish", csv, "--as", dataset, "--data", folder)
	if err != nil {
		return err
	}
	took := time.Since(start)
	source, err1 := sizeOf(csv)
	segment, err2 := sizeOf(filepath.Join(folder, "versions", "*"))
	b.report.Add(fmt.Sprintf("Publish/n=%d", n), 1, report.Nanoseconds(took, "ns/op"),
		report.Nanoseconds(state.UserTime()+state.SystemTime(), "cpu-ns/op"), report.Bytes(memory.Peak, "peak-rss-B"),
		report.Bytes(memory.Anon, "peak-anon-B"), report.Bytes(source, "csv-B"), report.Bytes(segment, "segment-B"))
	return errors.Join(err1, err2)
}

// startPeer serves the database of the peer, which it builds unless an earlier run has.
func (b *bench) startPeer(ctx context.Context, csv string) (*process, error) {
	db := fmt.Sprintf("%s-%s.db", csv, peer.Fingerprint())
	if _, err := os.Stat(db); errors.Is(err, fs.ErrNotExist) {
		b.say("loading the peer")
		if err := peer.Load(ctx, csv, db); err != nil {
			return nil, err
		}
	}
	p, _, err := startServer(ctx, "sqlite", b.peer, peerCommand, "-db", db)
	return p, err
}

// sizeOf returns the size of all files that match a pattern.
func sizeOf(pattern string) (total int64, err error) {
	files, err := filepath.Glob(pattern)
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return 0, err
		}
		total += info.Size()
	}
	return total, err
}
