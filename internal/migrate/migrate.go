// Package migrate copies everything that one installation stores to another one, or to a dump in a folder.
//
// The content of an installation is a stream of entries in a fixed order: segments, keys, plants, idempotency keys and
// datasets (docs/format/dump.md). A Source yields the stream: a Snapshot reads it from a database, a Dump from a file.
// Load writes it into a database. Datasets come last, so that a target never lists what it does not have.
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
	"herbarium/internal/store"
)

// The phases of Copy and Load.
const (
	PhaseCompare  = "comparing"
	PhaseSegments = "copying segments"
	PhaseLoad     = "loading"
	PhaseVerify   = "verifying"
)

// Phases returns the phases in their order.
func Phases() []string { return []string{PhaseCompare, PhaseSegments, PhaseLoad, PhaseVerify} }

// Progress reports how far a phase is.
type Progress struct {
	Phase       string
	Done, Total int64 // plants, or bytes of one file
	Bytes       bool
}

// Options of Copy and Load. The zero value copies everything and disables progress reports.
type Options struct {
	Check    bool // only compare
	Progress func(Progress)
}

func (o Options) report(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}

// Result describes what source and target have in common, and what is new in the target.
type Result struct {
	Plants, IdempotencyKeys, Keys, Datasets, Versions int
	Bytes                                             int64 // of segment files
	NewPlants, NewKeys, NewFiles                      int

	Hash    string   // of all entries; the same on both sides
	Changed []string // what has changed in the source since the copy began, such as "12 plants"
}

// Copy loads everything of one installation into another.
func Copy(ctx context.Context, from, to Installation, o Options) (Result, error) {
	source, err := TakeSnapshot(ctx, from)
	if err == nil {
		err = source.readSegments(ctx, o.Check, true)
	}
	if err != nil {
		return Result{}, fmt.Errorf("source: %w", err)
	}
	r, err := Load(ctx, source, from.Files, to, o)
	if err == nil {
		r.Changed, err = source.Changed(ctx)
	}
	return r, err
}

// Load writes the entries of a source, and its files, into an installation. It can be interrupted at any time and run
// again. What the target has already is compared first: if the source does not have it, the error has herb.CodeRefused
// and names the first difference, and nothing is changed. At the end, everything is read back from the target and
// compared.
func Load(ctx context.Context, source Source, files Files, to Installation, o Options) (r Result, err error) {
	// Databases guarantee an idempotency key for a day and delete it after two. Older ones may go at any moment.
	in := Range{Plants: source.Plants(), Since: time.Now().Add(-36 * time.Hour)}
	if !o.Check {
		if err := load(ctx, source, files, to, in, o, &r); err != nil {
			return r, err
		}
	}
	o.report(Progress{Phase: PhaseVerify})
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
			o.report(Progress{Phase: PhaseVerify, Done: int64(r.Plants), Total: int64(source.Plants())})
		}
		_, err := fmt.Fprintln(hash, encode(s))
		return err
	})
	r.Hash = "sha256:" + hex.EncodeToString(hash.Sum(nil))
	return r, err
}

// load compares what the target has and adds what it lacks.
func load(ctx context.Context, source Source, files Files, to Installation, in Range, o Options, r *Result) error {
	o.report(Progress{Phase: PhaseCompare})
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
	o.report(Progress{Phase: PhaseSegments})
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
