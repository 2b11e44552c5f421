package plants_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/plants"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/store"
)

// memoryLog is a log in memory.
type memoryLog struct {
	mu     sync.Mutex
	epoch  string
	plants []herb.NewPlant
	batch  []int64       // by plant
	read   int           // plants returned
	block  chan struct{} // nil, or closed when reads may return plants
}

func newMemoryLog(n int) *memoryLog {
	l := &memoryLog{epoch: "e1"}
	l.create(n)
	return l
}

// create creates plants with consecutive IDs.
func (l *memoryLog) create(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.batch = l.batch[:len(l.plants)] // a test may have removed plants
	for range n {
		id := int64(len(l.plants) + 1)
		l.plants = append(l.plants, plant(id, fmt.Sprintf("Genus%d species%d", id%7, id), fmt.Sprintf("tag%d", id%3)))
	}
	l.numberBatch()
}

// numberBatch gives the plants that were added since the last call a batch number.
func (l *memoryLog) numberBatch() {
	for batch := rand.Int64(); len(l.batch) < len(l.plants); {
		l.batch = append(l.batch, batch)
	}
}

// ReadPlants implements plants.Log.
func (l *memoryLog) ReadPlants(ctx context.Context, n, limit int) (store.PlantPage, error) {
	if l.block != nil && limit > 0 {
		select {
		case <-l.block:
		case <-ctx.Done():
			return store.PlantPage{}, ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n = min(n, len(l.plants))
	page := slices.Clone(l.plants[n:min(n+limit, len(l.plants))])
	l.read += len(page)
	result := store.PlantPage{Epoch: l.epoch, Total: len(l.plants), Plants: page}
	if len(page) > 0 {
		result.FirstBatch, result.LastBatch = l.batch[n], l.batch[n+len(page)-1]
	}
	return result, ctx.Err()
}

// openIndex returns an index that is closed with the test.
func openIndex(t testing.TB, log plants.Log, o plants.IndexOptions) *plants.Index {
	t.Helper()
	x := plants.NewIndex(log, o)
	must.CloseAfter(t, x)
	return x
}

func closeIndex(t testing.TB, x *plants.Index) {
	t.Helper()
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// acquire returns a snapshot of the current plants, which is released when the test ends.
func acquire(t *testing.T, x *plants.Index) *plants.Snapshot {
	t.Helper()
	s, err := x.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Release)
	return s
}

// total returns the total of a query.
func total(t *testing.T, s *plants.Snapshot, raw string) int {
	t.Helper()
	return segmenttest.Total(t, s, herb.PlantFields(), raw)
}

// wantPlants checks that an index has exactly the plants of a log.
func wantPlants(t *testing.T, x *plants.Index, log *memoryLog) {
	t.Helper()
	s := acquire(t, x)
	stream, err := s.Stream(t.Context(), &query.Request{Page: 1, PerPage: 1})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for record, err := range stream.Records {
		if err != nil {
			t.Fatal(err)
		}
		if i < len(log.plants) && !strings.Contains(string(record), `"`+log.plants[i].Name+`"`) {
			t.Fatalf("plant %d is %s; want %+v", i+1, record, log.plants[i])
		}
		i++
	}
	if n := len(log.plants); i != n || stream.Total != n || s.Dataset.Records != n {
		t.Errorf("%d plants, a total of %d and a description of %d; want %d", i, stream.Total, s.Dataset.Records, n)
	}
	if key := s.Dataset.PrimaryKey; !slices.Equal(key, []string{"id"}) {
		t.Errorf("primary key %v", key)
	}
}

// files returns the segments in a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestIndex_seal creates plants in steps: few stay in memory, and the segments are few.
func TestIndex_seal(t *testing.T) {
	t.Parallel()
	log, dir := newMemoryLog(0), t.TempDir()
	x := plants.NewIndex(log, plants.IndexOptions{Dir: dir, SealAt: 10})
	for range 100 {
		log.create(7)
		wantPlants(t, x, log)
	}
	closeIndex(t, x)
	if n := len(files(t, dir)); n == 0 || n > 8 {
		t.Errorf("%d files for 700 plants", n)
	}
	if log.read > 2000 { // each once, the last one of each listing again, and builds that read ahead
		t.Errorf("%d plants were read from the log", log.read)
	}
}

// TestIndex_idle checks that Run indexes new plants, and merges all segments when no plants are
// created any more.
func TestIndex_idle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, dir := newMemoryLog(0), t.TempDir()
		x := plants.NewIndex(log, plants.IndexOptions{Dir: dir, SealAt: 64})
		for range 11 {
			log.create(70)
			acquire(t, x)
			synctest.Wait() // for the build
		}
		before := len(files(t, dir))
		log.create(70)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- x.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n := len(files(t, dir)); n != 1 || before != 3 { // 8, 2 and 1 times 70 plants
			t.Errorf("%d segments, %d before; want 3, then 1", n, before)
		}
		log.read = 0
		wantPlants(t, x, log)
		if log.read > 1 {
			t.Errorf("%d plants were not indexed", log.read)
		}
		closeIndex(t, x)
	})
}

