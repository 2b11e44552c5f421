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
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// part is a segment of plants. Its file name consists of the epoch of the log, the numbers of plants before and through the
// segment, and a random text, so that several processes can share a folder.
type part struct {
	reader *segment.Reader
	path   string
}

const (
	partSuffix  = ".segment"
	buildMemory = 32 << 20 // for sorting in a build
	// mergeRatio is how many times as large as the plants after it a segment is, at least. Otherwise it is merged with them.
	// So the number of segments, and how often each plant is written, is logarithmic in the number of plants.
	mergeRatio = 2
)

func partPath(dir, epoch string, start, end int) string {
	return filepath.Join(dir, fmt.Sprintf("%s_%d_%d_%s%s", epoch, start, end, rand.Text(), partSuffix))
}

// parsePart returns the range of plants in a file of an epoch.
func parsePart(name, epoch string) (start, end int, ok bool) {
	fields := strings.Split(strings.TrimSuffix(name, partSuffix), "_")
	if len(fields) != 4 || fields[0] != epoch || !strings.HasSuffix(name, partSuffix) {
		return 0, 0, false
	}
	start, err := strconv.Atoi(fields[1])
	end, err2 := strconv.Atoi(fields[2])
	return start, end, err == nil && err2 == nil && start < end
}

// reset discards all plants and their files. mu is held.
func (x *Index) reset() error {
	var errs []error
	for _, p := range x.parts {
		errs = append(errs, p.discard())
	}
	x.parts, x.tail, x.end = nil, segment.NewTail(herb.PlantFields()), position{resets: x.end.resets + 1}
	return errors.Join(errs...)
}

// discard releases a part and removes its file.
func (p *part) discard() error {
	if err := os.Remove(p.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(err, p.reader.Release())
	}
	return p.reader.Release()
}

// open starts with the log of an epoch and the segments of an earlier process, if there are any, and removes all other
// files. mu is held.
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
		best, bestEnd := "", 0
		for name := range unused {
			if start, end, ok := parsePart(name, epoch); ok && start == x.end.plants && end > bestEnd {
				best, bestEnd = name, end
			}
		}
		if best == "" {
			break
		}
		delete(unused, best)
		path := filepath.Join(x.opts.Dir, best)
		p, last, err := openPart(path, bestEnd-x.end.plants)
		if err != nil {
			x.opts.Logger.Warn("cannot use a segment of plants; building it again", "err", err)
			if err := os.Remove(path); err != nil {
				return err
			}
			continue
		}
		x.parts, x.end.plants, x.end.last = append(x.parts, p), bestEnd, last
	}
	for name := range unused {
		if err := os.RemoveAll(filepath.Join(x.opts.Dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// openPart opens a file, which must be intact, and returns its last plant as JSON.
func openPart(path string, plants int) (_ *part, last []byte, err error) {
	r, err := segment.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Release())
		}
	}()
	if err := r.Verify(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if r.Len() != plants || !reflect.DeepEqual(r.Fields(), herb.PlantFields()) {
		return nil, nil, fmt.Errorf("%s: written by another version of the program", path)
	}
	page, err := r.List(context.Background(), &query.Request{Page: plants, PerPage: 1, Sort: query.NoSort})
	if err != nil {
		return nil, nil, err
	}
	return &part{r, path}, append(last, page.Records[0]...), nil
}

// build writes plants to segments until few are in memory and the log is not far ahead, in the background. There is one
// build at a time.
func (x *Index) build() <-chan singleflight.Result {
	return x.building.DoChan("", func() (any, error) {
		err := x.buildParts(x.closed)
		if err != nil && x.closed.Err() == nil {
			x.opts.Logger.Error("cannot build the index of plants", "err", err)
		}
		return nil, err
	})
}

func (x *Index) buildParts(ctx context.Context) error {
	for {
		page, err := x.log.ReadPlants(ctx, 0, 0)
		if err != nil {
			return err
		}
		x.mu.Lock()
		s, epoch, resets, end := x.snapshot(), x.epoch, x.end.resets, x.end.plants
		x.mu.Unlock()
		far := page.Total-end > farBehind*x.opts.SealAt
		if far {
			end = page.Total
		}
		if epoch != page.Epoch || !far && s.union.Tail.Len() < x.opts.SealAt {
			s.Release()
			return nil
		}
		err = x.seal(ctx, s, epoch, resets, end)
		s.Release()
		if err != nil {
			return err
		}
	}
}

// seal writes the plants after the segments of a snapshot, up to a number of them, to a segment, together with the segments
// that are not much larger.
func (x *Index) seal(ctx context.Context, s *Snapshot, epoch string, resets, end int) error {
	if err := os.MkdirAll(x.opts.Dir, 0o700); err != nil {
		return err
	}
	start, first := s.union.Len()-s.union.Tail.Len(), len(s.union.Segments)
	for first > 0 && s.union.Segments[first-1].Len() < mergeRatio*(end-start) {
		first--
		start -= s.union.Segments[first].Len()
	}
	began := time.Now()
	path := partPath(x.opts.Dir, epoch, start, end)
	opts := segment.Options{Memory: buildMemory}
	if _, err := segment.Create(ctx, path, herb.PlantFields(), x.records(ctx, s, first, end), opts); err != nil {
		return err
	}
	p, last, err := openPart(path, end-start)
	if err != nil {
		return err
	}
	x.opts.Logger.Info("indexed plants", "plants", end-start, "total", end, "took", time.Since(began))
	return x.replace(first, p, last, resets, end)
}

// records yields the plants from a segment of a snapshot on, up to a number of plants in all.
func (x *Index) records(ctx context.Context, s *Snapshot, first, end int) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for _, r := range s.union.Segments[first:] {
			for record, err := range r.Records(ctx) {
				if !yield(record, err) {
					return
				}
			}
		}
		for _, record := range s.union.Tail.Records() {
			if !yield(record, nil) {
				return
			}
		}
		for n := s.union.Len(); n < end; {
			page, err := x.log.ReadPlants(ctx, n, min(readLimit, end-n))
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

// replace replaces the segments from a position on, and the plants in memory that are in it, by a part.
func (x *Index) replace(first int, p *part, last []byte, resets, end int) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if resets != x.end.resets {
		return p.discard()
	}
	var errs []error
	kept := max(x.end.plants-end, 0)
	for _, old := range x.parts[first:] {
		errs = append(errs, old.discard())
	}
	x.parts = append(x.parts[:first:first], p)
	x.tail = x.tail.After(x.tail.Len() - kept)
	if kept == 0 {
		x.end.plants, x.end.last = end, last
	}
	return errors.Join(errs...)
}
