package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
)

// pass reads the files of a source once, one after the other, as one table. One goroutine reads
// rows and fingerprints them; another one profiles them, unless settings need columns that may
// still be unknown, and spills them.
type pass struct {
	src     Source
	opts    Options
	formats []rows.Format
	dir     file.Dir
	input   *io.SectionReader // the only file, if it has no path
	size    int64             // of all files

	before int64  // of the files that have been read
	sums   []byte // of the files

	format      rows.Format
	detected    rows.Options // of the first file
	columns     []rows.Column
	earlier     int              // columns of the files before the current one
	known       map[string][]int // positions of the columns, by name
	index       []int            // position of each column of the current file
	occurrences map[string]int   // number of columns of the current file with a name, so far
	tables      []rows.Position  // sheet or table of each file
	row         storedRow
	batch       []byte       // rows
	send        func() error // sends the batch to the profiling goroutine and starts another one
	count       int          // rows
	lists       []listColumn // by column, as far as columns have arrays
	listBuf     []byte
	raw         []herb.ColumnCells // what the format yielded, with the numbers of rows
	notes       []string
	layout      herb.Layout

	// Of the goroutine that profiles rows, until it has ended.
	spill *spill
	view  *view // nil: made after the pass, when all columns are known
}

// newPass opens the folder of a source and measures its files.
func newPass(src Source, opts Options, formats []rows.Format) (*pass, error) {
	src, err := src.Normalize(Formats())
	if err != nil {
		return nil, descriptor.Located(src.Name(0), err)
	}
	if opts.Rows == nil {
		opts.Rows = func(int) {}
	}
	p := &pass{src: src, opts: opts, formats: formats, known: map[string][]int{}, spill: &spill{dir: opts.Temp},
		input: src.Input}
	if p.input != nil {
		p.size = p.input.Size()
		return p, nil
	}
	p.dir, err = src.OpenDir()
	if err != nil {
		return nil, err
	}
	for _, path := range src.Files() {
		info, err := p.dir.Stat(path)
		if err != nil {
			return nil, errors.Join(err, p.dir.Close())
		}
		p.size += info.Size()
	}
	return p, nil
}

// isUnchanged reports whether a source is still what opts.Previous describes. It reads no rows, and
// nothing at all if the files have another size.
func isUnchanged(ctx context.Context, src Source, opts Options) (bool, error) {
	p, err := newPass(src, opts, Formats())
	if err != nil {
		return false, err
	}
	defer p.dir.Close()
	if p.size != opts.Previous.Bytes {
		return false, nil
	}
	if err := p.eachFile(ctx, func(*file.File, int) error { return nil }); err != nil {
		return false, err
	}
	hash, err := p.sourceHash()
	return hash == opts.Previous.Hash, err
}

// sourceHash returns the hash of all files and the settings.
func (p *pass) sourceHash() (string, error) {
	if len(p.sums) == sha256.Size {
		return p.src.Hash([sha256.Size]byte(p.sums))
	}
	return p.src.Hash(sha256.Sum256(p.sums))
}

// readFiles reads all files while another goroutine profiles and spills their rows, which takes
// half of the time.
func (p *pass) readFiles(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	batches := make(chan []byte, 1)
	var profiling sync.WaitGroup
	defer func() { // even after a panic
		close(batches)
		profiling.Wait()
		err = cmp.Or(err, context.Cause(ctx))
		cancel(nil)
	}()
	profiling.Go(func() {
		for b := range batches {
			if err := p.profile(b); err != nil {
				cancel(err)
			}
		}
	})
	p.tables = make([]rows.Position, p.src.Parts())
	p.send = func() error {
		batches <- p.batch
		p.opts.Rows(p.count)
		p.batch = make([]byte, 0, len(p.batch))
		return context.Cause(ctx)
	}
	return p.eachFile(ctx, func(f *file.File, i int) error { return p.readRows(ctx, f, i) })
}

