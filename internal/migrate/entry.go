package migrate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// Entry is one line of a backup.
type Entry interface {
	fmt.Stringer                        // names the entry in errors, as in "plant 3"
	position() (section int, id string) // in the stream, ascending; no two entries have the same
	normalized() any                    // what must be equal on both sides
}

// Section describes a section of a backup.
type Section struct {
	Name  string
	Since int          // FormatVersion that has added it
	New   func() Entry // for decoding
}

// The positions of Sections.
const (
	segments = iota
	sources
	keys
	plants
	idempotencyKeys
	audit
	datasets
)

// Sections returns the sections in the order in which they are written and loaded. To add one,
// raise FormatVersion, declare an Entry, list it here, yield it in Snapshot.Entries and write it in
// loader.add.
func Sections() []Section {
	return []Section{
		segments:        {"segments", 1, func() Entry { return &Segment{} }},
		sources:         {"sources", 2, func() Entry { return &KeptSource{} }},
		keys:            {"keys", 1, func() Entry { return &Key{} }},
		plants:          {"plants", 1, func() Entry { return &Plant{} }},
		idempotencyKeys: {"idempotency_keys", 1, func() Entry { return &IdempotencyKey{} }},
		audit:           {"audit", 1, func() Entry { return &AuditEntry{} }},
		datasets:        {"datasets", 1, func() Entry { return &Dataset{} }},
	}
}

// versionFile is an entry for a file of a version. The file itself is not part of the stream.
type versionFile interface {
	Entry
	name() string      // of the file, in an installation and in a backup
	file() *herb.File  // what newContentHash must compute; zero if it is not known yet
	ofVersion() string // the version
}

// isKnown reports whether it is known what the file must be.
func isKnown(f versionFile) bool { return *f.file() != herb.File{} }

// backupPath returns the path of a file in a backup.
func backupPath(f versionFile) string { return segmentsDir + "/" + f.name() }

// filesOf returns the files of a version.
func filesOf(v herb.Dataset) []versionFile {
	s := &Segment{Version: v.Version}
	if v.File != nil {
		s.File = herb.File{Size: v.File.Size, SHA256: v.File.SHA256}
	}
	if v.Settings == nil || v.Settings.Kept == nil {
		return []versionFile{s}
	}
	kept := v.Settings.Kept
	return []versionFile{s, &KeptSource{v.Version, herb.File{Size: kept.Size, SHA256: kept.SHA256}}}
}

// Segment identifies the segment file of a version.
type Segment struct {
	Version string `json:"version"`
	herb.File
}

func (s *Segment) position() (int, string) { return segments, s.Version }
func (s *Segment) normalized() any         { return s }
func (s *Segment) String() string          { return "segment " + s.Version }
func (s *Segment) name() string            { return store.SegmentFile(s.Version) }
func (s *Segment) file() *herb.File        { return &s.File }
func (s *Segment) ofVersion() string       { return s.Version }

// KeptSource identifies the source that is kept with a version. Size and hash are those of its
// original bytes, which the catalogue has, so that nothing needs to be read to compare two
// installations.
type KeptSource struct {
	Version string `json:"version"`
	herb.File
}

func (s *KeptSource) position() (int, string) { return sources, s.Version }
func (s *KeptSource) normalized() any         { return s }
func (s *KeptSource) String() string          { return "source " + s.Version }
func (s *KeptSource) name() string            { return store.SourceFile(s.Version) }
func (s *KeptSource) file() *herb.File        { return &s.File }
func (s *KeptSource) ofVersion() string       { return s.Version }

// Key is a key without its secret.
type Key struct{ herb.Key }

func (k *Key) position() (int, string) { return keys, k.ID }
func (k *Key) String() string          { return fmt.Sprintf("key %s (%s)", k.ID, k.Name) }

// normalized omits the last use, which changes during a migration, and the time of the revocation,
// because a key may have been revoked on both sides.
func (k *Key) normalized() any {
	n := k.Key
	n.Name, n.LastUsed = portable(n.Name), time.Time{}
	return struct {
		herb.Key
		Revoked bool `json:"revoked"`
	}{n, !k.Revoked.IsZero()}
}

// Plant is a plant with its number in creation order, from 1.
type Plant struct {
	Number int   `json:"number"`
	ID     int64 `json:"id"`
	herb.Plant
}

func (p *Plant) position() (int, string) { return plants, fmt.Sprintf("%020d", p.Number) }
func (p *Plant) normalized() any         { return p }
func (p *Plant) String() string          { return fmt.Sprintf("plant %d", p.Number) }

// IdempotencyKey is an idempotency key and the plant that was created with it.
type IdempotencyKey struct{ store.IdempotencyRecord }

func (k *IdempotencyKey) position() (int, string) {
	return idempotencyKeys, k.Credential + "\x00" + k.Key
}
func (k *IdempotencyKey) normalized() any { return k }
func (k *IdempotencyKey) String() string {
	return fmt.Sprintf("idempotency key %q of credential %q", k.Key, k.Credential)
}

// AuditEntry is an entry of the audit log.
type AuditEntry struct{ herb.AuditEntry }

// position consists of all members, so that entries are found in the logs of both sides.
func (e *AuditEntry) position() (int, string) {
	id := fmt.Sprintf("%020d", e.Time.UnixMicro())
	return audit, portable(strings.Join([]string{id, string(e.Action), e.Subject, e.Actor, e.Origin, string(e.Result),
		e.Detail}, "\x01"))
}

func (e *AuditEntry) normalized() any {
	n := e.AuditEntry
	n.Subject, n.Actor, n.Origin, n.Detail = portable(n.Subject), portable(n.Actor), portable(n.Origin),
		portable(n.Detail)
	return n
}

func (e *AuditEntry) String() string {
	return fmt.Sprintf("audit entry %s %s %s", e.Time.Format(time.RFC3339), e.Action, e.Subject)
}

// Dataset is a dataset with all its versions, oldest first.
type Dataset struct{ store.DatasetVersions }

func (d *Dataset) position() (int, string) { return datasets, d.Namespace + "\x00" + d.Name }
func (d *Dataset) String() string          { return "dataset " + d.Ref.String() }

// normalized omits the files, which are compared as segments.
func (d *Dataset) normalized() any {
	n := d.DatasetVersions
	n.Versions = slices.Clone(n.Versions)
	for i := range n.Versions {
		v := &n.Versions[i]
		v.File, v.Title, v.Description = nil, portable(v.Title), portable(v.Description)
	}
	return n
}

// portable returns a text as every database stores it: PostgreSQL cannot store NUL.
func portable(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

// forgetSources removes what the versions of a backup state about kept sources, for a backup whose
// format has no files of them.
func (d *Dataset) forgetSources() {
	for i := range d.Versions {
		if settings := d.Versions[i].Settings; settings != nil {
			settings.Kept = nil
		}
	}
}
