package fulltext

import (
	"math"
	"slices"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/text"
)

// class is the range of the scores of some records. Those of different classes are equal or do not overlap. A score is stored
// as its bits, because integers are compared without branches; scores are not negative, so their bits have the same order.
type class struct{ best, worst uint64 }

// mixed reports whether records in the class have different scores.
func (c class) mixed() bool { return c.best != c.worst }

// classifier assigns records to numbered classes.
type classifier interface {
	// classify stores the classes of records of one container. It returns false if there are too many classes.
	classify(f frequencies, records []uint32, classes []uint16) bool
	// classes returns the classes so far, by number.
	classes() []class
}

// classTree assigns records with the same length and the same frequencies to a class, so that scores are computed once per
// class instead of once per record.
//
// The children of the root, node 0, are the lengths. Their children are the frequencies of the first clause in records of
// that length, the children of these are the frequencies of the second clause, and so on. The leaves are the classes.
type classTree struct {
	scorer  *Scorer
	norms   []float64                 // by node
	scores  []float64                 // by node, of the clauses so far
	lengths []uint16                  // by length, the child of the root
	next    []uint16                  // by node and frequency, the child
	rare    map[branch]uint16         // children that are not in lengths or next
	leaves  []class                   // by class; 0 is not used
	limit   int                       // maximum number of nodes and of classes
	nodes   [bitmap.EachAtOnce]uint16 // buffer
}

// branch leads from a node to a child: by length from the root, otherwise by frequency.
type branch struct {
	node  uint16
	value int
}

// Numbers of entries in lengths, and in next for each node. The last entry stands for all greater values and remains 0. 0
// means that there is no child yet, or that it is in rare.
const (
	lengthEntries    = 1 << 10
	frequencyEntries = 1 << 5
)

// newClassTree returns a tree for n records. If it has too many classes for these, it takes more time than it saves.
func newClassTree(s *Scorer, n int) *classTree {
	t := &classTree{
		scorer: s, lengths: make([]uint16, lengthEntries), rare: map[branch]uint16{}, leaves: make([]class, 1),
		limit: min(max(n/32, 1<<11), 1<<15),
	}
	t.addNode(0, 0)
	return t
}

func (t *classTree) classes() []class { return t.leaves }

func (t *classTree) classify(f frequencies, records []uint32, classes []uint16) bool {
	lengths, nodes, bytes := t.scorer.index.lengths, t.nodes[:len(records)], f[0].Load(records)
	if !findFirst(t.lengths, t.next, lengths, records, bytes, f[0].Base, classes) {
		for i, rec := range records {
			if classes[i] == 0 {
				classes[i] = t.child(0, t.lengthNode(int(lengths.At(int(rec)))), rec, bytes[uint16(rec)]+f[0].Base)
			}
		}
	}
	for c, m := range f[1:] {
		copy(nodes, classes)
		bytes := m.Load(records)
		if !findChildren(t.next, nodes, records, bytes, m.Base, classes) {
			for i, rec := range records {
				if classes[i] == 0 {
					classes[i] = t.child(c+1, nodes[i], rec, bytes[uint16(rec)]+m.Base)
				}
			}
		}
	}
	return len(t.norms) <= t.limit && len(t.leaves) <= t.limit
}

// findFirst stores the children of the lengths of records by the frequencies of the first clause. It returns false if one is
// 0. Like findChildren, it calls nothing, because that would double its time.
func findFirst(byLength, next []uint16, lengths file.U32s, records []uint32, bytes *bitmap.ContainerBytes, base byte, children []uint16) bool {
	missing := 0
	children = children[:len(records)]
	for i, rec := range records {
		node := byLength[min(lengths.At(int(rec)), lengthEntries-1)]
		frequency := min(bytes[uint16(rec)]+base, frequencyEntries-1)
		child := next[frequencyEntries*int(node)+int(frequency)]
		if children[i] = child; child == 0 {
			missing++
		}
	}
	return missing == 0
}

// findChildren stores the children of the nodes of records by the frequencies of a clause. It returns false if one is 0.
func findChildren(next, nodes []uint16, records []uint32, bytes *bitmap.ContainerBytes, base byte, children []uint16) bool {
	missing := 0
	nodes, children = nodes[:len(records)], children[:len(records)]
	for i, rec := range records {
		frequency := min(bytes[uint16(rec)]+base, frequencyEntries-1)
		child := next[frequencyEntries*int(nodes[i])+int(frequency)]
		if children[i] = child; child == 0 {
			missing++
		}
	}
	return missing == 0
}

// lengthNode returns the child of the root for a length, which it adds if there is none.
func (t *classTree) lengthNode(length int) uint16 {
	key, direct := branch{value: length}, &t.lengths[min(length, lengthEntries-1)]
	if node := max(t.rare[key], *direct); node != 0 {
		return node
	}
	node := t.addNode(text.Norm(length, t.scorer.average), 0)
	if length < lengthEntries-1 {
		*direct = node
	} else {
		t.rare[key] = node
	}
	return node
}

// child returns the child of a node for the frequency of a clause in a record, which it adds if there is none.
func (t *classTree) child(c int, node uint16, record uint32, upToMax byte) uint16 {
	frequency := t.scorer.clauses[c].exactFrequency(record, upToMax)
	key, direct := branch{node, frequency}, frequencyEntries*int(node)+min(frequency, frequencyEntries-1)
	if child := max(t.rare[key], t.next[direct]); child != 0 {
		return child
	}
	child, score := uint16(len(t.leaves)), t.scores[node]+text.NormScore(t.scorer.idf[c], frequency, t.norms[node])
	if c < len(t.scorer.clauses)-1 {
		child = t.addNode(t.norms[node], score)
	} else {
		b := math.Float64bits(score)
		t.leaves = append(t.leaves, class{b, b})
	}
	if frequency < frequencyEntries-1 {
		t.next[direct] = child
	} else {
		t.rare[key] = child
	}
	return child
}

// addNode adds a node.
func (t *classTree) addNode(norm, score float64) uint16 {
	t.norms, t.scores = append(t.norms, norm), append(t.scores, score)
	t.next = append(t.next, make([]uint16, frequencyEntries)...)
	return uint16(len(t.norms) - 1)
}

// levels assigns records to classes by rounded score.
type levels struct {
	scorer *Scorer
	all    []class // by level
	scale  float64
	scores [bitmap.EachAtOnce]float64 // buffer
}

func newLevels(s *Scorer, n int) *levels {
	count := min(max(n/4, 1), 1<<14)
	return &levels{scorer: s, all: slices.Repeat([]class{{worst: math.MaxUint64}}, count), scale: float64(count-1) / s.best}
}

func (l *levels) classes() []class { return l.all }

func (l *levels) classify(f frequencies, records []uint32, classes []uint16) bool {
	scores := l.scores[:len(records)]
	l.scorer.scores(f, records, scores)
	best, scale := l.scorer.best, l.scale
	for i, score := range scores {
		level := len(l.all) - 1
		if score < best {
			level = int(score * scale)
		}
		classes[i] = uint16(level)
		c, b := &l.all[level], math.Float64bits(score)
		c.best, c.worst = max(c.best, b), min(c.worst, b)
	}
	return true
}
