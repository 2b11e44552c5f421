// Package migrate copies everything that one installation stores to another one, or to a backup in
// a file or folder.
//
// The content of an installation is a stream of entries in a fixed order: segments, kept sources,
// keys, plants, idempotency keys, the audit log and datasets (docs/format/backup.md). A Snapshot
// reads it from a database, an EntryFile from a file; load writes it into a database. Datasets come
// last, so that a target never lists what it does not have.
package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/progress"
)

// The phases of Migrate, Backup and Restore.
const (
	PhaseCompare  = "comparing"
	PhaseSegments = "copying files"
	PhaseLoad     = "loading"
	PhaseVerify   = "verifying"
	PhaseEntries  = "writing entries"
	PhaseRead     = "reading the backup"
)

// Options of Migrate, Backup and Restore. The zero value copies everything and disables progress
// reports.
type Options struct {
	Check   bool // only compare, or only verify the backup
	Replace bool // restore into a data folder that has data
	// Progress is called by one goroutine at a time.
	Progress func(progress.Progress)
	// Upgraded is called after the schema of an existing database was upgraded. nil disables it.
	Upgraded func(from, to int)

	readOnly bool // nothing is written to an installation
	steps    *progress.Reporter
	files    *fileProgress // of PhaseSegments
}

// begin prepares the reports of an operation with phases.
func (o *Options) begin(phases ...string) {
	o.steps = progress.New(o.Progress, phases...)
	o.files = &fileProgress{report: o.steps.Bytes(PhaseSegments)}
}

// fileProgress reports how many bytes of all files were copied.
type fileProgress struct {
	report      func(done, total int64)
	done, total int64
}

// next returns a function that reports the progress of the next file, which has a number of bytes,
// in any unit. The file counts as copied when it is called with an equal done and total.
func (p *fileProgress) next(size int64) func(done, total int64) {
	return func(done, total int64) {
		if done >= total {
			p.done += size
			p.report(p.done, p.total)
			return
		}
		p.report(p.done+int64(float64(size)*float64(done)/float64(total)), p.total)
	}
}

// keepSchema reports whether databases must not be upgraded.
func (o Options) keepSchema() bool { return o.Check || o.readOnly }

// report reports how many plants a phase has processed.
func (o Options) report(phase string, done, total int) {
	o.steps.Update(phase, func(p *progress.Progress) { p.Done, p.Total, p.Records = int64(done), int64(total), done })
}

// Result describes what source and target have in common, and what is new in the target.
type Result struct {
	Plants          int   `json:"plants"`
	IdempotencyKeys int   `json:"idempotency_keys"`
	Keys            int   `json:"keys"`
	AuditEntries    int   `json:"audit_entries"`
	Datasets        int   `json:"datasets"`
	Versions        int   `json:"versions"`
	Sources         int   `json:"sources"` // files that are kept with versions
	Bytes           int64 `json:"bytes"`   // of segment files

	Rebuilds int `json:"rebuilds,omitempty"` // segments of a backup whose index the server has to rebuild

	NewPlants int `json:"new_plants"`
	NewKeys   int `json:"new_keys"`
	NewFiles  int `json:"new_files"`

	// LeftOut is what the source has and is never copied.
	LeftOut LeftOut `json:"left_out,omitzero"`

	// Skipped has the files that cannot be read. If there are any, the copy is not complete, or the
	// source is damaged.
	Skipped []Skipped `json:"skipped,omitempty"`

	Hash string `json:"hash,omitempty"` // of all entries; the same on both sides
	// what has changed in the source since the copy began, such as "12 plants"
	Changed []string `json:"changed,omitempty"`

	Unrecorded error `json:"-"` // why a complete backup could not be recorded in the audit log; nil if it was
}

// LeftOut counts what an installation has and neither a backup nor a migration copies: webhooks, so
// that a copy sends no events, and drafts.
type LeftOut struct {
	Webhooks int `json:"webhooks,omitempty"`
	Drafts   int `json:"drafts,omitempty"`
}

// String lists what is left out, such as "2 webhooks and 1 draft".
func (l LeftOut) String() string {
	var parts []string
	if l.Webhooks > 0 {
		parts = append(parts, herb.Plural(l.Webhooks, "webhook", "webhooks"))
	}
	if l.Drafts > 0 {
		parts = append(parts, herb.Plural(l.Drafts, "draft", "drafts"))
	}
	return strings.Join(parts, " and ")
}

