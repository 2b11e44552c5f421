package ingest

import (
	"cmp"
	"context"
	"io"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/delimited"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/jsontext"
	"herbarium/internal/ingest/rows"
)

// Explain returns the candidates for each decision about the first file of a source, with their
// evidence, and its words in two encodings if it is not UTF-8. There are none if the format
// declares its columns. It reads the file as Inspect does. A file that cannot be read has
// candidates too, unless it cannot be opened: another one may be the remedy.
func Explain(ctx context.Context, src Source, opts Options) (rows.Explanation, error) {
	var e rows.Explanation
	opts.explain = &e
	p, err := newPass(src, opts, Formats())
	if err != nil {
		return e, err
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
			err = nil
		}
		if name := r.Options().Encoding; name != "" {
			samples, failure := charset.CompareEncodings(ctx, f, name, 2)
			e.Encodings, err = samples, cmp.Or(err, failure)
		}
		return err
	})
	if herb.CodeOf(err) == herb.CodeInvalid && len(e.Candidates) > 0 {
		err = nil
	}
	return e, err
}

// Encodings shows words of the first file of a source in the encodings in which they can be read,
// at most limit: the used one first. There are none if the format is not text or all words are
// ASCII.
func Encodings(ctx context.Context, src Source, used string, limit int) (samples []rows.EncodingSample, err error) {
	p, err := newPass(src, Options{}, Formats())
	if err != nil {
		return nil, err
	}
	defer p.dir.Close()
	err = p.readFile(ctx, 0, p.src.Files()[0], func(f *file.File, _ int) error {
		format, _, err := f.Detect(p.src.Format)
		if err != nil || !slices.Contains([]string{delimited.Format().Name, delimited.TSV().Name,
			jsontext.Format().Name}, format.Name) {
			return err
		}
		samples, err = charset.SampleEncodings(ctx, f, used, limit)
		return err
	})
	return samples, err
}
