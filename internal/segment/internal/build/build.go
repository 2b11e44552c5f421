// Package build writes segments: it reads records in parallel, sorts them by every field and collects postings, with
// bounded memory. Packages column and fulltext read what it writes.
package build

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/file"
)

// PartSuffix is the suffix of the names of incomplete files.
const PartSuffix = ".part"

// Options configures a build. The zero value uses the defaults.
type Options struct {
	// Memory is the number of bytes for sorting and collecting before data is spilled to disk. The process needs about
	// three times as much, because of garbage collection and buffers. 0 means 128 MiB.
	Memory int
	// Progress is called periodically, from one goroutine at a time. nil disables reporting.
	Progress func(Progress)
	// FS is the file system to write to. nil means OS.
	FS filesystem.FS
	// Indexes selects the optional indexes. The zero value means the default rules, which depend on the records.
	Indexes OptionalIndexes
}

// Progress is the progress of a build.
type Progress struct {
	Phase string // PhaseReading or PhaseSorting
	Done  int    // records read, or fields sorted, including the words
	Total int    // 0 if unknown
}

// Phases of a build.
const (
	PhaseReading = "reading"
	PhaseSorting = "sorting"
)

// Create builds a segment from records and returns their number. The file appears under its name only when it is
// complete and synced. After an error, or when ctx is canceled, it leaves no files behind.
func Create(ctx context.Context, path string, fields []herb.Field, records iter.Seq2[herb.Record, error], opts Options) (n int, err error) {
	if opts.Memory == 0 {
		opts.Memory = 128 << 20
	}
	if opts.Progress == nil {
		opts.Progress = func(Progress) {}
	}
	if opts.FS == nil {
		opts.FS = filesystem.OS{}
	}
	if opts.Indexes == (OptionalIndexes{}) {
		opts.Indexes = DefaultIndexes()
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
	return b.records, filesystem.SyncDir(opts.FS, filepath.Dir(path))
}

const segmentFile = "segment"

// builder is a build in progress.
type builder struct {
	opts    Options
	fields  []herb.Field
	tmp     *tempDir
	w       *file.Writer
	starts  *spillFile // of the records
	at      uint64
	records int
	columns []*columnBuilder
	words   *wordsBuilder
}

func newBuilder(dir string, fields []herb.Field, opts Options) (_ *builder, err error) {
	b := &builder{opts: opts, fields: fields, tmp: newTempDir(opts.FS, dir, opts.Memory, len(fields))}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if b.w, err = file.NewWriter(opts.FS, filepath.Join(dir, segmentFile)); err != nil {
		return nil, err
	}
	b.starts = b.tmp.newSpillFile()
	var weights []int // of the searchable fields
	lists := 0
	for _, f := range fields {
		if f.Searchable {
			weights = append(weights, max(f.Weight, 1))
		}
		if f.Type == herb.TypeList {
			lists++
		}
	}
	b.words = newWordsBuilder(b.tmp, weights, opts.Memory/2, opts.Indexes)
	for _, f := range fields {
		b.columns = append(b.columns, newColumnBuilder(f, b.tmp, opts.Memory/8/max(lists, 1)))
	}
	return b, b.w.Begin(file.TagRecords, file.NoField)
}

// workers is the number of goroutines that prepare records, and later of fields that are sorted concurrently. The
// single goroutines that read and write cannot keep up with more than four.
func workers() int { return min(runtime.GOMAXPROCS(0), 4) }

// start runs f in a goroutine of a group and converts a panic to an error of the build: it would end the process, which may be
// a server.
func start(group *errgroup.Group, f func() error) {
	group.Go(func() (err error) {
		defer herb.Recover(&err)
		return f()
	})
}

// read reads all records: their JSON is written to the file, their values and words to the builders. One goroutine
// reads, several prepare, and one adds the batches in order and recycles them.
func (b *builder) read(ctx context.Context, records iter.Seq2[herb.Record, error]) error {
	inFlight := 3 * workers()
	free, inOrder, work := make(chan *batch, inFlight), make(chan *batch, inFlight), make(chan *batch, inFlight)
	for range inFlight {
		free <- newBatch(b.fields)
	}
	group, ctx := errgroup.WithContext(ctx)
	start(group, func() error {
		defer close(inOrder)
		defer close(work)
		return readBatches(ctx, records, free, func(x *batch) {
			inOrder <- x
			work <- x
		})
	})
	for range workers() {
		start(group, func() error {
			p := b.preparer()
			for x := range work {
				p.prepare(x)
				x.ready <- struct{}{}
			}
			return nil
		})
	}
	start(group, func() error {
		for x := range inOrder {
			if _, err := receive(ctx, x.ready); err != nil {
				return err
			}
			if err := b.addBatch(x); err != nil {
				return err
			}
			b.opts.Progress(Progress{Phase: PhaseReading, Done: b.records})
			free <- x.empty(b.fields)
		}
		return nil
	})
	return group.Wait()
}

// receive receives from a channel. It fails when ctx is canceled.
func receive[T any](ctx context.Context, from <-chan T) (x T, err error) {
	select {
	case x = <-from:
		return x, context.Cause(ctx)
	case <-ctx.Done():
		return x, context.Cause(ctx)
	}
}

// readBatches divides a sequence of records into batches and sends them.
func readBatches(ctx context.Context, records iter.Seq2[herb.Record, error], free <-chan *batch, send func(*batch)) error {
	x, err := receive(ctx, free)
	if err != nil {
		return err
	}
	for r, err := range records {
		if err != nil {
			return err
		}
		if x.add(r); x.full() {
			send(x)
			if x, err = receive(ctx, free); err != nil {
				return err
			}
		}
	}
	if len(x.records) > 0 {
		send(x)
	}
	return nil
}

func (b *builder) preparer() *preparer {
	p := &preparer{fields: b.fields, words: &b.words.terms.dictionary, elements: make([]*dictionary, len(b.fields))}
	for i, c := range b.columns {
		name := append(herb.AppendJSONString(nil, c.field.Name), ':')
		if i > 0 {
			name = append([]byte{','}, name...)
		}
		p.names = append(p.names, name)
		if c.elements != nil {
			p.elements[i] = &c.elements.dictionary
		}
	}
	return p
}

// addBatch adds a batch. Batches must be added in the order of the records.
func (b *builder) addBatch(x *batch) error {
	if b.records+len(x.records) > file.MaxRecords {
		return herb.Invalidf("more than %d records; a dataset cannot have more", file.MaxRecords)
	}
	if _, err := b.w.Write(x.json); err != nil {
		return err
	}
	var num [8]byte
	start := 0
	for _, end := range x.ends {
		if _, err := b.starts.Write(binary.LittleEndian.AppendUint64(num[:0], b.at+uint64(start))); err != nil {
			return err
		}
		start = end
	}
	for i, c := range b.columns {
		if err := c.add(x.values[i], &x.elements[i], len(x.records)); err != nil {
			return err
		}
	}
	if err := b.words.add(&x.words, len(x.records)); err != nil {
		return err
	}
	b.at += uint64(len(x.json))
	b.records += len(x.records)
	return nil
}

// write sorts the fields, several concurrently, while it writes the other sections.
func (b *builder) write(ctx context.Context) error {
	done := b.countSorted()
	sorted, next := make([]chan struct{}, len(b.columns)), make(chan int, len(b.columns))
	longest := int64(0)
	for i, c := range b.columns {
		sorted[i] = make(chan struct{}, 1)
		longest = max(longest, c.size)
		if c.elements != nil {
			if err := c.elements.finish(); err != nil {
				return err
			}
		}
		next <- i // in the order in which they are written
	}
	close(next)
	group, groupCtx := errgroup.WithContext(ctx)
	for range workers() {
		start(group, func() error {
			s := newSorter(b.tmp, b.opts.Memory/workers(), b.records, 3*longest) // keys of text have up to two bytes per character
			for i := range next {
				if err := b.columns[i].sort(groupCtx, s); err != nil {
					return err
				}
				done()
				sorted[i] <- struct{}{}
			}
			return nil
		})
	}
	start(group, func() error {
		if err := b.writeRecords(groupCtx); err != nil {
			return err
		}
		done()
		for i, c := range b.columns {
			if _, err := receive(groupCtx, sorted[i]); err != nil {
				return err
			}
			if err := c.writeTo(b.w, uint32(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if err := b.writeBlockCounts(ctx); err != nil {
		return err
	}
	return b.w.Finish(file.Meta{Fields: b.fields, Records: b.records, Words: b.words.total, Terms: b.words.terms.count})
}

// writeRecords completes the records and writes the words.
func (b *builder) writeRecords(ctx context.Context) error {
	b.w.End()
	end := binary.LittleEndian.AppendUint64(nil, b.at)
	if err := b.w.Section(file.TagStarts, file.NoField, b.starts, bytes.NewReader(end)); err != nil {
		return err
	}
	return b.words.writeTo(ctx, b.w)
}

// countSorted returns a function that reports that one more field, or the words, is sorted.
func (b *builder) countSorted() (done func()) {
	var mu sync.Mutex
	p := Progress{Phase: PhaseSorting, Done: -1, Total: len(b.columns) + 1}
	done = func() {
		mu.Lock()
		defer mu.Unlock()
		p.Done++
		b.opts.Progress(p)
	}
	done() // none yet
	return done
}

// close closes the files of a build. Its directory is removed as a whole.
func (b *builder) close() error {
	var err error
	if b.w != nil {
		err = b.w.Close()
	}
	return errors.Join(err, b.tmp.close())
}
