// Package migrate copies everything that one installation stores to another one, or to a backup in a file or folder.
//
// The content of an installation is a stream of entries in a fixed order: segments, keys, plants, idempotency keys, the audit
// log and datasets (docs/format/backup.md). A Source yields the stream: a Snapshot reads it from a database, an EntryFile from
// a file.
// load writes it into a database. Datasets come last, so that a target never lists what it does not have.
package migrate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/store"
)

// The phases of Migrate, Backup and Restore.
const (
	PhaseCompare  = "comparing"
	PhaseSegments = "copying segments"
	PhaseLoad     = "loading"
	PhaseVerify   = "verifying"
	PhaseEntries  = "writing entries"
	PhaseRead     = "reading the backup"
)

// Options of Migrate, Backup and Restore. The zero value copies everything and disables progress reports.
type Options struct {
	Check   bool // only compare, or only verify the backup
	Replace bool // restore into a data folder that has data
	// Progress is called by one goroutine at a time.
	Progress func(progress.Progress)

	steps *progress.Reporter
}

// start returns options that report the phases of one operation.
func (o Options) start(phases ...string) Options {
	o.steps = progress.New(o.Progress, phases...)
	return o
}

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
	Bytes           int64 `json:"bytes"` // of segment files

	NewPlants int `json:"new_plants"`
	NewKeys   int `json:"new_keys"`
	NewFiles  int `json:"new_files"`

	Hash    string   `json:"hash,omitempty"`    // of all entries; the same on both sides
	Changed []string `json:"changed,omitempty"` // what has changed in the source since the copy began, such as "12 plants"
}

// loadPhases returns the phases of load.
func loadPhases() []string { return []string{PhaseCompare, PhaseSegments, PhaseLoad, PhaseVerify} }

// copyAll loads everything of one installation into another.
func copyAll(ctx context.Context, from, to Installation, o Options) (Result, error) {
	source, err := readSnapshot(ctx, from, o.Check, true)
	if err != nil {
		return Result{}, fmt.Errorf("source: %w", err)
	}
	r, err := load(ctx, source, from.Files, to, o)
	if err == nil {
		r.Changed, err = source.Changed(ctx)
	}
	return r, err
}

