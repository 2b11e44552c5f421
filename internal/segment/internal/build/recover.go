package build

import (
	"context"
	"iter"

	"herbarium/internal/herb"
)

// A panic in a goroutine of a build would end the process, which may be a server. These functions convert it to an
// error of the build.

func tryReadBatches(ctx context.Context, records iter.Seq2[herb.Record, error], free <-chan *batch, send func(*batch)) (err error) {
	defer herb.Recover(&err)
	readBatches(ctx, records, free, send)
	return nil
}

func (p *preparer) tryPrepare(x *batch) {
	defer herb.Recover(&x.err)
	p.prepare(x)
}

func (c *columnBuilder) trySort(ctx context.Context, buf *sortBuffer) (err error) {
	defer herb.Recover(&err)
	return c.sort(ctx, buf)
}