// eachFile opens each part, which is a file or a table of the only one, reads and hashes it. Errors
// name the part.
func (p *pass) eachFile(ctx context.Context, read func(f *file.File, i int) error) error {
	files := p.src.Files()
	for i := range p.src.Parts() {
		if err := p.readFile(ctx, i, files[min(i, len(files)-1)], read); err != nil {
			return descriptor.Located(p.src.Name(i), err)
		}
	}
	return nil
}

func (p *pass) readFile(ctx context.Context, i int, path string, read func(f *file.File, i int) error) error {
	o := file.Options{Dir: p.dir, Temp: p.opts.Temp, Formats: p.formats, Content: p.input}
	if p.input != nil {
		o.Name = p.src.DisplayName
	}
	switch {
	case len(p.src.Tables) > 0:
		o.Entry, _, _ = strings.Cut(p.src.Tables[i], "#")
	case i == 0:
		o.Entry = p.src.Entry
	}
	if p.opts.Progress != nil {
		o.Progress = func(read int64) { p.opts.Progress(p.before+read, max(p.size, p.before+read)) }
	}
	f, err := p.src.Shared.Open(ctx, path, o)
	if err != nil {
		return err
	}
	defer p.src.Shared.Return(f)
	if err := read(f, i); err != nil {
		return f.Cause(err)
	}
	sum, err := f.Sum()
	if i == 0 || len(p.src.Tables) == 0 { // the other tables are in the same file
		p.sums = append(p.sums, sum[:]...)
	}
	p.before += f.Size()
	return err
}

func (p *pass) readRows(ctx context.Context, f *file.File, i int) error {
	r, err := p.start(ctx, f, i)
	if err != nil {
		return err
	}
	defer r.Close()
	for first := true; ; first = false {
		cells, err := r.Next()
		if err != nil && err != io.EOF {
			return err
		}
		if first {
			p.tables[i] = r.Position()
		}
		if err := p.align(r.Columns()); err != nil {
			return err
		}
		if err == io.EOF {
			break
		}
		if err := p.add(cells, r.Position(), i); err != nil {
			return err
		}
	}
	p.mergeTypes(r.Columns(), i)
	for _, n := range r.Notes() {
		p.note(i, n)
	}
	p.addLayout(r.Layout(), i)
	if i == 0 {
		p.detected = r.Options()
		if len(p.src.Tables) > 0 {
			p.detected.Table, p.detected.TableNo, p.detected.Joined = "", 0, false
		}
	}
	if p.src.Parts() > 1 {
		p.detected.CommentRows = p.src.Dialect.CommentRows // the other parts have other rows
	}
	return p.send()
}

