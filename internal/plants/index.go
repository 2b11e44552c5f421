package plants

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// Log is the log of all plants in a database.
type Log interface {
	// ReadPlants returns up to limit plants that follow the first n in creation order, and the
	// number of all plants, from one state of the database.
	ReadPlants(ctx context.Context, n, limit int) (store.PlantPage, error)
}

// IndexOptions configures an Index.
type IndexOptions struct {
	// Dir is the folder of the files. It is created when the first is written. Several indexes of
	// one log may share it.
	Dir string
	// SealAt is the number of plants in memory that triggers writing them to a file. Zero means
	// 4,096.
	SealAt int
	// Logger reports builds. Nil disables logging.
	Logger *slog.Logger
}

// What an index does in the background, once at a time.
const (
	writing = "writing" // plants to files
	pausing = "pausing" // before all plants are written for readers who count them
)

// Limits of an index.
const (
	readLimit = 4096 // plants read at once
	// times SealAt: if the log is ahead by more, it is written to a file without loading it into
	// memory
	farBehind    = 4
	maxInMemory  = 8 // times SealAt: with more plants in memory, listings wait for a build, and fail if it fails
	pollInterval = time.Second
	idleInterval = 5 * time.Second // while no plants are created
)

// Index lists the plants of a log. They are in segments, which are derived from the log and can be
// rebuilt by any process: most of them in files, the newest in memory. A listing first reads the
// plants that were created since the previous one, by this or another process, so it contains all
// plants that were acknowledged before it started.
type Index struct {
	log  Log
	opts IndexOptions

	mu     sync.Mutex // guards the fields below up to mergeAfter
	epoch  string     // of the log; empty before the first read
	parts  []*part    // in creation order: files, then segments in memory
	frozen int        // while a file is being written, the number of its last plant
	end    logEnd     // of the last plant
	// mergeAfter is when all plants may be written again for readers who count them.
	mergeAfter time.Time

	building singleflight.Group // with the keys writing and pausing
	closed   context.Context
	close    context.CancelFunc
}

// NewIndex returns the index of a log. The first use reads the log.
func NewIndex(log Log, o IndexOptions) *Index {
	o.SealAt = cmp.Or(o.SealAt, 4096)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	x := &Index{log: log, opts: o}
	x.closed, x.close = context.WithCancel(context.Background())
	return x
}

// Close cancels builds and closes the segments. Snapshots stay valid until they are released.
func (x *Index) Close() error {
	x.close()
	for _, running := range []string{pausing, writing} { // wait for them
		<-x.building.DoChan(running, func() (any, error) { return nil, nil })
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var errs []error
	for _, p := range x.parts {
		errs = append(errs, p.reader.Release())
	}
	x.parts = nil
	return errors.Join(errs...)
}

// Run updates the index until ctx is done, so that a listing has few plants to read.
func (x *Index) Run(ctx context.Context) error {
	for failed, idle := false, false; ; {
		before := x.logEnd()
		s, err := x.Acquire(ctx)
		if err == nil {
			s.Release()
		}
		if err != nil && !failed && ctx.Err() == nil {
			x.opts.Logger.Warn("cannot update the index of plants; will retry", "err", err)
		}
		failed = err != nil
		wasIdle, pause := idle, pollInterval
		idle = err == nil && x.logEnd().plants == before.plants
		if idle {
			pause = idleInterval
		}
		if idle && !wasIdle {
			x.build(mergeIfIdle)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// Describe describes the plants as a dataset.
func (x *Index) Describe(ctx context.Context) (herb.Dataset, error) {
	page, err := x.log.ReadPlants(ctx, 0, 0)
	return describe(page.Epoch, page.Total), err
}

func describe(epoch string, plants int) herb.Dataset {
	fields := herb.PlantFields()
	return herb.Dataset{
		Ref:         herb.PlantsRef,
		Title:       "Plants",
		Description: "The plants that were created, in the order of their creation",
		Access:      herb.AccessOpen,
		Fields:      fields,
		Details:     herb.Details{PrimaryKey: []string{fields[0].Name}},
		Version:     epoch + "-" + strconv.Itoa(plants), // changes with each creation and never repeats
		Records:     plants,
	}
}

// Acquire returns a snapshot of the current plants, which the caller must release: it has at least
// all plants that the log had when Acquire was called. It waits while the index of a large log is
// being built.
func (x *Index) Acquire(ctx context.Context) (*Snapshot, error) {
	for {
		at := x.logEnd()
		limit := readLimit
		if at.resets == 0 { // open the existing segments first
			limit = 0
		}
		page, err := x.log.ReadPlants(ctx, at.overlap(), limit)
		if err != nil {
			return nil, err
		}
		s, needsBuild, err := x.add(page, at)
		if s != nil || err != nil {
			return s, err
		}
		if !needsBuild {
			continue
		}
		if err := x.waitForBuild(ctx, mergeSmaller); err != nil {
			return nil, err
		}
	}
}

// logEnd is the end of the plants that an index has.
type logEnd struct {
	resets int   // number of times that the index was reset
	plants int   // number of plants
	batch  int64 // batch number of the last of them
}

func (x *Index) logEnd() logEnd {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.end
}

// overlap returns the number of plants before the last one. The last one is read again: if its
// batch is another one, the log is not the one that the index was built from, for example because
// the database was restored from a backup.
func (p logEnd) overlap() int { return max(p.plants-1, 0) }

// add adds a page of the log that was read when the index ended at a position. If the index then
// has all plants of that log, add returns a snapshot: mu is held from the check to the snapshot, so
// that no reset comes between them. If the log is too far ahead, too many plants are in memory, or
// these plants are being written to a file, add adds nothing and reports that the index needs a
// build.
func (x *Index) add(page store.PlantPage, at logEnd) (s *Snapshot, needsBuild bool, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed.Err() != nil:
		return nil, false, herb.Errorf(herb.CodeUnavailable, "cannot list plants: the server is stopping")
	case at.resets != x.end.resets:
		return nil, false, nil
	case page.Epoch != x.epoch:
		return nil, false, x.open(page.Epoch)
	case at.plants > 0 && (len(page.Plants) == 0 || page.FirstBatch != at.batch):
		x.opts.Logger.Warn("the log of plants has changed; building its index again", "plants", page.Total,
			"indexed", at.plants)
		return nil, false, x.reset()
	case page.Total-x.end.plants > farBehind*x.opts.SealAt, x.inMemory() > maxInMemory*x.opts.SealAt,
		x.frozen > x.end.plants:
		return nil, true, nil
	}
	if have := x.end.plants - at.overlap(); have < len(page.Plants) {
		if err := x.appendPlants(page.Plants[have:], page.LastBatch); err != nil {
			return nil, false, err
		}
	}
	if x.end.plants < page.Total {
		return nil, false, nil
	}
	s, err = x.snapshot()
	return s, false, err
}

// appendPlants adds the next plants of the log, the last of which is in a batch. mu is held.
func (x *Index) appendPlants(plants []herb.NewPlant, batch int64) error {
	records := make([]herb.Record, 0, len(plants))
	for _, p := range plants {
		records = append(records, recordOf(p))
	}
	if err := x.append(records); err != nil {
		return err
	}
	x.end.plants += len(records)
	x.end.batch = batch
	if x.inMemory() >= x.opts.SealAt {
		x.build(mergeSmaller)
	}
	return nil
}

func recordOf(p herb.NewPlant) herb.Record {
	tag, _ := store.TagColumns(p.Plant)
	return herb.Record{strconv.FormatInt(p.ID, 10), p.Name, tag}
}
