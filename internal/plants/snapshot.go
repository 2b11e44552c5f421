package plants

import (
	"context"
	"errors"
	"slices"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/typed"
)

// Snapshot is the plants at one moment. It implements query.Engine. It must be released, and is not
// safe for concurrent use.
//
// A listing merges the pages of all segments. Facets, grids and groups cannot be merged, because a
// median, for example, needs all values: they are counted in one segment with all plants, which is
// built when they are requested.
type Snapshot struct {
	Dataset herb.Dataset // describes the plants
	index   *Index
	epoch   string
	resets  int               // of the index
	files   int               // segments that are files; the others are in memory
	parts   []*segment.Reader // in creation order; at least one
	whole   *segment.Reader   // has all plants; nil if none was needed
}

// snapshot returns a snapshot of the index as it is. mu is held.
func (x *Index) snapshot() (*Snapshot, error) {
	if len(x.parts) == 0 {
		if err := x.append(nil); err != nil {
			return nil, err
		}
	}
	s := &Snapshot{index: x, epoch: x.epoch, resets: x.end.resets, files: x.files()}
	plants := 0
	for _, p := range x.parts {
		p.reader.Acquire() // succeeds, because the index has a reference
		s.parts = append(s.parts, p.reader)
		plants += p.reader.Len()
	}
	s.Dataset = describe(x.epoch, plants)
	return s, nil
}

// Release releases the segments. Records that were listed from the snapshot are invalid afterwards.
func (s *Snapshot) Release() {
	for _, r := range s.segments() {
		_ = r.Release() // unmapping a mapped file does not fail
	}
}

// segments returns all segments that the snapshot holds.
func (s *Snapshot) segments() []*segment.Reader {
	if s.whole == nil {
		return s.parts
	}
	return append(slices.Clip(s.parts), s.whole)
}

// List returns a page of plants.
func (s *Snapshot) List(ctx context.Context, r *query.Request) (query.Page, error) {
	if len(s.parts) == 1 {
		page, err := s.parts[0].List(ctx, r)
		return page, s.check(err)
	}
	m, err := find(ctx, s.parts, r)
	if err != nil {
		return query.Page{}, s.check(err)
	}
	defer m.release()
	from := min(r.Offset(), m.total)
	records, err := m.page(from, min(from+r.PerPage, m.total))
	return query.Page{Total: m.total, Records: records}, s.check(err)
}

// Stream returns all plants that match a request, regardless of its page.
func (s *Snapshot) Stream(ctx context.Context, r *query.Request) (query.Stream, error) {
	if len(s.parts) == 1 {
		stream, err := s.parts[0].Stream(ctx, r)
		return stream, s.check(err)
	}
	m, err := find(ctx, s.parts, r)
	if err != nil {
		return query.Stream{}, s.check(err)
	}
	stream, err := m.stream()
	if err != nil {
		m.release()
	}
	return stream, s.check(err)
}

// Facets counts the values of fields among the matching plants.
func (s *Snapshot) Facets(ctx context.Context, r *query.FacetRequest) (f query.Facets, err error) {
	err = s.count(ctx, func(whole *segment.Reader) error {
		f, err = whole.Facets(ctx, r)
		return err
	})
	return f, err
}

// Grid counts the matching plants in the cells of a grid over two fields.
func (s *Snapshot) Grid(ctx context.Context, r *query.GridRequest) (g query.Grid, err error) {
	err = s.count(ctx, func(whole *segment.Reader) error {
		g, err = whole.Grid(ctx, r)
		return err
	})
	return g, err
}

// Aggregate computes measures of groups of the matching plants.
func (s *Snapshot) Aggregate(ctx context.Context, r *query.AggregateRequest) (a query.Aggregate, err error) {
	err = s.count(ctx, func(whole *segment.Reader) error {
		a, err = whole.Aggregate(ctx, r)
		return err
	})
	return a, err
}

// StreamGroups computes the groups of the matching plants, and their rows while they are read.
func (s *Snapshot) StreamGroups(ctx context.Context, r *query.AggregateRequest) (g query.GroupStream, err error) {
	err = s.count(ctx, func(whole *segment.Reader) error {
		g, err = whole.StreamGroups(ctx, r)
		return err
	})
	return g, err
}

