// Package build writes segments: it reads records in parallel, sorts them by every field and
// collects postings, with bounded memory. Packages column and fulltext read what it writes.
//
//	records ─► batch ─► prepare ─► addBatch ─┬─► RECS, ROFF
//	                                         ├─► columnBuilder ─► sorter ─► FACT, SORT, RUNS …
//	                                         ├─► positionsBuilder ─► sorter ─► POSN, CELL
//	                                         └─► wordsBuilder ─► invertedIndex ─► TPST, FWRD …
//
// A batch has up to 512 records. prepare renders their JSON and splits their words, up to four
// batches at a time; addBatch adds them in order. There is a columnBuilder for each field.
//
// Values, words and postings are in spill files: a buffer that is written to a temporary file when
// it is full. The dictionaries of distinct words and elements, and other tables with an item for
// each of them, are on the heap up to a limit, then in mapped files (tables.go); only some bits per
// record stay in memory. A sorter sorts as many keys as fit its memory, writes them as a sorted
// run, and merges the runs. An invertedIndex does the same with pairs of a word and a record. These
// runs are those of an external sort, not the value runs of package column.
//
// Example: the records "oak" and "red oak". The dictionary numbers the words oak 0 and red 1. The
// invertedIndex collects the pairs (0, 0), (1, 1) and (0, 1) in record order. A counting sort by
// word yields 0: {0 1} and 1: {1}, which encode writes as the postings of TPST. The sorter of the
// field gets the keys of both values, which are in order already: SORT is 0 1, and each value is a
// run.
//
// The frequent words, prefixes and bigrams are known only after all records, so their postings are
// collected in a second pass over the words (frequent.go), and the block counts of frequent values
// from the sections of the file itself (block_counts.go).
//
// The first error of any goroutine cancels the context of the build, which ends the others (see
// tempDir.start). Spill files keep their first error (see spillFile).
package build

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"herbarium/internal/filesystem"
	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/file"
)

// PartSuffix is the suffix of the names of incomplete files.
const PartSuffix = ".part"