// load writes the entries of a source, and its files, into an installation. It can be interrupted and run again. The existing
// content of the target is compared first: if the source does not have it, nothing is changed and the error has
// herb.CodeRefused and names the first difference. At the end, everything is read back from the target and compared.
func load(ctx context.Context, source Source, files Files, to Installation, o Options) (r Result, err error) {
	// Databases guarantee an idempotency key for a day and delete it after two. Older ones may go at any moment.
	since := time.Now().Add(-36 * time.Hour)
	if !o.Check {
		if err := addMissing(ctx, source, files, to, since, o, &r); err != nil {
			return r, err
		}
	}
	o.report(PhaseVerify, 0, 0)
	target, err := readSnapshot(ctx, to, o.Check, false)
	if err != nil {
		return r, fmt.Errorf("target: %w", err)
	}
	hash := sha256.New()
	err = merge(source.Entries(ctx, since), target.Entries(ctx, since), func(s, t Entry) error {
		if _, ok := t.(*AuditEntry); ok && s == nil {
			return nil // of the target alone
		}
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
func addMissing(ctx context.Context, source Source, files Files, to Installation, since time.Time, o Options, r *Result) error {
	o.report(PhaseCompare, 0, 0)
	had, err := readSnapshot(ctx, to, false, false)
	var retired []store.Retired
	if err == nil {
		retired, err = to.Store.Retired(ctx)
	}
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	if had.plants > source.Plants() {
		return differs("the target has %s plants, the source %s", herb.Count(had.plants), herb.Count(source.Plants()))
	}
	if err := merge(source.Entries(ctx, since), had.Entries(ctx, since), compareEarlier); err != nil {
		return err
	}
	l := &loader{files: files, to: to, had: had, retired: retired, total: source.Plants() - had.plants, options: o, result: r}
	o.report(PhaseSegments, 0, 0)
	err = merge(source.Entries(ctx, since), had.Entries(ctx, since), func(s, t Entry) error { return l.add(ctx, s, t) })
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
	case *AuditEntry:
		r.AuditEntries++
	case *Dataset:
		r.Datasets++
		r.Versions += len(e.Versions)
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

// merge calls visit for the entries of two streams in their common order; an entry that one of them lacks is nil.
func merge(source, target iter.Seq2[Entry, error], visit func(s, t Entry) error) error {
	nextSource, stopSource := iter.Pull2(source)
	defer stopSource()
	nextTarget, stopTarget := iter.Pull2(target)
	defer stopTarget()
	s, sourceErr, _ := nextSource()
	t, targetErr, _ := nextTarget()
	for {
		if err := errors.Join(sourceErr, targetErr); err != nil || s == nil && t == nil {
			return err
		}
		order := compareOrder(s, t)
		var inSource, inTarget Entry
		if order <= 0 {
			inSource = s
			s, sourceErr, _ = nextSource()
		}
		if order >= 0 {
			inTarget = t
			t, targetErr, _ = nextTarget()
		}
		if err := visit(inSource, inTarget); err != nil {
			return err
		}
	}
}

// compareOrder compares the positions of two entries. nil is the end of a stream.
func compareOrder(a, b Entry) int {
	switch {
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	sectionA, idA := a.position()
	sectionB, idB := b.position()
	return cmp.Or(cmp.Compare(sectionA, sectionB), strings.Compare(idA, idB))
}

// differs returns the error for the first difference.
func differs(format string, args ...any) error {
	return herb.Errorf(herb.CodeRefused, "source and target differ: "+format, args...)
}

// compareEqual fails unless both sides have the same entry.
func compareEqual(s, t Entry) error {
	switch {
	case t == nil:
		return differs("%s is in the source but not in the target", s)
	case s == nil:
		return differs("%s is in the target but not in the source; remove it from the target if it is not needed", t)
	}
	if a, b := encode(s), encode(t); a != b {
		return differs("%s: %s", s, firstDifference(a, b))
	}
	return nil
}

// compareEarlier fails unless the target has an earlier state of the source, which can be completed without losing
// anything that exists only in the target.
func compareEarlier(s, t Entry) error {
	switch t := t.(type) {
	case nil:
		return nil
	case *Segment, *AuditEntry:
		if s == nil {
			return nil // a version that the source has dropped since, or an action on the target
		}
	case *Key:
		if k, ok := s.(*Key); ok && t.Revoked.IsZero() {
			active := *k // its revocation can be repeated in the target
			active.Revoked = time.Time{}
			s = &active
		}
	case *Dataset:
		if d, ok := s.(*Dataset); ok {
			return compareVersions(d, t)
		}
	}
	return compareEqual(s, t)
}

// compareVersions fails unless the target has an earlier state of a dataset: the source must have its newest version, and
// may have dropped older ones and added newer ones. Which version is live is decided by the source.
func compareVersions(s, t *Dataset) error {
	source, target := s.VersionNames(), t.VersionNames()
	common := slices.DeleteFunc(slices.Clone(target), func(v string) bool { return !slices.Contains(source, v) })
	if len(target) > 0 && !slices.Contains(common, target[len(target)-1]) || !slices.Equal(common, source[:len(common)]) {
		return differs("%s has the versions %s in the source and %s in the target; remove it from the target if it is not needed",
			s, strings.Join(source, ", "), strings.Join(target, ", "))
	}
	for i, v := range common {
		only := func(v herb.Dataset) Entry {
			return &Dataset{store.DatasetVersions{Ref: s.Ref, Versions: []herb.Dataset{v}}}
		}
		if err := compareEqual(only(s.Versions[i]), only(t.Versions[slices.Index(target, v)])); err != nil {
			return err
		}
	}
	return nil
}

// firstDifference shows where two encoded entries begin to differ.
func firstDifference(a, b string) string {
	const before, most = 20, 60
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	excerpt := func(s string) string { return strings.ToValidUTF8(s[max(0, i-before):min(len(s), i+most)], "") }
	return fmt.Sprintf("…%s… in the source, …%s… in the target", excerpt(a), excerpt(b))
}
