package plants

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// part is a segment with a range of the plants. The name of a file consists of the epoch of the
// log, the start and the end of the range, the batch number of its last plant, and a random suffix,
// so that several processes can share a folder.
type part struct {
	reader *segment.Reader
	path   string // empty in memory
}

const (
	partSuffix  = ".segment"
	buildMemory = 32 << 20  // for sorting in a build
	keepUnused  = time.Hour // minimum age of an unknown file to be removed; another process may be writing a newer one
	// keepOther is the minimum age of a segment with the index of another release to be removed.
	// That release may still run, or run again after a downgrade.
	keepOther = 30 * 24 * time.Hour
	// mergeRatio is the minimum ratio of the size of a segment to the number of plants after it; a
	// smaller segment is merged with them. The number of segments, and of times that a plant is
	// written, is therefore logarithmic in the number of plants.
	mergeRatio = 2
)

func partPath(dir, epoch string, start int, end logEnd) string {
	name := fmt.Sprintf("%s_%d_%d_%d_%s%s", epoch, start, end.plants, end.batch, rand.Text(), partSuffix)
	return filepath.Join(dir, name)
}

// parsePart parses the name of a file and returns its range of plants. ok is false if it is not a
// segment of the epoch.
func parsePart(name, epoch string) (start int, end logEnd, ok bool) {
	numbers, ok := strings.CutPrefix(name, epoch+"_")
	_, err := fmt.Sscanf(numbers, "%d_%d_%d_", &start, &end.plants, &end.batch)
	return start, end, ok && err == nil && start < end.plants && strings.HasSuffix(name, partSuffix)
}

// reset discards all plants and their files. mu is held.
func (x *Index) reset() error {
	var errs []error
	for _, p := range x.parts {
		errs = append(errs, p.discard())
	}
	x.parts, x.frozen, x.end = nil, 0, logEnd{resets: x.end.resets + 1}
	return errors.Join(errs...)
}

// discard releases a part and removes its file, if it has one.
func (p *part) discard() error {
	err := p.reader.Release()
	if p.path != "" {
		err = errors.Join(os.RemoveAll(p.path), err)
	}
	return err
}

// open resets the index to the log of an epoch and opens the segments that earlier processes have
// built from it. It removes all other files unless they are so new that another process may be
// writing them. mu is held.
func (x *Index) open(epoch string) error {
	if err := x.reset(); err != nil {
		return err
	}
	x.epoch = epoch
	entries, err := os.ReadDir(x.opts.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	unused := map[string]bool{}
	for _, e := range entries {
		unused[e.Name()] = true
	}
	for {
		best, bestEnd := "", logEnd{}
		for name := range unused {
			if start, end, ok := parsePart(name, epoch); ok && start == x.end.plants && end.plants > bestEnd.plants {
				best, bestEnd = name, end
			}
		}
		if best == "" {
			break
		}
		delete(unused, best)
		path := filepath.Join(x.opts.Dir, best)
		p, err := openPart(path, bestEnd.plants-x.end.plants)
		if errors.Is(err, segment.ErrIndex) {
			if err := removeOld(path, keepOther); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			x.opts.Logger.Warn("cannot use a segment of plants; building it again", "err", err)
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			continue
		}
		x.parts, x.end.plants, x.end.batch = append(x.parts, p), bestEnd.plants, bestEnd.batch
	}
	for name := range unused {
		if err := removeOld(filepath.Join(x.opts.Dir, name), keepUnused); err != nil {
			return err
		}
	}
	return nil
}

// removeOld removes a file, or a folder, unless it was modified recently.
func removeOld(path string, age time.Duration) error {
	if info, err := os.Stat(path); err != nil || time.Since(info.ModTime()) < age {
		return nil // another process may have removed it
	}
	return os.RemoveAll(path)
}

// openPart opens and verifies a segment that must contain that many plants.
func openPart(path string, plants int) (*part, error) {
	r, err := segment.Open(path)
	if err != nil {
		return nil, err
	}
	err = r.Verify()
	if err == nil && (r.Len() != plants || !reflect.DeepEqual(r.Fields(), herb.PlantFields())) {
		err = errors.New("written by another version of the program")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), r.Release())
	}
	return &part{r, path}, nil
}

// merging says which files a build merges with the plants that it writes.
type merging int

const (
	mergeSmaller merging = iota // those that mergeRatio requires
	mergeIfIdle                 // all, unless nearly all plants are in the first one
	mergeAll                    // all
)

// build starts writing plants to files in the background, until fewer than SealAt are in memory and
// the log is not far ahead. There is one build at a time: while one is running, build waits for it
// instead of starting another.
func (x *Index) build(m merging) <-chan singleflight.Result {
	return x.building.DoChan(writing, func() (any, error) {
		err := x.buildParts(x.closed, m)
		if err != nil && x.closed.Err() == nil {
			x.opts.Logger.Error("cannot build the index of plants", "err", err)
		}
		return nil, err
	})
}

// waitForBuild starts a build, or joins a running one, and waits for its end.
func (x *Index) waitForBuild(ctx context.Context, m merging) error {
	select {
	case built := <-x.build(m):
		return built.Err
	case <-ctx.Done():
		return herb.Wrap(herb.CodeUnavailable, ctx.Err(), "the index of plants is being built; try again")
	}
}

// waitForMerge starts a build with all plants, or joins a running one, and waits for its end for
// some time. If the caller needs it, it fails then. The request holds no slot of the server
// meanwhile.
func (x *Index) waitForMerge(ctx context.Context, limit time.Duration, needed bool) error {
	result, done := x.buildMerged(), make(chan struct{})
	var err error
	go func() {
		err = (<-result).Err
		close(done)
	}()
	waited := query.Wait(ctx, limit, done)
	if waited != nil {
		return herb.Wrap(herb.CodeUnavailable, waited, "the index of plants is being built; try again")
	}
	select {
	case <-done:
		return err
	default:
	}
	if needed {
		return herb.Errorf(herb.CodeUnavailable, "the index of plants is being built; try again")
	}
	return nil
}

