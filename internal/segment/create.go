package segment

import (
	"context"
	"iter"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/build"
	"herbarium/internal/segment/internal/file"
)

// Parameters of the format and of builds.
const (
	FormatVersion = file.FormatVersion
	MaxRecords    = file.MaxRecords  // of a segment
	PartSuffix    = build.PartSuffix // of the names of incomplete files
	PhaseReading  = build.PhaseReading
	PhaseSorting  = build.PhaseSorting
)

// Options configures a build. The zero value uses the defaults.
type Options = build.Options

// Progress is the progress of a build.
type Progress = build.Progress

// Create builds a segment from records and returns their number. The file appears under its name
// only when it is complete and synced. After an error, or when ctx is canceled, it leaves no files
// behind.
func Create(ctx context.Context, path string, fields []herb.Field, records iter.Seq2[herb.Record, error],
	opts Options) (int, error) {
	return build.Create(ctx, path, fields, records, opts)
}

// InMemory builds a segment of a few thousand records in memory, which the garbage collector frees.
func InMemory(ctx context.Context, fields []herb.Field, records []herb.Record) (*Reader, error) {
	f, err := build.InMemory(ctx, fields, records)
	if err != nil {
		return nil, err
	}
	return newReader(f)
}
