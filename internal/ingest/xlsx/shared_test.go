package xlsx

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// sharedFile keeps its document and counts the bytes that are read.
type sharedFile struct {
	rowstest.File
	document io.Closer
	read     int
}

func (f *sharedFile) Random() (*io.SectionReader, error) {
	return io.NewSectionReader(f, 0, f.Size()), nil
}

func (f *sharedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := bytes.NewReader(f.File).ReadAt(p, off)
	f.read += n
	return n, err
}

func (f *sharedFile) Document(open func() (io.Closer, error)) (_ io.Closer, err error) {
	if f.document == nil {
		f.document, err = open()
	}
	return f.document, err
}

// TestReader_Shared reads a sheet again and again. The shared strings are read once, and neither an
// error nor the end of a context affects what is read next.
func TestReader_Shared(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte('A' + random.IntN(26))
	}
	f := &sharedFile{File: makeBook(t, header+`<row><c t="s"><v>0</v></c><c t="s"><v>0</v></c></row>`,
		map[string]string{
			"xl/sharedStrings.xml": `<sst><si><t>a</t></si><si><t>` + string(noise) + `</t></si></sst>`,
		})}
	for i := range 3 {
		f.read = 0
		ctx, cancel := context.WithCancel(t.Context())
		got, err := rowstest.Read(ctx, Format(), f, rows.Options{Table: "One"}, rows.Limits{})
		if err != nil || len(got.Rows) != 2 || got.Rows[1][1] != "a" {
			t.Errorf("got %v, error %v", got.Rows, err)
		}
		cancel()
		if _, err := rowstest.Read(t.Context(), Format(), f, rows.Options{Table: "Two"}, rows.Limits{}); err == nil {
			t.Error("read a sheet that does not exist")
		}
		if i > 0 && f.read > 100<<10 {
			t.Errorf("read %d bytes for another sheet", f.read)
		}
	}
}
