package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// Skipped describes a file of the source that cannot be read, and what is left out because of it.
type Skipped struct {
	Dataset string  `json:"dataset"`
	Version string  `json:"version"` // whose file cannot be read
	Omitted Omitted `json:"omitted"`
	Reason  string  `json:"reason"`
}

// Omitted is what is left out.
type Omitted string

// The values of Omitted.
const (
	OmittedDataset Omitted = "dataset" // the version is live; another one would be served without notice
	OmittedVersion Omitted = "version"
	OmittedSource  Omitted = "source"  // the version is copied, without its kept source
	OmittedNothing Omitted = "nothing" // the target has the file
)

// String describes the file in one line.
func (s Skipped) String() string {
	switch s.Omitted {
	case OmittedDataset:
		return fmt.Sprintf("%s is left out, because its live version %s cannot be read: %s", s.Dataset, s.Version, s.Reason)
	case OmittedVersion:
		return fmt.Sprintf("%s: version %s is left out: %s", s.Dataset, s.Version, s.Reason)
	case OmittedSource:
		return fmt.Sprintf("%s: the kept source of version %s is left out: %s", s.Dataset, s.Version, s.Reason)
	default:
		return fmt.Sprintf("%s: a file of version %s cannot be read, but the target has it: %s", s.Dataset, s.Version, s.Reason)
	}
}

// damage records the files of versions that cannot be read from a source.
type damage struct {
	reasons  map[string]error // by name of the file
	inTarget map[string]bool  // those that the target has, by name
}

func newDamage() damage { return damage{map[string]error{}, map[string]bool{}} }

// add records a file that cannot be read. A target, unless it is nil, may have the file from an
// earlier run.
func (d damage) add(ctx context.Context, f versionFile, reason error, target *Installation) error {
	d.reasons[f.name()] = reason
	if _, ok := errors.AsType[*mismatchError](reason); ok || target == nil {
		return nil
	}
	err := target.identify(ctx, f, io.Discard)
	d.inTarget[f.name()] = err == nil
	if err != nil && !target.isUnreadable(ctx, err) {
		return fmt.Errorf("target: %w", err)
	}
	return nil
}

// omits reports whether a file is left out because it cannot be read.
func (d damage) omits(name string) bool { return d.reasons[name] != nil && !d.inTarget[name] }

// trim returns a dataset without what cannot be read, nil if nothing of it can be copied.
func (d damage) trim(dataset *Dataset) *Dataset {
	trimmed := &Dataset{store.DatasetVersions{Ref: dataset.Ref, Live: dataset.Live, Withdrawn: dataset.Withdrawn}}
	for _, v := range dataset.Versions {
		if d.omits(store.SegmentFile(v.Version)) {
			continue
		}
		if v.Settings != nil && v.Settings.Kept != nil && d.omits(store.SourceFile(v.Version)) {
			settings := *v.Settings
			settings.Kept = nil
			v.Settings = &settings
		}
		trimmed.Versions = append(trimmed.Versions, v)
	}
	if !slices.Contains(trimmed.VersionNames(), trimmed.Live) {
		return nil
	}
	return trimmed
}

// omissions are what a copy leaves out because files cannot be read. It decides for Migrate, Backup
// and Restore alike.
type omissions struct {
	damage
	datasets map[herb.Ref]bool // that are left out
	copied   map[string]bool   // files that are not left out, by name
	skipped  []Skipped
}

// decideOmissions decides what is left out of datasets.
func decideOmissions(d damage, datasets []Entry) *omissions {
	o := &omissions{damage: d, datasets: map[herb.Ref]bool{}, copied: map[string]bool{}}
	for _, e := range datasets {
		o.decide(e.(*Dataset))
	}
	return o
}