// countLeftOut counts what an installation has and is never copied.
func countLeftOut(ctx context.Context, s Store) (LeftOut, error) {
	webhooks, err := s.Webhooks(ctx)
	if err != nil {
		return LeftOut{}, err
	}
	drafts, err := s.DraftIDs(ctx, time.Unix(0, 0))
	return LeftOut{len(webhooks), len(drafts)}, err
}

// load writes the entries of a source, and its files, into an empty installation. At the end,
// everything is read back from it and compared. With o.Check, it only compares. An error about the
// content of the target has herb.CodeRejected: before anything is written if the target is not
// empty, and with the first difference after the copy.
func load(ctx context.Context, source Source, to Installation, o Options) (r Result, err error) {
	r.Skipped = source.Omitted.skipped
	all := source.Entries
	source.Entries = func(ctx context.Context, since time.Time) iter.Seq2[Entry, error] {
		return source.Omitted.remaining(all(ctx, since))
	}
	// Databases guarantee an idempotency key for a day and delete it after two. Older ones may go
	// at any moment.
	since := time.Now().Add(-36 * time.Hour)
	if !o.Check {
		if err := addAll(ctx, source, to, since, o, &r); err != nil {
			return r, err
		}
	}
	o.report(PhaseVerify, 0, 0)
	target, err := readSnapshot(ctx, to, o.Check)
	if err != nil {
		return r, fmt.Errorf("target: %w", err)
	}
	hash := sha256.New()
	err = merge(r.counted(source.Entries(ctx, since), o, PhaseVerify, source.Plants), target.Entries(ctx, since),
		func(s, t Entry) error {
			if _, ok := t.(*AuditEntry); ok && s == nil {
				return nil // of the target alone
			}
			if err := compareEqual(s, t); err != nil {
				return err
			}
			_, err := fmt.Fprintln(hash, encode(s))
			return err
		})
	r.Hash = "sha256:" + hex.EncodeToString(hash.Sum(nil))
	return r, err
}

// addAll writes all entries and their files to a target, which must be empty.
func addAll(ctx context.Context, source Source, to Installation, since time.Time, o Options, r *Result) error {
	o.report(PhaseCompare, 0, 0)
	had, err := readState(ctx, to)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	if had.plants+len(had.keys)+len(had.datasets) > 0 {
		return herb.Errorf(herb.CodeRejected,
			"the target has data (%s, %s, %s); use an empty one. If an interrupted run has left it, "+
				"delete it and run the command again", herb.Plural(had.plants, "plant", "plants"),
			herb.Plural(len(had.keys), "key", "keys"),
			herb.Plural(len(had.datasets), "dataset", "datasets"))
	}
	for e, err := range source.Entries(ctx, since) {
		f, ok := e.(versionFile)
		if err != nil || !ok { // files come first
			break
		}
		o.files.total += f.file().Size
	}
	o.files.report(0, o.files.total)
	l := &loader{source: source, to: to, options: o, result: r}
	for e, err := range source.Entries(ctx, since) {
		if err == nil {
			err = l.add(ctx, e)
		}
		if err != nil {
			return l.loadError(err)
		}
	}
	return l.loadError(l.flush(ctx))
}

func (r *Result) count(e Entry) {
	switch e := e.(type) {
	case *Segment:
		r.Bytes += e.Size
	case *KeptSource:
		r.Sources++
	case *Key:
		r.Keys++
	case *Plant:
		r.Plants++
	case *IdempotencyKey:
		r.IdempotencyKeys++
	case *AuditEntry:
		r.AuditEntries++
	case *Dataset:
		r.Datasets++
		r.Versions += len(e.Versions)
	}
}

// counted yields entries, counts them and reports how many plants there were.
func (r *Result) counted(entries iter.Seq2[Entry, error], o Options, phase string, plants int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range entries {
			r.count(e)
			if _, ok := e.(*Plant); ok && r.Plants%pageSize == 0 {
				o.report(phase, r.Plants, plants)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// encode returns the canonical form of an entry. Two entries are the same if it is equal.
func encode(e Entry) string {
	b, err := json.Marshal(e.normalized())
	if err != nil {
		panic(err) // entries consist of strings, numbers, times and JSON that was read from a database
	}
	return string(b)
}