// buildMerged starts a build of all plants for readers who count them. Before, it pauses for as
// long as the last one took, so that they occupy half a processor at most while plants are created.
// Other builds go on meanwhile.
func (x *Index) buildMerged() <-chan singleflight.Result {
	return x.building.DoChan(pausing, func() (any, error) {
		x.mu.Lock()
		pause := time.Until(x.mergeAfter)
		x.mu.Unlock()
		select {
		case <-time.After(pause):
		case <-x.closed.Done():
			return nil, x.closed.Err()
		}
		return nil, (<-x.build(mergeAll)).Err
	})
}

func (x *Index) buildParts(ctx context.Context, m merging) error {
	for ; ; m = mergeSmaller {
		page, err := x.log.ReadPlants(ctx, 0, 0)
		if err != nil {
			return err
		}
		if built, err := x.buildPart(ctx, page, m); err != nil || !built {
			return err
		}
	}
}

// buildPart writes a file if it is necessary, given the number of plants in the log.
func (x *Index) buildPart(ctx context.Context, page store.PlantPage, m merging) (built bool, err error) {
	s, end, err := x.freeze(page.Total)
	if err != nil {
		return false, err
	}
	defer s.Release()
	defer x.thaw()
	all := m == mergeAll && len(s.parts) > 1 || m == mergeIfIdle && s.worthMerging(x.opts.SealAt)
	if s.epoch != page.Epoch || !all && end.plants-s.inFiles() < x.opts.SealAt {
		return false, nil
	}
	return true, x.seal(ctx, s, end, all)
}

// freeze returns a snapshot to be written to a file, and the end of the file: that of the snapshot,
// or that of the log if it is far ahead. Until thaw, no segment in memory has plants both before
// and after the end.
func (x *Index) freeze(total int) (s *Snapshot, end logEnd, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, err = x.snapshot()
	if err != nil {
		return nil, end, err
	}
	end = x.end
	if total-end.plants > farBehind*x.opts.SealAt {
		end.plants = total
	}
	x.frozen = end.plants
	return s, end, nil
}

func (x *Index) thaw() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.frozen = 0
}

// inFiles returns the number of plants in files.
func (s *Snapshot) inFiles() (plants int) {
	for _, r := range s.parts[:s.files] {
		plants += r.Len()
	}
	return plants
}

// worthMerging reports whether enough plants are outside the first file to justify writing all
// plants again.
func (s *Snapshot) worthMerging(sealAt int) bool {
	n, first := s.Dataset.Records, 0
	if s.files > 0 {
		first = s.parts[0].Len()
	}
	return n-first >= max(n/16, sealAt/8)
}

// seal writes a file with all plants up to end that are not in a file of the snapshot yet. It
// merges the last files into it, as far as mergeRatio requires, or all files.
func (x *Index) seal(ctx context.Context, s *Snapshot, end logEnd, mergeAll bool) error {
	page, err := x.log.ReadPlants(ctx, end.plants-1, 1)
	if err != nil {
		return err
	}
	end.batch = page.LastBatch
	if err := os.MkdirAll(x.opts.Dir, 0o700); err != nil {
		return err
	}
	start, first := s.inFiles(), s.files
	for first > 0 && (mergeAll || s.parts[first-1].Len() < mergeRatio*(end.plants-start)) {
		first--
		start -= s.parts[first].Len()
	}
	started := time.Now()
	path := partPath(x.opts.Dir, s.epoch, start, end)
	opts := segment.Options{Memory: buildMemory}
	if _, err := segment.Create(ctx, path, herb.PlantFields(), x.records(ctx, s, first, end.plants), opts); err != nil {
		return err
	}
	p, err := openPart(path, end.plants-start)
	if err != nil {
		return err
	}
	took := time.Since(started)
	x.opts.Logger.Info("indexed plants", "plants", end.plants-start, "total", end.plants, "took", took)
	if mergeAll {
		x.mu.Lock()
		x.mergeAfter = time.Now().Add(took)
		x.mu.Unlock()
	}
	return x.replace(first, p, end)
}

// records yields the plants of a snapshot from its segment number first on, and those that follow
// it in the log, up to plant number end.
func (x *Index) records(ctx context.Context, s *Snapshot, first, end int) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for _, r := range s.parts[first:] {
			for record, err := range r.Records(ctx) {
				if !yield(record, err) {
					return
				}
			}
		}
		for n := s.Dataset.Records; n < end; {
			page, err := x.log.ReadPlants(ctx, n, min(readLimit, end-n))
			if err == nil && len(page.Plants) == 0 {
				err = fmt.Errorf("plant %d of %d is missing; the log of plants has become shorter", n+1, end)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, p := range page.Plants {
				if !yield(recordOf(p), nil) {
					return
				}
			}
			n += len(page.Plants)
		}
	}
}

// replace replaces the segments from number first on that have plants before end by the file that
// contains them. It discards the file if the index was reset while the file was written.
func (x *Index) replace(first int, p *part, end logEnd) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if end.resets != x.end.resets {
		return p.discard()
	}
	var errs []error
	last, replaced := first, 0
	for ; last < len(x.parts) && replaced < p.reader.Len(); last++ {
		replaced += x.parts[last].reader.Len()
		errs = append(errs, x.parts[last].discard())
	}
	x.parts = slices.Replace(x.parts, first, last, p)
	if x.end.plants <= end.plants {
		x.end = end
	}
	return errors.Join(errs...)
}
