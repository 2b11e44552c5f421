package segment

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// PartSuffix is how the name of what is being built ends.
const PartSuffix = ".part"

// Options of a build. The zero value will do.
type Options struct {
	// Memory is how many bytes may be used for sorting and gathering before parts are written to disk. 0: 128 MiB.
	Memory int
	// Progress is told now and then how far the build is, from one goroutine at a time. nil: nobody is told.
	Progress func(Progress)
	// FS is where files are made. nil: OS.
	FS FS
}

// Progress says how far a build is.
type Progress struct {
	Phase string // PhaseReading or PhaseSorting
	Done  int    // records read, or fields sorted
	Total int    // 0: not known
}

// The phases of a build.
const (
	PhaseReading = "reading"
	PhaseSorting = "sorting"
)

// Create builds a segment from records and returns how many there were. The file appears under its name only when it is
// complete and synced; after an error, or when ctx ends, nothing is left.
func Create(ctx context.Context, path string, fields []herb.Field, records iter.Seq2[herb.Record, error], opts Options) (n int, err error) {
	if opts.Memory == 0 {
		opts.Memory = 128 << 20
	}
	if opts.Progress == nil {
		opts.Progress = func(Progress) {}
	}
	if opts.FS == nil {
		opts.FS = OS{}
	}
	dir, named := path+PartSuffix, false
	if err := opts.FS.Mkdir(dir, 0o700); err != nil {
		return 0, err
	}
	defer func() {
		if err = errors.Join(err, opts.FS.RemoveAll(dir)); err != nil && named {
			n, err = 0, errors.Join(err, opts.FS.RemoveAll(path))
		}
	}()
	b, err := newBuilder(dir, fields, opts)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.read(ctx, records); err != nil {
		return 0, err
	}
	if err := b.write(ctx); err != nil {
		return 0, err
	}
	if err := opts.FS.Rename(filepath.Join(dir, segmentFile), path); err != nil {
		return 0, err
	}
	named = true
	return b.records, syncDir(opts.FS, filepath.Dir(path))
}

const segmentFile = "segment"

func syncDir(fs FS, path string) error {
	d, err := fs.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// builder is a build under way.
type builder struct {
	opts    Options
	fields  []herb.Field
	shop    *workshop
	w       *fileWriter
	starts  *spool // of the records
	at      uint64
	records int
	columns []*columnBuilder
	words   *wordsBuilder
}

func newBuilder(dir string, fields []herb.Field, opts Options) (_ *builder, err error) {
	b := &builder{opts: opts, fields: fields, shop: &workshop{fs: opts.FS, dir: dir}}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.w, err = newFileWriter(opts.FS, filepath.Join(dir, segmentFile)); err != nil {
		return nil, err
	}
	if b.starts, err = b.shop.newSpool(); err != nil {
		return nil, err
	}
	if b.words, err = newWordsBuilder(b.shop, opts.Memory); err != nil {
		return nil, err
	}
	for _, f := range fields {
		c, err := newColumnBuilder(f, b.shop, opts.Memory/sorters())
		if err != nil {
			return nil, err
		}
		b.columns = append(b.columns, c)
	}
	return b, b.w.begin(tagRecords, noField)
}

// sorters is how many fields are sorted at the same time.
func sorters() int { return min(runtime.GOMAXPROCS(0), 4) }

// batch is some records, and what one goroutine can prepare of them without the others.
type batch struct {
	records []herb.Record
	err     error
	json    []byte
	ends    []int
	words   [][][]string // of each record, of each searchable field
	ready   chan struct{}
}

const batchSize = 512

// read takes in all records: their JSON goes to the file, their values and words to the builders.
func (b *builder) read(ctx context.Context, records iter.Seq2[herb.Record, error]) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	inOrder := make(chan *batch, 2*runtime.GOMAXPROCS(0))
	work := make(chan *batch)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel(context.Canceled)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for x := range work {
				b.prepare(x)
				close(x.ready)
			}
		})
	}
	workers.Go(func() {
		defer close(inOrder)
		defer close(work)
		for x := range batches(records) {
			x.ready = make(chan struct{})
			select {
			case inOrder <- x:
			case <-ctx.Done():
				return
			}
			work <- x
		}
	})
	for x := range inOrder {
		<-x.ready
		if x.err != nil {
			return drain(inOrder, cancel, x.err)
		}
		if err := b.take(x); err != nil {
			return drain(inOrder, cancel, err)
		}
		b.opts.Progress(Progress{Phase: PhaseReading, Done: b.records})
		if err := ctx.Err(); err != nil {
			return drain(inOrder, cancel, context.Cause(ctx))
		}
	}
	return context.Cause(ctx) // the reading may have ended because of it
}