// Options configures a build. The zero value uses the defaults.
type Options struct {
	// Memory is the number of bytes for sorting and collecting before data is spilled to disk. The
	// process needs about three times as much, because of garbage collection and buffers. 0 means
	// 128 MiB.
	Memory int
	// Progress is called periodically, from one goroutine at a time. nil disables reporting.
	Progress func(Progress)
	// FS is the file system to write to. nil means OS.
	FS filesystem.FS
	// Program is the release that builds the file, for messages about it; empty if unknown.
	Program string
	// Declared is what the publisher says about the coordinates of the records.
	Declared geo.Declaration
	// Coordinates are those that were recognized when the records were published; nil: they are
	// recognized now.
	Coordinates *[]herb.Coordinates
	// Indexes determines the content of the indexes of frequent words and values. The zero value
	// means DefaultIndexes.
	Indexes IndexRules
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

// Create builds a segment from records and returns their number. The file appears under its name
// only when it is complete and synced. After an error, or when ctx is canceled, it leaves no files
// behind.
func Create(ctx context.Context, path string, fields []herb.Field, records iter.Seq2[herb.Record, error],
	opts Options) (n int, err error) {
	opts.FS = cmp.Or[filesystem.FS](opts.FS, filesystem.OS{})
	opts = opts.withDefaults()
	dir, named := path+PartSuffix, false
	if err := opts.FS.Mkdir(dir, 0o700); err != nil {
		return 0, err
	}
	b := &builder{opts: opts, fields: fields, tmp: newTempDir(ctx, opts.FS, dir, opts.Memory, len(fields))}
	err = recovered(func() (err error) {
		b.w, err = file.NewWriter(opts.FS, filepath.Join(dir, segmentFile))
		if err != nil {
			return err
		}
		if err := b.build(records); err != nil {
			return err
		}
		if err := errors.Join(b.w.Finish(b.meta()), b.tmp.err()); err != nil {
			return err
		}
		if err := b.tmp.err(); err != nil { // canceled while the file was synced
			return err
		}
		if err := opts.FS.Rename(filepath.Join(dir, segmentFile), path); err != nil {
			return err
		}
		named = true
		return filesystem.SyncDir(opts.FS, filepath.Dir(path))
	})
	if b.w != nil {
		err = errors.Join(err, b.w.Close())
	}
	err = errors.Join(err, b.tmp.close(), opts.FS.RemoveAll(dir))
	if err == nil {
		return b.records, nil
	}
	if named {
		err = errors.Join(err, opts.FS.RemoveAll(path))
	}
	return 0, err
}

const segmentFile = "segment"

func (o Options) withDefaults() Options {
	o.Memory = cmp.Or(o.Memory, 128<<20)
	o.Indexes = cmp.Or(o.Indexes, DefaultIndexes())
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o
}

// builder is a build in progress.
type builder struct {
	opts    Options
	fields  []herb.Field
	tmp     *tempDir
	w       *file.Writer
	starts  *spillFile // of the records
	at      uint64     // bytes of the records so far
	records int
	columns []*columnBuilder
	words   *wordsBuilder
	places  *positionsBuilder
	mu      sync.Mutex // of sorted, and of calls of Progress
	sorted  int        // calls of reportSorted
}

// build writes all sections but META. It fails if the build is canceled, which every error of a
// spill file does.
func (b *builder) build(records iter.Seq2[herb.Record, error]) error {
	b.begin()
	if err := b.read(records); err != nil {
		return err
	}
	if err := b.write(); err != nil {
		return err
	}
	return b.tmp.err()
}

// begin creates the builders of the sections.
func (b *builder) begin() {
	b.starts = b.tmp.newSpillFile()
	b.words = newWordsBuilder(b.tmp, b.fields, b.opts.Memory/2, b.opts.Indexes)
	b.places = newPositionsBuilder(b.tmp, b.fields, b.opts)
	lists := 0
	for _, f := range b.fields {
		if f.Type == herb.TypeList {
			lists++
		}
	}
	for i, f := range b.fields {
		c := newColumnBuilder(f, b.tmp, b.opts.Memory/8/max(lists, 1))
		if i > 0 {
			c.label = []byte{','}
		}
		c.label = append(herb.AppendJSONString(c.label, f.Name), ':')
		b.columns = append(b.columns, c)
	}
	b.w.Begin(file.TagRecords, file.NoField)
}

// workers is the number of batches that are prepared concurrently, and later of fields that are
// sorted concurrently. The single goroutines that read and write cannot keep up with more than
// four.
func workers() int { return min(runtime.GOMAXPROCS(0), 4) }

// read reads all records: their JSON is written to the file, their values and words to the
// builders. One goroutine reads, one for each batch prepares it, and one adds the batches in order
// and recycles them.
func (b *builder) read(records iter.Seq2[herb.Record, error]) error {
	inFlight := workers() + 2 // one is read, and one is added
	free, inOrder := make(chan *batch, inFlight), make(chan *batch, inFlight)
	for range inFlight {
		free <- newBatch(b.fields)
	}
	var group errgroup.Group
	b.tmp.start(&group, func() error {
		defer close(inOrder)
		return readBatches(b.tmp.ctx, records, free, func(x *batch) {
			inOrder <- x
			b.tmp.start(&group, func() error {
				b.prepare(x)
				x.ready <- struct{}{}
				return nil
			})
		})
	})
	b.tmp.start(&group, func() error {
		for x := range inOrder {
			if err := b.tmp.wait(x.ready); err != nil {
				return err
			}
			if err := b.addBatch(x); err != nil {
				return err
			}
			b.opts.Progress(Progress{Phase: PhaseReading, Done: b.records})
			for _, other := range x.held {
				free <- other
			}
			x.held = nil
			free <- x.reset(b.fields)
		}
		return nil
	})
	return group.Wait()
}

// readBatches divides a sequence of records into batches and sends them.
func readBatches(ctx context.Context, records iter.Seq2[herb.Record, error], free <-chan *batch,
	send func(*batch)) error {
	take := func() (x *batch, err error) {
		select {
		case x = <-free:
		case <-ctx.Done():
		}
		return x, context.Cause(ctx)
	}
	x := <-free
	for r, err := range records {
		if err != nil {
			return err
		}
		x.add(r)
		if !x.isFull() {
			continue
		}
		for range min(x.others(), cap(free)-1) {
			other, err := take()
			if err != nil {
				return err
			}
			x.held = append(x.held, other)
		}
		send(x)
		var err error
		x, err = take()
		if err != nil {
			return err
		}
	}
	if len(x.records) > 0 {
		send(x)
	}
	return nil
}

// addBatch adds a batch. Batches must be added in the order of the records.
func (b *builder) addBatch(x *batch) error {
	if b.records+len(x.records) > file.MaxRecords {
		return herb.Invalidf("more than %d records; a dataset cannot have more", file.MaxRecords)
	}
	if _, err := b.w.Write(x.json); err != nil {
		return err
	}
	start := 0
	for _, end := range x.ends {
		b.starts.writeU64(b.at + uint64(start))
		start = end
	}
	for i, c := range b.columns {
		if err := c.add(x.values[i], x.facts[i], &x.elements[i], len(x.records)); err != nil {
			return err
		}
	}
	b.words.add(&x.words, len(x.records))
	b.places.add(x)
	b.at += uint64(len(x.json))
	b.records += len(x.records)
	return b.tmp.err() // such as that of a spill file
}

// write sorts the fields, several concurrently, while it writes the other sections.
func (b *builder) write() error {
	b.reportSorted()
	sorted, next := make([]chan struct{}, len(b.columns)), make(chan int, len(b.columns))
	longest := int64(0)
	for i, c := range b.columns {
		sorted[i] = make(chan struct{}, 1)
		longest = max(longest, c.size)
		if c.elements != nil {
			c.elements.finish()
		}
		next <- i // in the order in which they are written
	}
	close(next)
	var group errgroup.Group
	for range workers() {
		b.tmp.start(&group, func() error {
			// keys of text have up to two bytes per character
			s := newSorter(b.tmp, b.opts.Memory/workers(), b.records, 3*longest)
			for i := range next {
				if err := b.columns[i].sort(s); err != nil {
					return err
				}
				b.reportSorted()
				sorted[i] <- struct{}{}
			}
			return nil
		})
	}
	b.tmp.start(&group, func() error { return b.writeSorted(sorted) })
	if err := group.Wait(); err != nil {
		return err
	}
	return b.places.write(b.w, b.fields, b.opts.Memory/workers())
}

func (b *builder) meta() file.Meta {
	return file.Meta{
		Fields: b.fields, Records: b.records, Words: b.words.total, Terms: b.words.terms.count, Program: b.opts.Program,
		Coordinates: b.places.chosen,
	}
}

// writeSorted writes the sections of the records, of the words, and of each field when it is
// sorted.
func (b *builder) writeSorted(sorted []chan struct{}) error {
	b.w.End() // of the records
	b.starts.writeU64(b.at)
	var facts []byte
	for _, c := range b.columns {
		facts = c.facts.Append(facts)
	}
	if err := writeSections(b.w, file.NoField, section{file.TagRecordOffsets, b.starts},
		section{file.TagFacts, bytes.NewReader(facts)}); err != nil {
		return err
	}
	if err := b.words.writeTo(b.w); err != nil {
		return err
	}
	b.reportSorted()
	for i, c := range b.columns {
		if err := b.tmp.wait(sorted[i]); err != nil {
			return err
		}
		if err := c.writeTo(b.w, uint32(i)); err != nil {
			return err
		}
	}
	return nil
}

// reportSorted reports the number of sorted fields, and counts one more for the next call. The
// words count as a field.
func (b *builder) reportSorted() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opts.Progress(Progress{Phase: PhaseSorting, Done: b.sorted, Total: len(b.columns) + 1})
	b.sorted++
}