// start opens the rows of a file within its budget.
func (p *pass) start(ctx context.Context, f *file.File, i int) (rows.Rows, error) {
	format, note, err := f.Detect(p.src.Format)
	if err != nil {
		return nil, err
	}
	p.note(i, note)
	o := p.src.Dialect
	if len(p.src.Tables) > 0 {
		o.Joined = len(p.src.Tables) > 1
		o.Table, err = tableOf(f, format, p.src.Tables[i])
		if err != nil {
			return nil, err
		}
	}
	if i > 0 {
		if p.format.Name != format.Name {
			return nil, herb.Invalidf("the file is %s while %s is %s; all parts must have the same format", format.Name,
				p.src.Name(0), p.format.Name)
		}
		o.Names = columnNames(p.columns)
	} else if o.Names == nil {
		for _, s := range p.src.Fields {
			o.Names = append(o.Names, s.From)
		}
	}
	p.format, o.Explain, p.earlier = format, p.opts.explain, len(p.columns)
	budget := f.NewBudget(rows.Limits{Record: p.opts.MaxRecord, Temp: p.opts.Temp})
	r, err := format.Open(ctx, f, o, budget)
	if err != nil {
		return nil, err
	}
	p.index, p.occurrences = p.index[:0], map[string]int{}
	if i == 0 {
		p.openView(r)
	} else if !format.Keyed {
		if err := p.compareColumns(r.Columns()); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return rows.Limit(r, budget), nil
}

// tableOf returns the table within its file, or within the file of an archive, that a name of
// Source.Tables selects; empty if the latter has one table.
func tableOf(f *file.File, format rows.Format, name string) (string, error) {
	table := name
	if f.InArchive() {
		_, table, _ = strings.Cut(name, "#")
	}
	if table != "" && format.Tables == nil {
		return "", herb.Invalidf("the file has one table, and innerpath of the settings names several; remove innerpath, " +
			"or send a file with these tables")
	}
	return table, nil
}

func (p *pass) note(i int, s string) {
	if s == "" {
		return
	}
	if p.src.Parts() > 1 {
		s = p.src.Name(i) + ": " + s
	}
	p.notes = append(p.notes, s)
}

// addLayout adds which rows of a file are not records.
func (p *pass) addLayout(l herb.Layout, i int) {
	if p.src.Parts() > 1 {
		for k := range l.Rows {
			l.Rows[k].File = p.src.Name(i)
		}
	}
	if i == 0 {
		p.layout = l
	} else {
		p.layout.Add(l)
	}
}

// add adds a row of a file.
func (p *pass) add(cells [][]byte, position rows.Position, file int) error {
	r := &p.row
	r.file, r.row, r.line, r.cells = file, position.Row, position.Line, r.cells[:0]
	for i, c := range cells {
		at := p.index[i]
		for len(r.cells) <= at {
			r.cells = append(r.cells, nil)
		}
		r.cells[at] = c
		p.raw[at].Add(p.count, c)
		if p.format.Lists && len(c) > 0 && c[0] == '[' {
			p.addList(at, c)
		}
	}
	p.count++
	p.batch = r.append(p.batch)
	if len(p.batch) < spillChunk {
		return nil
	}
	return p.send()
}

// profile profiles and spills a batch of rows.
func (p *pass) profile(batch []byte) (err error) {
	defer herb.Recover(&err)
	var r storedRow
	for rest := batch; len(rest) > 0 && p.view != nil; {
		rest = r.cut(rest)
		if columns := p.view.columns; columns != nil && len(r.cells) > len(columns) {
			p.view = nil // a row added columns, which settings may be about
			break
		}
		p.view.add(r.cells, func() string { return p.locate(&r) })
	}
	return p.spill.add(batch)
}

// locate returns the position of a row for a message.
func (p *pass) locate(r *storedRow) string {
	position := p.tables[r.file]
	position.Row, position.Line = r.row, r.line
	if r.file > 0 {
		return p.src.Name(r.file) + ", " + position.String()
	}
	return position.String()
}

// openView makes a view of the rows while they are read, unless settings are about columns that may
// still be unknown, or about lists, which are written after the last row.
func (p *pass) openView(r rows.Rows) {
	v := newView()
	if len(p.src.Fields) == 0 && !p.src.Narrows() {
		p.view = v
	} else if isList := func(c rows.Column) bool { return c.Type == herb.TypeList }; !p.format.Keyed &&
		!slices.ContainsFunc(r.Columns(), isList) {
		src := p.src
		src.Dialect.Header = cmp.Or(r.Options().Header, src.Dialect.Header)
		// else it may be about a column that a later row adds
		if v.resolve(src, descriptor.UniqueNames(columnNames(r.Columns())), false) == nil {
			p.view = v
		}
	}
}

// finishView completes the view, from the spill file if it could not be made while the rows were
// read.
func (p *pass) finishView(ctx context.Context) (*view, error) {
	p.src.Dialect.Header = cmp.Or(p.detected.Header, p.src.Dialect.Header)
	p.writeLists()
	if v := p.view; v != nil && v.columns != nil && len(v.columns) < len(p.columns) {
		p.view = nil // settings may be about the columns that were added
	}
	v := cmp.Or(p.view, newView())
	if v.columns == nil {
		if err := v.resolve(p.src, descriptor.UniqueNames(columnNames(p.columns)), p.format.Keyed); err != nil {
			return nil, err
		}
	}
	if p.view == nil {
		for row, err := range p.spill.rows(ctx, p.opts.Inferring) {
			if err != nil {
				return nil, err
			}
			v.add(row.cells, func() string { return p.locate(row) })
		}
	}
	return v, v.certify(p.raw)
}
