package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/profile"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// pass reads the files of a source once, one after the other, as one table. One goroutine reads rows and fingerprints
// them; another one profiles them, unless settings need columns that may still be unknown, and spills them.
type pass struct {
	src     Source
	opts    Options
	formats []rows.Format
	dir     file.Dir
	input   *source.Input // the only file, if it has no path
	files   []string
	size    int64 // of all files
	before  int64 // of the files that have been read

	format    rows.Format
	detected  rows.Options // of the first file
	columns   []rows.Column
	known     map[columnKey]int // positions of the columns, by name
	index     []int             // position of each column of the current file
	namesakes map[string]int    // how many of these have a name
	cells     [][]byte
	send      func() error // passes the batch on and begins another one

	batch *rowBatch
	count int                // rows
	raw   []herb.ColumnCells // what the format yielded, with the numbers of rows
	notes []string
	sums  [][sha256.Size]byte // of the files

	// Of the goroutine that profiles rows, until it has ended.
	spill *spill
	view  *view // nil: made after the pass, when all columns are known
}

// read reads all files. After an error, the pass holds nothing.
func read(ctx context.Context, src Source, opts Options, formats []rows.Format) (p *pass, err error) {
	p, err = newPass(src, opts, formats)
	if err != nil {
		return nil, err
	}
	defer p.dir.Close()
	if err := p.readFiles(ctx); err != nil {
		return nil, errors.Join(err, p.spill.Close())
	}
	return p, nil
}

// readFiles reads all files while another goroutine profiles and spills their rows.
func (p *pass) readFiles(ctx context.Context) (err error) {
	full, free := make(chan *rowBatch, 1), make(chan *rowBatch, 3)
	for range cap(free) {
		free <- &rowBatch{}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var profiling sync.WaitGroup
	defer func() { // even after a panic
		close(full)
		profiling.Wait()
		err = cmp.Or(err, context.Cause(ctx))
		cancel(nil)
	}()
	profiling.Go(func() {
		for b := range full {
			if ctx.Err() == nil {
				if err := p.profile(b); err != nil {
					cancel(err)
				}
			}
			free <- b.empty()
		}
	})
	p.batch = <-free
	p.send = func() error {
		full <- p.batch
		if p.opts.Rows != nil {
			p.opts.Rows(p.count)
		}
		p.batch = <-free
		return context.Cause(ctx)
	}
	return p.eachFile(ctx, func(f *file.File, i int) error { return p.readRows(ctx, f, i) })
}

// newPass opens the folder of a source and measures its files.
func newPass(src Source, opts Options, formats []rows.Format) (p *pass, err error) {
	p = &pass{src: src, opts: opts, formats: formats, known: map[columnKey]int{}, spill: &spill{dir: opts.Temp}, input: src.Input}
	if src.Inline != nil {
		content := src.InlineContent()
		p.input = &source.Input{Content: bytes.NewReader(content), Size: int64(len(content))}
	}
	if p.input != nil {
		p.size = p.input.Size
		return p, nil
	}
	p.files = src.Files()
	if p.dir, err = src.OpenDir(); err != nil {
		return nil, err
	}
	for _, path := range p.files {
		info, err := p.dir.Stat(path)
		if err != nil {
			return nil, errors.Join(err, p.dir.Close())
		}
		p.size += info.Size()
	}
	return p, nil
}

// open opens a file.
func (p *pass) open(ctx context.Context, i int) (*file.File, error) {
	o := file.Options{Dir: p.dir, Temp: p.opts.Temp, Formats: p.formats}
	if p.opts.Progress != nil {
		o.Progress = func(read int64) { p.opts.Progress(p.before+read, max(p.size, p.before+read)) }
	}
	if p.input != nil {
		return file.New(ctx, "", p.input.Content, p.input.Size, o)
	}
	return file.Open(ctx, p.files[i], o)
}

// eachFile opens each file, reads and hashes it. Errors name the file.
func (p *pass) eachFile(ctx context.Context, read func(f *file.File, i int) error) error {
	for i := range max(len(p.files), 1) {
		if err := p.readFile(ctx, i, read); err != nil {
			return source.Located(p.src.Name(i), err)
		}
	}
	return nil
}

func (p *pass) readFile(ctx context.Context, i int, read func(f *file.File, i int) error) error {
	f, err := p.open(ctx, i)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := read(f, i); err != nil {
		return cause(f, err)
	}
	sum, err := f.Sum()
	p.sums = append(p.sums, sum)
	p.before += f.Size()
	return err
}

// cause returns why reading rows failed: what is wrong with the stored file takes precedence over its content.
func cause(f *file.File, err error) error {
	if f.Err() != nil {
		return f.Err()
	}
	if herb.CodeOf(err) != herb.CodeInvalid {
		return err
	}
	return cmp.Or(f.Changed(), f.Damage(), err)
}

// readRows reads the rows of one file.
func (p *pass) readRows(ctx context.Context, f *file.File, i int) error {
	r, err := p.start(ctx, f, i)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		cells, err := r.Next()
		if alignErr := p.align(r.Columns()); alignErr != nil && (err == nil || err == io.EOF) {
			return alignErr
		}
		switch {
		case err == io.EOF:
			p.mergeTypes(r.Columns(), i)
			for _, n := range r.Notes() {
				p.note(i, n)
			}
			if i == 0 {
				p.detected = r.Options()
			}
			if len(p.src.Parts) > 0 {
				p.detected.CommentRows = p.src.Dialect.CommentRows // the other parts have other rows
			}
			return p.send()
		case err != nil:
			return err
		}
		if err := p.add(cells, r.Position(), i); err != nil {
			return err
		}
	}
}

