package cli

import (
	"context"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/progress"
)

// stdinPath is the path that denotes standard input.
const stdinPath = "-"

// spool copies standard input to a temporary file. The caller must call remove unless err is set.
func (r *runner) spool(ctx context.Context, ref herb.Ref, given readFlags) (src ingest.Source, remove func() error, err error) {
	in := r.In
	if in == nil {
		in = strings.NewReader("")
	}
	shown, began := r.newProgress(ref.String()), time.Now()
	defer shown.end()
	if src, remove, err = ingest.Spool(ctx, in, ref, ingest.Options{Progress: func(read, _ int64) {
		shown.update(progress.Progress{Phase: "receiving standard input", Done: read, Bytes: true, Elapsed: time.Since(began)})
	}}); err != nil {
		return src, nil, err
	}
	return src, remove, given.apply(&src)
}
