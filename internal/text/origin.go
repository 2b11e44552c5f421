package text

import (
	"slices"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Range is a part of a text, from one index in bytes to another.
type Range struct{ Start, End int }

// Derived is a text that was derived from another, such as its folded form, with the part of the
// original from which each of its bytes comes. Parts begin and end where characters do, as readers
// see them: between grapheme clusters.
type Derived struct {
	Text    []byte
	origins []Range // by byte; nil: the texts have their bytes at the same indexes
}

// Origin returns the part of the original from which a part of the text comes, which must not be
// empty.
func (d *Derived) Origin(r Range) Range {
	if d.origins == nil {
		return r
	}
	return Range{d.origins[r.Start].Start, d.origins[r.End-1].End}
}

// add appends text that comes from a part of the original.
func (d *Derived) add(text []byte, from Range) {
	d.Text = append(d.Text, text...)
	for range text {
		d.origins = append(d.origins, from)
	}
}

// isPlainAt reports whether the character at an index is printable ASCII and the next one is ASCII,
// so that no accent follows and it is a grapheme cluster.
func isPlainAt(s string, i int) bool {
	return s[i] >= ' ' && s[i] < 0x7f && (i+1 == len(s) || s[i+1] < utf8.RuneSelf)
}

// clusterLen returns the length of the grapheme cluster with which a text begins.
func clusterLen(s string) int {
	if isPlainAt(s, 0) {
		return 1
	}
	clusters := graphemes.FromString(s)
	clusters.Next()
	return len(clusters.Value())
}

// ClusterStart returns the last index up to at where a grapheme cluster begins.
func ClusterStart(s string, at int) int {
	start := at
	for start > 0 && (start >= len(s) || !isPlainAt(s, start)) {
		start--
	}
	for start < at {
		next := start + clusterLen(s[start:])
		if next > at {
			break
		}
		start = next
	}
	return start
}

// ClusterEnd returns the first index from at on where a grapheme cluster ends.
func ClusterEnd(s string, at int) int {
	start := ClusterStart(s, at)
	if start < at {
		start += clusterLen(s[start:])
	}
	return start
}

// deriveFolded returns the folded text, cluster by cluster. It equals Fold(s), except in rare texts
// with ignored characters between the letters of a Hangul syllable.
func deriveFolded(s string) Derived {
	if isASCII(s) {
		return Derived{Text: []byte(Fold(s))}
	}
	var d Derived
	for i := 0; i < len(s); {
		n := clusterLen(s[i:])
		d.add([]byte(Fold(s[i:i+n])), Range{i, i + n})
		i += n
	}
	return d
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// derivePrimary returns the primary key of a text.
func derivePrimary(s string) Derived {
	if codes, ok := AppendCodes(nil, []byte(s)); ok {
		return Derived{Text: codes}
	}
	var d Derived
	for i := 0; i < len(s); {
		if isPlainAt(s, i) {
			d.add(appendPrimaryKey(nil, []byte(s[i:i+1])), Range{i, i + 1})
			i++
			continue
		}
		end := i + clusterLen(s[i:])
		for end < len(s) && !isPlainAt(s, end) {
			end += clusterLen(s[end:])
		}
		d.addPrimary(s, Range{i, end})
		i = end
	}
	return d
}

// addPrimary appends the primary key of a part of a text. Its characters come from their clusters,
// except those whose weights depend on the cluster before, such as Thai vowels: these come from
// both.
func (d *Derived) addPrimary(s string, part Range) {
	key := func(r Range) []byte { return appendPrimaryKey(nil, []byte(s[r.Start:r.End])) }
	var clusters []Range
	var keys [][]byte
	for i := part.Start; i < part.End; {
		r := Range{i, i + clusterLen(s[i:part.End])}
		clusters, keys = append(clusters, r), append(keys, key(r))
		i = r.End
	}
	whole := key(part)
	if !slices.Equal(slices.Concat(keys...), whole) {
		last := 0 // of those that are independent
		for i := 1; i < len(clusters); i++ {
			both := Range{clusters[last].Start, clusters[i].End}
			if k := key(both); slices.Equal(slices.Concat(keys[last], keys[i]), k) {
				last++
				clusters[last], keys[last] = clusters[i], keys[i]
			} else {
				clusters[last], keys[last] = both, k
			}
		}
		clusters, keys = clusters[:last+1], keys[:last+1]
	}
	if !slices.Equal(slices.Concat(keys...), whole) {
		clusters, keys = []Range{part}, [][]byte{whole}
	}
	for i, k := range keys {
		d.add(k, clusters[i])
	}
}