// start opens the rows of a file within its budget.
func (p *pass) start(ctx context.Context, f *file.File, i int) (rows.Rows, error) {
	format, note, err := f.Detect(p.formats, p.src.Format)
	if err != nil {
		return nil, err
	}
	p.note(i, note)
	if i > 0 && p.format.Name != format.Name {
		return nil, herb.Invalidf("the file is %s while %s is %s; all parts must have the same format", format.Name, p.src.Name(0), p.format.Name)
	}
	p.format = format
	o := p.src.Dialect
	if o.Names == nil && i == 0 {
		for _, s := range p.src.Fields {
			o.Names = append(o.Names, s.From)
		}
	} else if i > 0 {
		o.Names = columnNames(p.columns)
	}
	budget := rows.NewBudget(ctx, f.Size(), rows.Limits{Record: p.opts.MaxRecord, Temp: p.opts.Temp})
	r, err := format.Open(ctx, f, o, budget)
	if err != nil {
		return nil, err
	}
	p.index, p.namesakes = p.index[:0], map[string]int{}
	if i > 0 && !format.Keyed {
		if err := p.compareColumns(r.Columns()); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	if i == 0 {
		p.openView(r)
	}
	return rows.Limit(r, budget), nil
}

// openView makes a view of the rows while they are read, unless settings are about columns that may still be unknown.
func (p *pass) openView(r rows.Rows) {
	if len(p.src.Fields) == 0 && !p.src.Narrows() {
		p.view = &view{survey: profile.New()}
	} else if !p.format.Keyed {
		src := p.src
		src.Dialect.Header = cmp.Or(r.Options().Header, src.Dialect.Header)
		p.view, _ = newView(src, source.UniqueNames(columnNames(r.Columns())), false) // an error may be about a column that a later row adds
	}
}

// add adds a row of a file.
func (p *pass) add(cells [][]byte, position rows.Position, file int) error {
	p.cells = p.cells[:0]
	for i, c := range cells {
		at := p.index[i]
		for len(p.cells) <= at {
			p.cells = append(p.cells, nil)
		}
		p.cells[at] = c
		p.raw[at].Add(p.count, c)
	}
	p.count++
	b := p.batch
	b.file, b.rows, b.positions = file, appendRow(b.rows, p.cells), append(b.positions, position)
	if len(b.rows) < spillChunk && len(b.positions) < maxBatch {
		return nil
	}
	return p.send()
}

// note records a note about a file.
func (p *pass) note(i int, s string) {
	if s == "" {
		return
	}
	if len(p.src.Parts) > 0 {
		s = p.src.Name(i) + ": " + s
	}
	p.notes = append(p.notes, s)
}

// finishView completes the view, from the spill file if it could not be made while the rows were read.
func (p *pass) finishView(ctx context.Context) (*view, error) {
	names := source.UniqueNames(columnNames(p.columns))
	v := p.view
	var err error
	switch {
	case v == nil || v.exposure != nil && len(v.exposure.columns) < len(names):
		if v, err = newView(p.src, names, p.format.Keyed); err == nil {
			err = p.readSpill(ctx, v)
		}
	case v.exposure == nil:
		v.exposure, err = newExposure(p.src, names, p.format.Keyed, v.survey)
	}
	if err != nil {
		return nil, err
	}
	return v, v.certify(p.raw)
}

// readSpill adds the rows of the spill file to a view.
func (p *pass) readSpill(ctx context.Context, v *view) error {
	row := 0
	where := func() string { return fmt.Sprintf("row %d", row) }
	for chunk, err := range p.spill.chunks(ctx, p.opts.Inferring) {
		if err != nil {
			return err
		}
		for len(chunk) > 0 {
			row++
			p.cells, chunk = cutRow(p.cells[:0], chunk)
			v.add(p.cells, where)
		}
	}
	return nil
}
