package fulltext

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"herbarium/internal/segment/internal/bitmap"
)

// Ranking is the records of a set by descending score, ties by number.
//
// A score depends only on record length and term frequencies, so many records have the same. Records are counted by class
// to locate a position. Records in a class rank by number; only those of mixed classes are scored again and sorted.
type Ranking struct {
	scorer  *Scorer
	set     *bitmap.Set
	classes []uint16         // by record of the set
	groups  []group          // best first
	groupOf []uint16         // by class
	sorted  map[int][]scored // by mixed group, its records in order; computed on demand
}

// group is the classes with the same score.
type group struct {
	class
	end int // number of records in this and better groups
}

// Rank ranks the records of a set, which must remain unchanged.
func (s *Scorer) Rank(set *bitmap.Set) *Ranking {
	const maxTreeClauses = 2 // more have so many combinations of frequencies that a tree saves nothing
	r := s.newRanking(set)
	switch {
	case set.Len() == 0:
	case len(s.clauses) <= maxTreeClauses && r.rank(newClassTree(s, set.Len())):
	default:
		r.rank(newLevels(s, set.Len()))
	}
	return r
}

func (s *Scorer) newRanking(set *bitmap.Set) *Ranking {
	return &Ranking{scorer: s, set: set, classes: make([]uint16, set.Len()), sorted: map[int][]scored{}}
}

// rank ranks the records by their classes. It returns false if there are too many classes.
func (r *Ranking) rank(classifier classifier) bool {
	counts, ok := r.classify(classifier)
	if !ok {
		return false
	}
	classes, order := classifier.classes(), make([]uint16, 0, len(counts))
	for c, n := range counts {
		if n > 0 {
			order = append(order, uint16(c))
		}
	}
	slices.SortFunc(order, func(a, b uint16) int {
		r.scorer.steps.Add(1)
		return cmp.Compare(classes[b].best, classes[a].best)
	})
	r.groupOf = make([]uint16, len(counts))
	end := 0
	for _, c := range order {
		if n := len(r.groups); n == 0 || r.groups[n-1].class != classes[c] {
			r.groups = append(r.groups, group{class: classes[c]})
		}
		last := len(r.groups) - 1
		end += int(counts[c])
		r.groups[last].end = end
		r.groupOf[c] = uint16(last)
	}
	return true
}

// classify assigns the records to classes and returns their number by class. It returns false if there are too many classes.
func (r *Ranking) classify(classifier classifier) (counts []uint32, ok bool) {
	frequencies, rest := r.scorer.frequencies(r.set.Len()), r.classes
	ok = true
	r.set.Each(r.scorer.steps, func(records []uint32) {
		r.scorer.steps.Add(len(records) * len(r.scorer.clauses))
		if ok = ok && classifier.classify(frequencies, records, rest); !ok {
			return
		}
		if more := len(classifier.classes()) - len(counts); more > 0 {
			counts = append(counts, make([]uint32, more)...)
		}
		for _, c := range rest[:len(records)] {
			counts[c]++
		}
		rest = rest[len(records):]
	})
	return counts, ok
}

// at returns the group of the record at a position.
func (r *Ranking) at(i int) int {
	return sort.Search(len(r.groups), func(g int) bool { return r.groups[g].end > i })
}

// start returns the number of records in better groups.
func (r *Ranking) start(group int) int {
	if group == 0 {
		return 0
	}
	return r.groups[group-1].end
}

// eachIn calls f for the records in groups first to last, by number: with their positions in the set.
func (r *Ranking) eachIn(first, last int, f func(group int, position uint32)) {
	wanted := make([]uint8, len(r.groupOf)) // by class: 1 or 0
	for c, g := range r.groupOf {
		if int(g) >= first && int(g) <= last {
			wanted[c] = 1
		}
	}
	var found []uint32
	r.scorer.steps.Blocks(0, len(r.classes), func(from, to int) {
		found = slices.Grow(found[:0], to-from)[:to-from]
		n := 0
		for i, c := range r.classes[from:to] { // without a branch, which would be unpredictable
			found[n] = uint32(from + i)
			n += int(wanted[c])
		}
		for _, i := range found[:n] {
			f(int(r.groupOf[r.classes[i]]), i)
		}
	})
}

// Page returns the records at positions [from, to).
func (r *Ranking) Page(from, to int) []uint32 {
	first, last := r.at(from), r.at(to-1)
	next := make([]int, last-first+1) // by group, the position of its next record
	for i := range next {
		next[i] = r.start(first + i)
	}
	page := make([]uint32, to-from)
	var inSet []uint32 // positions in the set of those records of the page that are not in mixed groups
	var onPage []int   // their positions on the page
	r.eachIn(first, last, func(group int, position uint32) {
		if p := next[group-first]; p >= from && p < to && !r.groups[group].mixed() {
			inSet, onPage = append(inSet, position), append(onPage, p-from)
		}
		next[group-first]++
	})
	for i, rec := range r.set.At(r.scorer.steps, inSet) {
		page[onPage[i]] = rec
	}
	for g := first; g <= last; g++ {
		if r.groups[g].mixed() {
			start, all := r.start(g), r.sortedIn(g)
			for p := max(start, from); p < min(start+len(all), to); p++ {
				page[p-from] = all[p-start].record
			}
		}
	}
	return page
}

// sortedIn returns the records of a mixed group in order.
func (r *Ranking) sortedIn(group int) []scored {
	all, ok := r.sorted[group]
	if !ok {
		var positions []uint32
		r.eachIn(group, group, func(_ int, position uint32) { positions = append(positions, position) })
		all = r.scorer.sort(r.set.At(r.scorer.steps, positions))
		r.sorted[group] = all
	}
	return all
}

// Score returns the score of the record at a position.
func (r *Ranking) Score(i int) float64 {
	g := r.at(i)
	if r.groups[g].mixed() {
		return r.sortedIn(g)[i-r.start(g)].score
	}
	return math.Float64frombits(r.groups[g].best)
}

// CountThrough returns the number of records with at least a score.
func (r *Ranking) CountThrough(score float64) int {
	b := math.Float64bits(score)
	g := sort.Search(len(r.groups), func(g int) bool { return r.groups[g].worst < b })
	n := r.start(g)
	if g < len(r.groups) && r.groups[g].best >= b {
		all := r.sortedIn(g)
		n += sort.Search(len(all), func(i int) bool { return all[i].score < score })
	}
	return n
}

// sort returns ascending records that contain all clauses by descending score, ties by number.
func (s *Scorer) sort(records []uint32) []scored {
	all, scores := make([]scored, 0, len(records)), make([]float64, bitmap.EachAtOnce)
	frequencies := s.frequencies(len(records))
	bitmap.ListSet(s.index.pool, records).Each(s.steps, func(records []uint32) {
		s.steps.Add(len(records) * len(s.clauses))
		s.scores(frequencies, records, scores)
		for i, rec := range records {
			all = append(all, scored{scores[i], rec})
		}
	})
	slices.SortFunc(all, better)
	return all
}