// drain lets the goroutine that reads come to its end.
func drain(c <-chan *batch, cancel context.CancelCauseFunc, err error) error {
	cancel(err)
	for x := range c {
		<-x.ready
	}
	return err
}

// batches cuts a sequence of records into batches. The last may carry an error.
func batches(records iter.Seq2[herb.Record, error]) iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		x := &batch{}
		for r, err := range records {
			if err != nil {
				x.err = err
				break
			}
			if x.records = append(x.records, r); len(x.records) == batchSize {
				if !yield(x) {
					return
				}
				x = &batch{}
			}
		}
		if len(x.records) > 0 || x.err != nil {
			yield(x)
		}
	}
}

// prepare renders records and splits their words.
func (b *builder) prepare(x *batch) {
	for _, r := range x.records {
		x.json = r.AppendJSON(x.json, b.fields)
		x.ends = append(x.ends, len(x.json))
		var words [][]string
		for i, f := range b.fields {
			if f.Searchable {
				split := text.AppendWords(nil, r[i])
				for range max(f.Weight, 1) { // a field of weight 3 counts as if it were there three times
					words = append(words, split)
				}
			}
		}
		x.words = append(x.words, words)
	}
}

// take adds a batch, in the order of the records.
func (b *builder) take(x *batch) error {
	if b.records+len(x.records) > MaxRecords {
		return herb.Invalidf("there are more than %d records; a dataset can have no more", MaxRecords)
	}
	if _, err := b.w.Write(x.json); err != nil {
		return err
	}
	var num [8]byte
	start := 0
	for i, r := range x.records {
		if _, err := b.starts.Write(binary.LittleEndian.AppendUint64(num[:0], b.at+uint64(start))); err != nil {
			return err
		}
		start = x.ends[i]
		for j, c := range b.columns {
			if err := c.add(r[j]); err != nil {
				return err
			}
		}
		if err := b.words.add(x.words[i]); err != nil {
			return err
		}
	}
	b.at += uint64(len(x.json))
	b.records += len(x.records)
	return nil
}

// write sorts the fields, several at a time, and writes what is left to write.
func (b *builder) write(ctx context.Context) error {
	b.w.end()
	end := binary.LittleEndian.AppendUint64(nil, b.at)
	if err := b.w.section(tagStarts, noField, b.starts, end); err != nil {
		return err
	}
	if err := b.words.writeTo(ctx, b.w); err != nil {
		return err
	}
	sorted := make([]chan error, len(b.columns))
	slots := make(chan struct{}, sorters())
	var sorting sync.WaitGroup
	defer sorting.Wait()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	for i := range sorted {
		sorted[i] = make(chan error, 1)
	}
	sorting.Go(func() {
		for i, c := range b.columns { // in this order, because they are written and give back their slots in it
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			sorting.Go(func() { sorted[i] <- c.sort(ctx) })
		}
	})
	for i, c := range b.columns {
		var err error
		select {
		case err = <-sorted[i]:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err == nil {
			err = c.writeTo(b.w, uint32(i))
		}
		<-slots
		if err != nil {
			return err
		}
		b.opts.Progress(Progress{Phase: PhaseSorting, Done: i + 1, Total: len(b.columns)})
	}
	return b.w.finish(meta{
		Fields: b.fields, Records: b.records, Words: b.words.total, Terms: len(b.words.terms.names), Rules: rulesOf(text.Rules()),
	})
}

// close gives back what a build holds open. Its files are in a folder that is removed as a whole.
func (b *builder) close() error {
	var err error
	if b.w != nil {
		err = b.w.f.Close()
	}
	if errors.Is(err, os.ErrClosed) { // it is finished
		err = nil
	}
	return errors.Join(err, b.shop.close())
}
