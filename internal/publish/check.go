package publish

import (
	"cmp"
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/progress"
	"herbarium/internal/publish/receive"
	"herbarium/internal/versions"
)

// Check says what the publish of a request would do: it does all of it, except that nothing goes
// live, and the file stays open. The result and the error are those of the publish. begun is called
// when it has the slot of a publish of the same key, so that checks and publishes together need no
// more memory than publishes alone, and read with what was read.
func (q *Queue) Check(
	ctx context.Context, r Request, begun func(), read func(*ingest.Table) error, report func(progress.Progress),
) (versions.Result, error) {
	r.Check = true
	return q.publish(ctx, &r, Options{Read: read, Progress: report}, begun)
}

// Tables returns the names of the tables of a file that was checked, if there are several; nil
// if it is one table or cannot be read.
func (q *Queue) Tables(ctx context.Context, f *receive.File) []string {
	name := cmp.Or(f.Name, "file")
	src := ingest.Source{Input: f.Content(), DisplayName: name, Path: name}
	return discover.New(discover.Options{Formats: ingest.Formats()}).Tables(ctx, src)
}

// Encodings shows words of a file of text in the encodings in which they can be read, at most
// limit: the used one first. There are none if all words are ASCII or the file cannot be read.
func (q *Queue) Encodings(ctx context.Context, f *receive.File, used string, limit int) []rows.EncodingSample {
	name := cmp.Or(f.Name, "file")
	samples, err := ingest.Encodings(ctx, ingest.Source{Input: f.Content(), DisplayName: name, Path: name}, used, limit)
	if err != nil {
		return nil
	}
	return samples
}

// FetchSource returns where the file of a dataset is fetched from; zero if its descriptor does not
// say so.
func FetchSource(ref herb.Ref, content []byte) (herb.FetchSource, error) {
	s, err := descriptor.Apply(content, descriptor.Source{Ref: ref}, ingest.Formats())
	return s.Fetch, err
}

// CheckRef fails if files cannot be published as a dataset.
func CheckRef(ref herb.Ref) error { return descriptor.CheckReserved("the file", ref) }
