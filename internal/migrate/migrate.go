// Package migrate copies everything that one installation stores to another one, or to a dump in a folder.
//
// The content of an installation is a stream of entries in a fixed order: segments, keys, plants, idempotency keys and
// datasets (docs/format/dump.md). A Source yields the stream: a Snapshot reads it from a database, a DumpFile from a file.
// load writes it into a database. Datasets come last, so that a target never lists what it does not have.
package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/store"
)

// The phases of Migrate and Load.
const (
	PhaseCompare  = "comparing"
	PhaseSegments = "copying segments"
	PhaseLoad     = "loading"
	PhaseVerify   = "verifying"
)

// Options of Migrate, Dump and Load. The zero value copies everything and disables progress reports.
type Options struct {
	Check bool // only compare
	// Progress is called by one goroutine at a time.
	Progress func(progress.Progress)

	steps *progress.Reporter
}

// start returns options that report the phases of one operation.
func (o Options) start() Options {
	o.steps = progress.New(o.Progress, PhaseCompare, PhaseSegments, PhaseLoad, PhaseVerify)
	return o
}

// report reports how many plants a phase has processed.
func (o Options) report(phase string, done, total int) {
	o.steps.Update(phase, func(p *progress.Progress) { p.Done, p.Total, p.Records = int64(done), int64(total), done })
}

// Result describes what source and target have in common, and what is new in the target.
type Result struct {
	Plants, IdempotencyKeys, Keys, Datasets, Versions int
	Bytes                                             int64 // of segment files
	NewPlants, NewKeys, NewFiles                      int

	Hash    string   // of all entries; the same on both sides
	Changed []string // what has changed in the source since the copy began, such as "12 plants"
}

// copyAll loads everything of one installation into another.
func copyAll(ctx context.Context, from, to Installation, o Options) (Result, error) {
	source, err := TakeSnapshot(ctx, from)
	if err == nil {
		err = source.readSegments(ctx, o.Check, true)
	}
	if err != nil {
		return Result{}, fmt.Errorf("source: %w", err)
	}
	r, err := load(ctx, source, from.Files, to, o)
	if err == nil {
		r.Changed, err = source.Changed(ctx)
	}
	return r, err
}

// load writes the entries of a source, and its files, into an installation. It can be interrupted at any time and run
// again. What the target has already is compared first: if the source does not have it, the error has herb.CodeRefused
// and names the first difference, and nothing is changed. At the end, everything is read back from the target and
// compared.
func load(ctx context.Context, source Source, files Files, to Installation, o Options) (r Result, err error) {
	// Databases guarantee an idempotency key for a day and delete it after two. Older ones may go at any moment.
	in := Range{Plants: source.Plants(), Since: time.Now().Add(-36 * time.Hour)}
	if !o.Check {
		if err := addMissing(ctx, source, files, to, in, o, &r); err != nil {
			return r, err
		}
	}
	o.report(PhaseVerify, 0, 0)
	target, err := TakeSnapshot(ctx, to)
	if err == nil {
		err = target.readSegments(ctx, o.Check, false)
	}
	if err != nil {
		return r, fmt.Errorf("target: %w", err)
	}
	in.Plants = math.MaxInt // more plants in the target are a difference
	hash := sha256.New()
	err = merge(source.Entries(ctx, in), target.Entries(ctx, in), func(s, t Entry) error {
		if err := compareEqual(s, t); err != nil {
			return err
		}
		r.count(s)
		if _, ok := s.(*Plant); ok && r.Plants%pageSize == 0 {
			o.report(PhaseVerify, r.Plants, source.Plants())
		}
		_, err := fmt.Fprintln(hash, encode(s))
		return err
	})
	r.Hash = "sha256:" + hex.EncodeToString(hash.Sum(nil))
	return r, err
}

// addMissing compares what the target has and adds what it lacks.
func addMissing(ctx context.Context, source Source, files Files, to Installation, in Range, o Options, r *Result) error {
	o.report(PhaseCompare, 0, 0)
	had, err := TakeSnapshot(ctx, to)
	if err == nil {
		err = had.readSegments(ctx, false, false)
	}
	var retired []store.Retired
	if err == nil {
		retired, err = to.Store.Retired(ctx)
	}
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	if had.plants > in.Plants {
		return differs("the target has %s plants, the source %s", herb.Count(had.plants), herb.Count(in.Plants))
	}
	known := Range{Plants: had.plants, Since: in.Since}
	if err := merge(source.Entries(ctx, known), had.Entries(ctx, known), compareEarlier); err != nil {
		return err
	}
	l := &loader{
		files: files, to: to, had: had, retired: retired, total: in.Plants - had.plants, options: o, result: r,
	}
	o.report(PhaseSegments, 0, 0)
	err = merge(source.Entries(ctx, in), had.Entries(ctx, in), func(s, t Entry) error { return l.add(ctx, s, t) })
	if err == nil {
		err = l.flush(ctx)
	}
	if errors.Is(err, store.ErrSuperseded) {
		err = herb.Wrap(herb.CodeUnavailable, err, "another process writes to the target; stop it and run the command again")
	}
	return err
}

// count counts an entry.
func (r *Result) count(e Entry) {
	switch e := e.(type) {
	case *Segment:
		r.Bytes += e.Size
	case *Key:
		r.Keys++
	case *Plant:
		r.Plants++
	case *IdempotencyKey:
		r.IdempotencyKeys++
	case *Dataset:
		r.Datasets++
		r.Versions += len(e.Versions)
	}
}
