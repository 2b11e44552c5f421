package cli

import (
	"context"
	"strings"
	"time"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

// stdinPath is the path that stands for standard input.
const stdinPath = "-"

// spool keeps standard input in a file for as long as a command reads it. remove must be called if there is no error.
func (r *runner) spool(ctx context.Context, ref herb.Ref) (src ingest.Source, remove func() error, err error) {
	in := r.In
	if in == nil {
		in = strings.NewReader("")
	}
	shown, began := r.newProgress(ref.String()), time.Now()
	defer shown.end()
	return ingest.Spool(ctx, in, ref, ingest.Options{Progress: func(read, _ int64) {
		shown.update(app.Progress{Phase: "receiving standard input", Done: read, Bytes: true, Elapsed: time.Since(began)})
	}})
}
