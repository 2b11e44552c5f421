package ingest

import (
	"context"
	"io"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/source"
)

// standardInput is the name of standard input in messages.
const standardInput = "standard input"

// Spool copies a reader, such as standard input, to an unnamed temporary file and returns it as a source. Its format is
// detected by its content if the caller does not set one. remove releases the file; after an error there is none. When
// ctx ends, Spool returns without waiting for the reader. opts.Progress is called without a size.
func Spool(ctx context.Context, r io.Reader, ref herb.Ref, opts Options) (src Source, remove func() error, err error) {
	if err := source.CheckReserved(standardInput, ref); err != nil {
		return Source{}, nil, err
	}
	pr, pw := io.Pipe()
	defer pr.Close()
	go func() {
		_, err := io.CopyBuffer(pw, struct{ io.Reader }{r}, make([]byte, spillChunk))
		pw.CloseWithError(err)
	}()
	defer context.AfterFunc(ctx, func() { pw.CloseWithError(context.Cause(ctx)) })() // a terminal may block for hours
	counted := &progressReader{r: pr, report: opts.Progress}
	f, err := file.TempCopy(opts.Temp, counted)
	if err != nil {
		return Source{}, nil, source.Located(standardInput, err)
	}
	return Source{Ref: ref, Path: standardInput, Called: standardInput, Input: io.NewSectionReader(f, 0, counted.read)}, f.Close, nil
}

// progressReader reports how much was read.
type progressReader struct {
	r      io.Reader
	read   int64
	report func(read, size int64) // nil disables it
}

// Read implements io.Reader.
func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if p.read += int64(n); p.report != nil && n > 0 {
		p.report(p.read, 0)
	}
	return n, err
}