// indexed returns a log of n plants, and a folder with the segments of an index of it that is
// closed.
func indexed(t *testing.T, n int) (log *memoryLog, dir string) {
	t.Helper()
	log, dir = newMemoryLog(n), t.TempDir()
	x := plants.NewIndex(log, plants.IndexOptions{Dir: dir, SealAt: 10})
	wantPlants(t, x, log)
	closeIndex(t, x)
	return log, dir
}

// TestIndex_reopen checks that an index uses the segments of an earlier one.
func TestIndex_reopen(t *testing.T) {
	t.Parallel()
	log, dir := indexed(t, 1000)
	log.create(5)
	log.read = 0
	wantPlants(t, openIndex(t, log, plants.IndexOptions{Dir: dir, SealAt: 10}), log)
	if log.read > 10 {
		t.Errorf("%d plants were read again", log.read)
	}
}

// TestIndex_otherLog opens segments of a log that is not that of the database: it was restored, or
// replaced.
func TestIndex_otherLog(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*memoryLog){
		"another database": func(l *memoryLog) { l.epoch = "e2" },
		"fewer plants":     func(l *memoryLog) { l.plants = l.plants[:50] },
		"no plants":        func(l *memoryLog) { l.plants = nil },
		"other plants": func(l *memoryLog) {
			l.plants = l.plants[:50]
			l.create(100) // the last known plant is the same as before
			l.plants[60].Name = "Moss"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, dir := newMemoryLog(100), t.TempDir()
			before := plants.NewIndex(log, plants.IndexOptions{Dir: dir, SealAt: 10})
			running := openIndex(t, log, plants.IndexOptions{Dir: t.TempDir(), SealAt: 10})
			wantPlants(t, before, log)
			wantPlants(t, running, log)
			closeIndex(t, before)
			change(log)
			wantPlants(t, running, log)
			wantPlants(t, openIndex(t, log, plants.IndexOptions{Dir: dir, SealAt: 10}), log)
		})
	}
}

// TestIndex_otherRelease opens segments whose indexes another release has built: this program
// builds its own beside them, and that release finds its own again.
func TestIndex_otherRelease(t *testing.T) {
	t.Parallel()
	log, dir := indexed(t, 1000)
	setFormat := func(names []string, change byte) {
		t.Helper()
		for _, name := range names {
			b, err := os.ReadFile(name)
			must.NoError(t, err)
			b[8] ^= change // after the magic
			must.NoError(t, os.Remove(name))
			must.NoError(t, os.WriteFile(name, b, 0o600))
		}
	}
	others := files(t, dir)
	setFormat(others, 64)
	x := plants.NewIndex(log, plants.IndexOptions{Dir: dir, SealAt: 10})
	wantPlants(t, x, log)
	closeIndex(t, x)
	var ours []string
	for _, name := range files(t, dir) {
		if !slices.Contains(others, name) {
			ours = append(ours, name)
		}
	}
	setFormat(others, 64)
	setFormat(ours, 64) // now they are those of another release
	log.read = 0
	wantPlants(t, openIndex(t, log, plants.IndexOptions{Dir: dir, SealAt: 10}), log)
	if log.read > 10 || len(ours) == 0 {
		t.Errorf("%d plants were read again; %d segments of the other release", log.read, len(ours))
	}
	for _, name := range ours {
		must.NoError(t, os.Chtimes(name, time.Time{}, time.Now().Add(-31*24*time.Hour)))
	}
	wantPlants(t, openIndex(t, log, plants.IndexOptions{Dir: dir, SealAt: 10}), log)
	for _, name := range files(t, dir) {
		if slices.Contains(ours, name) {
			t.Errorf("%s is still there after 31 days", name)
		}
	}
}

