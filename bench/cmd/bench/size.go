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
	"herbarium/bench/internal/proc"
	"herbarium/bench/internal/report"
	"herbarium/bench/peer"
)

const (
	dataset  = "bench/items"
	listPath = "/api/v1/" + dataset + "/data"
)

// measureSize measures with n records and adds that to a run. The largest number of records gets the full programme.
func (b *bench) measureSize(ctx context.Context, n int, into *report.Run) (err error) {
	b.say("%d records: generating", n)
	csv, err := gen.File(ctx, b.data, b.seed, n)
	if err != nil {
		return err
	}
	size := report.Size{Records: n}
	if size.CSVBytes, err = treeSize(csv); err != nil {
		return err
	}
	folder := filepath.Join(b.scratch, strconv.Itoa(n))
	b.say("%d records: publishing", n)
	if size.Publish, err = b.publish(ctx, csv, folder); err != nil {
		return err
	}
	herbarium, first, err := startServer(ctx, "herbarium", listPath, b.server, "serve", "--data", folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, herbarium.stop(), os.RemoveAll(folder)) }()
	memory, err := proc.MemoryOf(herbarium.pid)
	if err != nil {
		return err
	}
	size.Start = report.Start{FirstAnswer: first, RSS: memory.RSS, Anon: memory.Anon, File: memory.File}

	s := servers{herbarium: herbarium}
	if !b.alone {
		if s.peer, size.PeerBytes, err = b.startPeer(ctx, csv); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.peer.stop()) }()
	}
	if n == b.records {
		err = b.measureFully(ctx, s, &size, into)
	} else {
		size.Shapes, err = b.measureShapes(ctx, s, false)
	}
	into.Sizes = append(into.Sizes, size)
	return err
}

// measureFully does what is done once in a run: all shapes with many connections and beside the floor, pages of every
// depth, and the engine in the process.
func (b *bench) measureFully(ctx context.Context, s servers, size *report.Size, into *report.Run) (err error) {
	if !b.alone {
		answer, err := fetch(ctx, s.herbarium, "")
		if err != nil {
			return err
		}
		s.floor, _, err = startServer(ctx, "floor", "/", b.peer, "-floor", strconv.Itoa(answer.bytes))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.floor.stop()) }()
		if into.Ceiling, err = b.measureCeiling(ctx, s, answer.bytes); err != nil {
			return err
		}
	}
	if size.Shapes, err = b.measureShapes(ctx, s, true); err != nil {
		return err
	}
	if into.Depths, err = b.measureDepths(ctx, s); err != nil {
		return err
	}
	if b.inProcess {
		b.say("in the process")
		size.InProcess, err = b.measureInProcess(ctx, size.Records)
	}
	return err
}

// publish times a publish from the outside.
func (b *bench) publish(ctx context.Context, csv, folder string) (report.Publish, error) {
	var memory proc.Memory
	watch := func(ctx context.Context, pid int) { memory = proc.Watch(ctx, pid) }
	start := time.Now()
	state, err := runProgram(ctx, watch, b.server, "publish", csv, "--as", dataset, "--data", folder)
	if err != nil {
		return report.Publish{}, err
	}
	p := report.Publish{
		Took: time.Since(start), CPU: state.UserTime() + state.SystemTime(), PeakRSS: memory.Peak, PeakAnon: memory.Anon,
	}
	p.Bytes, err = treeSize(filepath.Join(folder, "versions"))
	return p, err
}

// startPeer makes the peer's database unless an earlier run has, and serves it.
func (b *bench) startPeer(ctx context.Context, csv string) (*process, int64, error) {
	db := fmt.Sprintf("%s-%s.db", csv, peer.Fingerprint())
	if _, err := os.Stat(db); errors.Is(err, fs.ErrNotExist) {
		b.say("loading the peer")
		if _, err := runProgram(ctx, func(context.Context, int) {}, b.peer, "-load", csv, "-db", db); err != nil {
			return nil, 0, err
		}
	}
	size, err := treeSize(db)
	if err != nil {
		return nil, 0, err
	}
	p, _, err := startServer(ctx, "peer", "/", b.peer, "-db", db)
	return p, size, err
}

// treeSize is the size of a file, or of all files below a folder.
func treeSize(path string) (total int64, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
