package cli

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

// stdinPath is the path that denotes standard input.
const stdinPath = "-"

// spool copies standard input to a temporary file. The caller must call remove unless err is set.
func (r *runner) spool(ctx context.Context, ref herb.Ref, given readFlags) (src ingest.Source, remove func() error, err error) {
	shown := r.newProgress(ref.String())
	defer shown.end()
	if src, remove, err = ingest.Spool(ctx, r.In, ref, ingest.Options{Progress: shown.bytes("receiving standard input")}); err != nil {
		return src, nil, err
	}
	return src, remove, given.apply(&src)
}
