// Package versions makes, compares, replaces and removes the versions of datasets: it builds the
// file of a version, verifies it, rejects what would break its consumers, makes it live, rolls back
// to an earlier one, and deletes what is no longer kept. Package library lists the versions that
// are live.
//
// # Consistency
//
// The catalogue, a table of the store, names the live version of each dataset; the file of a
// version is immutable. So a publish is one transaction after the file is complete. Several
// processes may publish: each version is compared with the one that it actually replaces.
package versions

import (
	"cmp"
	"context"
	"io"
	"iter"
	"log/slog"
	"path/filepath"
	"time"

	"herbarium/internal/changes"
	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/store"
)

// Catalogue stores which versions are kept, which one of them is live, and which are retired.
type Catalogue interface {
	Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error)
	Protected(ctx context.Context) ([]herb.Dataset, error)
	AddVersion(ctx context.Context, d herb.Dataset, live string, keep herb.Keep,
		at time.Time) (dropped []string, err error)
	SetLive(ctx context.Context, ref herb.Ref, version, live string) error
	RemoveDataset(ctx context.Context, ref herb.Ref, live string, at time.Time) ([]string, error)
	History(ctx context.Context, ref herb.Ref) (store.DatasetVersions, error)
	AddLabel(ctx context.Context, ref herb.Ref, version, label string) error
	RemoveLabel(ctx context.Context, ref herb.Ref, version, label string) error
	Withdraw(ctx context.Context, ref herb.Ref, version string, at, since time.Time) error
	Versions(ctx context.Context) ([]string, error)
	RetireVersion(ctx context.Context, version string, at time.Time) (bool, error)
	Retired(ctx context.Context) ([]store.Retired, error)
	ForgetRetired(ctx context.Context, versions []string) error
	DraftIDs(ctx context.Context, since time.Time) ([]string, error)
}

// Blobs stores the files of versions for all nodes. Its objects belong to one catalogue.
type Blobs interface {
	// Put stores a local file under a name, atomically. progress is called with bytes done and in
	// total; nil disables it.
	Put(ctx context.Context, name, path string, progress func(done, total int64)) error
	// Get writes the object with a name to a writer. The error has herb.CodeNotFound if it does not
	// exist.
	Get(ctx context.Context, name string, to io.Writer) error
	// Delete removes the object with a name. A missing object is not an error.
	Delete(ctx context.Context, name string) error
	// Abort removes unfinished uploads that are older than a duration. They are not listed, but
	// cost as much as objects.
	Abort(ctx context.Context, olderThan time.Duration) error
	// List returns the objects whose names begin with a prefix.
	List(ctx context.Context, prefix string) iter.Seq2[herb.Blob, error]
}

// Options configures a Service. Dir and Blobs are those of its library.
type Options struct {
	Dir     string           // folder of the segment files; it must exist
	Blobs   Blobs            // object store of the files, shared by all nodes; nil if Dir is the only store
	Keep    herb.Keep        // versions to keep of datasets that do not state it; no number means DefaultKeep
	Now     func() time.Time // nil means time.Now
	Log     *slog.Logger     // nil disables logging
	Program string           // release of this program, which its files name; may be empty
	// bytes for sorting in a publish before it spills to disk; 0 means the default of
	// segment.Options
	Memory int
	FS     filesystem.FS // file operations; nil means filesystem.OS
	// Retention is how long the file of a version is kept for other nodes after it left the
	// catalogue; 0 means DefaultRetention.
	Retention time.Duration
}

// Defaults of Options.
const (
	DefaultKeep      = 5 // including the live one
	DefaultRetention = 24 * time.Hour
)

// Service changes the versions of a library. It is safe for concurrent use.
type Service struct {
	catalogue   Catalogue
	library     *library.Library
	comparisons *changes.Comparisons
	opts        Options
}

// New returns the service that changes the versions of a library.
func New(catalogue Catalogue, l *library.Library, opts Options) *Service {
	opts.Keep = opts.Keep.Or(herb.Keep{Versions: DefaultKeep})
	opts.Retention = cmp.Or(opts.Retention, DefaultRetention)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	opts.FS = cmp.Or[filesystem.FS](opts.FS, filesystem.OS{})
	if opts.Now == nil {
		opts.Now = time.Now
	}
	comparisons := changes.NewComparisons(changes.Options{Library: l, Log: opts.Log, Dir: opts.Dir,
		Memory: opts.Memory})
	return &Service{catalogue: catalogue, library: l, comparisons: comparisons, opts: opts}
}

// shared reports whether the files are in an object store that nodes share, and Dir is a cache of
// it.
func (s *Service) shared() bool { return s.opts.Blobs != nil }

func (s *Service) file(version string) string {
	return filepath.Join(s.opts.Dir, store.SegmentFile(version))
}
