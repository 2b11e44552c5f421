package ingest

import (
	"context"
	"io"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
)

// maxReadings is the number of readings that Explain returns.
const maxReadings = 3

// Explain returns the best readings of the first file of a source, the used one first, with the
// terms of their scores. There are none if the format declares its columns. It reads the file as
// Inspect does. A file that cannot be read has readings too, unless it cannot be opened: another
// reading may be the remedy.
func Explain(ctx context.Context, src Source, opts Options) ([]rows.ScoredReading, error) {
	opts.explain = new(rows.Explanation)
	p, err := newPass(src, opts, Formats())
	if err != nil {
		return nil, err
	}
	defer p.dir.Close()
	err = p.readFile(ctx, 0, p.src.Files()[0], func(f *file.File, i int) error {
		r, err := p.start(ctx, f, i)
		if err != nil {
			return err
		}
		defer r.Close()
		for err == nil {
			_, err = r.Next()
		}
		if err == io.EOF {
			return nil
		}
		return err
	})
	readings := opts.explain.Readings
	if herb.CodeOf(err) == herb.CodeInvalid && len(readings) > 0 {
		err = nil
	}
	return readings[:min(len(readings), maxReadings)], err
}
