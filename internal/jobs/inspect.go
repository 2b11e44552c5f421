package jobs

import (
	"cmp"
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/source"
	"herbarium/internal/upload"
)

// Inspect reads the file of a request as a publish would that replaces the version live, and calls
// use for the result. Nothing is published, and the file stays open. Errors are those of a publish.
//
// It takes the slot of a publish of the same key, so that both together need no more memory than
// publishes alone. reading is called when it begins.
func (s *Service) Inspect(ctx context.Context, r Request, live herb.Dataset, opts ingest.Options, reading func(), use func(*ingest.Table) error) (err error) {
	defer herb.Recover(&err)
	release, err := s.awaitBuild(ctx, &r)
	if err != nil {
		return err
	}
	defer release()
	if err := s.opts.Files.Fetch(ctx, r.File); err != nil {
		return classify(ctx, err, &r)
	}
	reading()
	src, err := s.source(ctx, &r, live)
	if err != nil {
		return classify(ctx, err, &r)
	}
	opts.Temp = s.opts.Dir
	t, err := ingest.Inspect(ctx, src, opts)
	if err != nil {
		return classify(ctx, err, &r)
	}
	defer t.Close()
	return classify(ctx, use(t), &r)
}

// Tables returns the names of the tables of a file that Inspect has read, if there are several; nil
// if it is one table or cannot be read.
func (s *Service) Tables(ctx context.Context, f *upload.File) []string {
	name := cmp.Or(f.Name, "file")
	src := ingest.Source{Input: f.Content(), DisplayName: name, Path: name}
	return discover.New(discover.Options{Formats: ingest.Formats()}).Tables(ctx, src)
}

// CheckRef fails if files cannot be published as a dataset.
func CheckRef(ref herb.Ref) error { return source.CheckReserved("the file", ref) }