func (o *omissions) decide(d *Dataset) {
	if trimmed := o.trim(d); trimmed != nil {
		for f := range trimmed.files() {
			o.copied[f.name()] = true
		}
	} else {
		o.datasets[d.Ref] = true
		if !slices.Contains(d.VersionNames(), d.Live) {
			o.skipped = append(o.skipped, Skipped{d.Ref.String(), d.Live, OmittedDataset, "the live version is missing"})
		}
	}
	for f := range d.files() {
		reason := o.reasons[f.name()]
		if reason == nil {
			continue
		}
		_, isSegment := f.(*Segment)
		omitted := OmittedVersion
		switch {
		case o.inTarget[f.name()]:
			omitted = OmittedNothing
		case !isSegment:
			omitted = OmittedSource
		case f.ofVersion() == d.Live:
			omitted = OmittedDataset
		}
		o.skipped = append(o.skipped, Skipped{d.Ref.String(), f.ofVersion(), omitted, reason.Error()})
	}
}

// files yields the files of all versions.
func (d *Dataset) files() iter.Seq[versionFile] {
	return func(yield func(versionFile) bool) {
		for _, v := range d.Versions {
			for _, f := range filesOf(v) {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// remaining yields entries without what is left out.
func (o *omissions) remaining(entries iter.Seq2[Entry, error]) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range entries {
			switch entry := e.(type) {
			case versionFile:
				if !o.copied[entry.name()] {
					continue
				}
			case *Dataset:
				trimmed := o.trim(entry)
				if trimmed == nil {
					continue
				}
				e = trimmed
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// exclude removes the datasets that are left out, which stay in a target as they are.
func (s *Snapshot) exclude(o *omissions) {
	files := map[string]bool{}
	s.datasets = slices.DeleteFunc(s.datasets, func(e Entry) bool {
		d := e.(*Dataset)
		if !o.datasets[d.Ref] {
			return false
		}
		for f := range d.files() {
			files[f.name()] = true
		}
		return true
	})
	omitted := func(e Entry) bool { return files[e.(versionFile).name()] }
	s.segments, s.sources = slices.DeleteFunc(s.segments, omitted), slices.DeleteFunc(s.sources, omitted)
}

// isUnreadable reports whether an error of reading a file is about that file alone. If an object
// store does not answer, no file can be read, and nothing is left out.
func (in Installation) isUnreadable(ctx context.Context, err error) bool {
	switch {
	case err == nil, ctx.Err() != nil:
		return false
	case in.Dir != "":
		return true
	}
	code := herb.CodeOf(err)
	return code == herb.CodeNotFound || code == herb.CodeRejected
}

// readSource reads the state of an installation and all its files, and calls addFile for each file
// that can be read, with its size. addFile may fail with herb.CodeNotFound. A target may have files
// that cannot be read; nil if there is none.
//
// Servers are not stopped: if a version is dropped and its file deleted before it is read, the
// state is read again. Files that were read before are not read twice. begin is called with each
// state, before its files are read.
func readSource(
	ctx context.Context, from Installation, target *Installation, addFile func(f versionFile, size int64) error, begin func(*Snapshot),
) (*Snapshot, *omissions, error) {
	read := map[string]herb.File{} // by name
	for last := newDamage(); ; {
		s, err := readState(ctx, from)
		if err != nil {
			return nil, nil, err
		}
		begin(s)
		damage, news := newDamage(), false
		err = s.addFiles(func(f versionFile) (bool, error) {
			if file, ok := read[f.name()]; ok {
				*f.file() = file
				return true, nil
			}
			size := &meter{ctx: ctx, report: func(int64, int64) {}}
			err := from.identify(ctx, f, size)
			unreadable := from.isUnreadable(ctx, err)
			if err == nil {
				err = addFile(f, size.done)
				unreadable = herb.CodeOf(err) == herb.CodeNotFound
			}
			switch {
			case unreadable:
				news = news || last.reasons[f.name()] == nil
				err = damage.add(ctx, f, fileError(err, f), target)
			case err == nil:
				read[f.name()] = *f.file()
			}
			return err == nil, err
		})
		if err != nil || !news {
			return s, decideOmissions(damage, s.datasets), err
		}
		last = damage
	}
}
