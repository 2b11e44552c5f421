package fulltext

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// ScoreOrder is the records of a set by descending score, ties by number.
//
// Records are counted by level, the rounded score, to locate a position. Records of a level with
// only one score are ordered by number; records of other levels are scored again and sorted.
type ScoreOrder struct {
	scores  Scores
	steps   *guard.Steps
	set     *bitmap.Set
	scale   float64                // levels per unit of score
	levelOf []uint16               // by record of the set
	levels  []level                // best first
	sorted  map[int][]scoredRecord // by mixed level, its records in order; computed on demand
}

// Scores are the scores of records.
type Scores struct {
	Max float64 // upper bound; none is negative
	// Begin returns a function that returns the scores of the next records of about n, up to
	// bitmap.EachAtOnce. They are valid until the next call.
	Begin func(n int) func(records []uint32) []float64
}

// scoredRecord is a record with its score.
type scoredRecord struct {
	score  float64
	record uint32
}

// compare orders records by descending score, ties by number.
func (s scoredRecord) compare(other scoredRecord) int {
	return cmp.Or(cmp.Compare(other.score, s.score), cmp.Compare(s.record, other.record))
}

// level is the records with the same rounded score.
type level struct {
	// bits that are 1, and bits that are 0, in the encoding of some score; a bit in both means
	// different scores
	ones, zeros uint64
	end         uint32 // number of records in this and better levels
}

func (l *level) add(score float64) {
	encoded := math.Float64bits(score)
	l.ones |= encoded // without a branch, which would be unpredictable
	l.zeros |= ^encoded
	l.end++
}

// isMixed reports whether the records have different scores.
func (l *level) isMixed() bool { return l.ones&l.zeros != 0 }

// score returns the score of the records, which must not be mixed.
func (l *level) score() float64 { return math.Float64frombits(l.ones) }

// Order orders the records of a set, which must remain unchanged.
func (s *Scorer) Order(set *bitmap.Set) *ScoreOrder {
	return NewScoreOrder(s.steps, set,
		Scores{s.maxScore, func(n int) func([]uint32) []float64 { return s.newBatchScorer(n).score }})
}

// NewScoreOrder orders the records of a set, which must remain unchanged, by scores.
func NewScoreOrder(st *guard.Steps, set *bitmap.Set, scores Scores) *ScoreOrder {
	const maxLevels = 1 << 14
	const levelOfSize = 2
	st.Reserve(levelOfSize * set.Len())
	r := &ScoreOrder{
		scores: scores, steps: st, set: set, levelOf: make([]uint16, set.Len()), sorted: map[int][]scoredRecord{},
		levels: make([]level, min(set.Len()/4+1, maxLevels)),
	}
	if set.Len() == 0 { // a clause may have no frequencies
		return r
	}
	r.scale = float64(len(r.levels)-1) / scores.Max
	rest, score := r.levelOf, scores.Begin(set.Len())
	maxScore, scale, levels := scores.Max, r.scale, r.levels
	set.Each(st, func(records []uint32) {
		for i, score := range score(records) {
			number := uint16((maxScore - score) * scale)
			rest[i] = number
			levels[number].add(score)
		}
		rest = rest[len(records):]
	})
	for i := range r.levels {
		r.levels[i].end += uint32(r.start(i))
	}
	return r
}

// levelAt returns the level of the record at a position.
func (r *ScoreOrder) levelAt(i int) int {
	return sort.Search(len(r.levels), func(l int) bool { return int(r.levels[l].end) > i })
}

// start returns the number of records in better levels.
func (r *ScoreOrder) start(level int) int {
	if level == 0 {
		return 0
	}
	return int(r.levels[level-1].end)
}

// scan calls f for the records in levels first to last, by number, with their positions in the set,
// until it returns false.
func (r *ScoreOrder) scan(first, last int, f func(level int, position uint32) bool) {
	low, span := uint16(first), uint16(last-first)
	position := uint32(0)
	for chunk := range slices.Chunk(r.levelOf, bitmap.EachAtOnce) {
		r.steps.Add(len(chunk))
		for i, level := range chunk {
			if level-low <= span && !f(int(level), position+uint32(i)) {
				return
			}
		}
		position += bitmap.EachAtOnce
	}
}

// Page returns the records at positions [from, to).
func (r *ScoreOrder) Page(from, to int) []uint32 {
	first, last := r.levelAt(from), r.levelAt(to-1)
	next := make([]int, last-first+1) // by level, the position of its next record
	for i := range next {
		next[i] = r.start(first + i)
	}
	page := make([]uint32, to-from)
	var onPage []int          // positions on the page of records that are not in mixed levels
	var inSet, mixed []uint32 // positions in the set of these records, and of all in mixed levels
	r.scan(first, last, func(level int, position uint32) bool {
		if r.levels[level].isMixed() {
			mixed = append(mixed, position)
			return true
		}
		p := next[level-first]
		next[level-first]++ // also for a record before the page
		if p >= from && p < to {
			inSet, onPage = append(inSet, position), append(onPage, p-from)
		}
		return len(onPage) < len(page)
	})
	for i, rec := range r.set.At(r.steps, inSet) {
		page[onPage[i]] = rec
	}
	rest := r.sort(mixed)
	for l := first; len(rest) > 0; l++ {
		if start, end := r.start(l), int(r.levels[l].end); r.levels[l].isMixed() {
			for p := max(start, from); p < min(end, to); p++ {
				page[p-from] = rest[p-start].record
			}
			rest = rest[end-start:]
		}
	}
	return page
}

// Sizes of the items of lists.
const (
	positionSize = 4
	scoredSize   = 16
)

// sort returns the records at some positions in the set, by descending score.
func (r *ScoreOrder) sort(positions []uint32) []scoredRecord {
	if len(positions) == 0 {
		return nil
	}
	r.steps.Reserve((2*positionSize + scoredSize) * len(positions)) // the positions as well
	records := r.set.At(r.steps, positions)
	all, scores := make([]scoredRecord, 0, len(records)), r.scores.Begin(len(records))
	for chunk := range slices.Chunk(records, bitmap.EachAtOnce) {
		for i, score := range scores(chunk) {
			all = append(all, scoredRecord{score, chunk[i]})
		}
	}
	slices.SortFunc(all, scoredRecord.compare)
	return all
}

// sortedIn returns the records of a mixed level in order.
func (r *ScoreOrder) sortedIn(level int) []scoredRecord {
	all, ok := r.sorted[level]
	if !ok {
		var positions []uint32
		r.scan(level, level, func(_ int, position uint32) bool {
			positions = append(positions, position)
			return true
		})
		all = r.sort(positions)
		r.sorted[level] = all
	}
	return all
}

// Score returns the score of the record at a position.
func (r *ScoreOrder) Score(i int) float64 {
	l := r.levelAt(i)
	if r.levels[l].isMixed() {
		return r.sortedIn(l)[i-r.start(l)].score
	}
	return r.levels[l].score()
}