// TestIndex_damaged opens damaged files: they are built again.
func TestIndex_damaged(t *testing.T) {
	t.Parallel()
	log, dir := indexed(t, 100)
	old, running := filepath.Join(dir, "e1_0_5_1_x.segment.part"), filepath.Join(dir, "e1_0_5_1_y.segment.part")
	for _, name := range []string{old, running} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, name := range files(t, dir) {
		if b, err := os.ReadFile(name); err == nil {
			b[len(b)/2] ^= 1
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := files(t, dir)
	wantPlants(t, openIndex(t, log, plants.IndexOptions{Dir: dir, SealAt: 10}), log)
	after := files(t, dir)
	for _, name := range before {
		if slices.Contains(after, name) != (name == running) {
			t.Errorf("%s is still there, or it is the build of another process and is not", name)
		}
	}
}

// TestIndex_damagedLater damages a file that is in use: a listing fails, the next one has all
// plants.
func TestIndex_damagedLater(t *testing.T) {
	t.Parallel()
	log, dir := newMemoryLog(1000), t.TempDir()
	x := openIndex(t, log, plants.IndexOptions{Dir: dir, SealAt: 10})
	wantPlants(t, x, log)
	for _, name := range files(t, dir) {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(make([]byte, 4096), 4096); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	failed := false
	for _, raw := range []string{"page=1", "page=20", "sort=name", "search=genus1", "tag=tag1"} {
		r, err := query.Parse(raw, herb.PlantFields())
		if err != nil {
			t.Fatal(err)
		}
		_, err = acquire(t, x).List(t.Context(), r)
		failed = failed || err != nil
	}
	if !failed {
		t.Error("no listing failed")
	}
	wantPlants(t, x, log)
}

// TestIndex_wait checks that a listing waits for a build only as long as its context allows, that
// the build goes on, and that closing cancels it.
func TestIndex_wait(t *testing.T) {
	t.Parallel()
	log := newMemoryLog(1000)
	log.block = make(chan struct{})
	slow := struct{ plants.Log }{log}
	x := openIndex(t, firstPage{slow, log}, plants.IndexOptions{Dir: t.TempDir(), SealAt: 10})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := x.Acquire(ctx)
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(log.block)
	wantPlants(t, x, log)
	closed := plants.NewIndex(firstPage{slow, log}, plants.IndexOptions{Dir: t.TempDir(), SealAt: 10})
	closeIndex(t, closed)
}

// firstPage is a log whose first page is never blocked.
type firstPage struct {
	plants.Log
	log *memoryLog
}

func (f firstPage) ReadPlants(ctx context.Context, n, limit int) (store.PlantPage, error) {
	if n == 0 && limit > 1000 {
		return store.PlantPage{Epoch: f.log.epoch, Total: len(f.log.plants)}, ctx.Err()
	}
	return f.Log.ReadPlants(ctx, n, limit)
}

// TestIndex_shorterLog loses the last plants while the index is built, as when another database
// takes over: the build fails instead of waiting for them, and the next listing has those that are
// left.
func TestIndex_shorterLog(t *testing.T) {
	t.Parallel()
	log := &losingLog{memoryLog: newMemoryLog(5000)}
	x := openIndex(t, log, plants.IndexOptions{Dir: t.TempDir(), SealAt: 10})
	if _, err := x.Acquire(t.Context()); err == nil || !strings.Contains(err.Error(), "plant 4097") {
		t.Errorf("got %v", err)
	}
	wantPlants(t, x, log.memoryLog)
}

// losingLog is a log that loses plants after a build has read the first page.
type losingLog struct {
	*memoryLog
	building bool // a build has read the last plant
	lost     bool
	missed   int // reads of plants that are lost
}

func (l *losingLog) ReadPlants(ctx context.Context, n, limit int) (store.PlantPage, error) {
	page, err := l.memoryLog.ReadPlants(ctx, n, limit)
	switch {
	case l.lost && limit > 1 && len(page.Plants) == 0:
		l.missed++
		if l.missed > 1 {
			return page, errors.New("plants that are lost are read again")
		}
	case l.building && limit > 1 && !l.lost:
		l.lost = true
		l.plants = l.plants[:len(page.Plants)]
	}
	l.building = l.building || limit == 1
	return page, err
}

// TestIndex_concurrent lists and counts while plants are created: a listing has all plants that
// existed when it started, and a snapshot never changes.
func TestIndex_concurrent(t *testing.T) {
	t.Parallel()
	log := newMemoryLog(1)
	x := openIndex(t, log, plants.IndexOptions{Dir: t.TempDir(), SealAt: 20})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				log.create(3)
				log.mu.Lock()
				least := len(log.plants)
				log.mu.Unlock()
				s, err := x.Acquire(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				first := total(t, s, "")
				if tagged := total(t, s, "tag=tag0") + total(t, s, "tag=tag1&sort=name") +
					total(t, s, "search=tag2"); first < least || tagged != first {
					t.Errorf("%d plants, %d by tag; want at least %d", first, tagged, least)
				}
				s.Release()
			}
		})
	}
	wg.Wait()
	wantPlants(t, x, log)
}