// Words returns the words of a request of which other forms are searched as well.
func (s *Snapshot) Words(r *query.Request) (query.Words, error) {
	found, err := words(s.segments(), r)
	return found, s.check(err)
}

// words returns the words of a request that occur in any of several segments.
func words(parts []*segment.Reader, r *query.Request) (found query.Words, err error) {
	var failed error
	found, err = r.Words(func(word string) bool {
		return slices.ContainsFunc(parts, func(p *segment.Reader) bool {
			has, err := p.HasWord(word)
			if err != nil {
				failed = err
			}
			return has
		})
	})
	if failed != nil {
		return nil, failed
	}
	return found, err
}

// Types returns how other programs read the fields of plants.
func (s *Snapshot) Types() ([]typed.Column, error) {
	all := make([]typed.Facts, len(s.Dataset.Fields))
	for _, r := range s.parts {
		facts, err := r.Facts()
		if err != nil {
			return nil, s.check(err)
		}
		for i, f := range facts {
			all[i].Merge(f)
		}
	}
	types := make([]typed.Column, len(all))
	for i, f := range all {
		types[i] = typed.Of(&s.Dataset.Fields[i], f)
	}
	return types, nil
}

// count calls f with a segment that has all plants of the snapshot.
func (s *Snapshot) count(ctx context.Context, f func(whole *segment.Reader) error) error {
	whole, err := s.merge(ctx)
	if err != nil {
		return err
	}
	return s.check(f(whole))
}

const (
	// mergeWait is how long a request for counts waits for a segment with all plants. Then nearly
	// all suffice, so that a store that grows all the time is counted at all.
	mergeWait = time.Second
	// mostMergeWait is how long it waits if the segments do not have nearly all plants either.
	mostMergeWait = 20 * time.Second
)

// merge returns a segment with all plants of the snapshot. If plants were created while it was
// built, it has these as well, so that requests at the same time share a build.
func (s *Snapshot) merge(ctx context.Context) (*segment.Reader, error) {
	if len(s.parts) == 1 {
		return s.parts[0], nil
	}
	missing, limit := 0, mergeWait
	for began := time.Now(); s.whole == nil; {
		var err error
		if time.Since(began) >= mergeWait {
			missing, limit = s.mostMissing(), mostMergeWait
		}
		s.whole, err = s.index.mergedSince(s, missing)
		if s.whole != nil || err != nil {
			return s.whole, err
		}
		err = s.index.waitForMerge(ctx, limit, missing > 0)
		if err != nil {
			return nil, err
		}
		current, err := s.index.Acquire(ctx) // resets the index if the log has changed
		if err != nil {
			return nil, err
		}
		current.Release()
	}
	return s.whole, nil
}

// mostMissing returns how many plants of the snapshot counts may lack while plants are created.
func (s *Snapshot) mostMissing() int { return max(s.Dataset.Records/16, s.index.opts.SealAt) }

// mergedSince returns the first segment of the index if it has all plants of a snapshot but a
// number of missing ones; nil if it has not. The caller must release it. If there are no files, it
// merges all segments.
func (x *Index) mergedSince(s *Snapshot, missing int) (*segment.Reader, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s.resets != x.end.resets || len(x.parts) == 0 {
		return nil, herb.Errorf(herb.CodeUnavailable, "the index of plants is being built again; try again")
	}
	if x.files() == 0 && x.frozen == 0 && len(x.parts) > 1 {
		if err := x.replaceInMemory(0, nil); err != nil {
			return nil, err
		}
	}
	first := x.parts[0].reader
	if first.Len() < s.Dataset.Records-missing {
		return nil, nil
	}
	first.Acquire() // succeeds, because the index has a reference
	return first, nil
}

// check returns err. If a damaged segment caused it, check also resets the index, so that the next
// listing rebuilds the segments.
func (s *Snapshot) check(err error) error {
	if !errors.Is(err, segment.ErrCorrupt) && !errors.Is(err, segment.ErrUnexpected) ||
		!slices.ContainsFunc(s.segments(), func(r *segment.Reader) bool { return r.Verify() != nil }) {
		return err
	}
	x := s.index
	x.opts.Logger.Error("a segment of plants is damaged; building it again", "err", err)
	x.mu.Lock()
	defer x.mu.Unlock()
	if s.resets != x.end.resets {
		return err
	}
	return errors.Join(err, x.reset())
}
