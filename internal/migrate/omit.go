package migrate

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"herbarium/internal/herb"
)

// Skipped describes a version that is left out because a file of it cannot be read.
type Skipped struct {
	Dataset string  `json:"dataset"`
	Version string  `json:"version"`
	Omitted Omitted `json:"omitted"`
	Reason  string  `json:"reason"`
}

// Omitted is what is left out.
type Omitted string

// The values of Omitted.
const (
	OmittedDataset Omitted = "dataset" // the version is live; another one would be served without notice
	OmittedVersion Omitted = "version"
)

// String describes what is left out in one line.
func (s Skipped) String() string {
	if s.Omitted == OmittedDataset {
		return fmt.Sprintf("%s is left out, because its live version %s cannot be read: %s", s.Dataset,
			s.Version, s.Reason)
	}
	return fmt.Sprintf("%s: version %s is left out: %s", s.Dataset, s.Version, s.Reason)
}

// damage is why versions of a source cannot be read, by version.
type damage map[string]error

// add records a version with a file that cannot be read. The reason of its first such file counts.
func (d damage) add(version string, reason error) {
	if d[version] == nil {
		d[version] = reason
	}
}

// trim returns a dataset without the versions that cannot be read, nil if the live one is among
// them.
func (d damage) trim(dataset *Dataset) *Dataset {
	trimmed := *dataset
	trimmed.Versions = slices.DeleteFunc(slices.Clone(dataset.Versions),
		func(v herb.Dataset) bool { return d[v.Version] != nil })
	if !slices.Contains(trimmed.VersionNames(), trimmed.Live) {
		return nil
	}
	return &trimmed
}

// omissions are what a copy leaves out because files cannot be read. It decides for Migrate, Backup
// and Restore alike.
type omissions struct {
	damage
	copied  map[string]bool // files that are not left out, by name
	skipped []Skipped
}

// decideOmissions decides what is left out of datasets.
func decideOmissions(d damage, datasets []Entry) *omissions {
	o := &omissions{damage: d, copied: map[string]bool{}}
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
	} else if !slices.Contains(d.VersionNames(), d.Live) {
		o.skipped = append(o.skipped, Skipped{d.Ref.String(), d.Live, OmittedDataset, "the live version is missing"})
	}
	for _, v := range d.VersionNames() {
		reason, omitted := o.damage[v], OmittedVersion
		if reason == nil {
			continue
		}
		if v == d.Live {
			omitted = OmittedDataset
		}
		o.skipped = append(o.skipped, Skipped{d.Ref.String(), v, omitted, reason.Error()})
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
// that can be read, with its size. addFile may fail with herb.CodeNotFound.
//
// Servers are not stopped: if a version is dropped and its file deleted before it is read, the
// state is read again. Files that were read before are not read twice. begin is called with each
// state, before its files are read.
func readSource(
	ctx context.Context, from Installation, addFile func(f versionFile, size int64) error, begin func(*Snapshot),
) (*Snapshot, *omissions, error) {
	read := map[string]herb.File{} // by name
	for last := (damage{}); ; {
		s, err := readState(ctx, from)
		if err != nil {
			return nil, nil, err
		}
		begin(s)
		damaged, news := damage{}, false
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
			if unreadable {
				news = news || last[f.ofVersion()] == nil
				damaged.add(f.ofVersion(), fileError(err, f))
				return false, nil
			}
			if err == nil {
				read[f.name()] = *f.file()
			}
			return err == nil, err
		})
		if err != nil || !news {
			return s, decideOmissions(damaged, s.datasets), err
		}
		last = damaged
	}
}
