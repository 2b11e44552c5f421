package text

import "math"

// BM25 parameters, the defaults of most search engines.
const (
	BM25K1 = 1.2
	BM25B  = 0.75
)

// IDF returns the inverse document frequency of a search clause that matches some of all records.
func IDF(records, matching int) float64 {
	return math.Log(1 + (float64(records-matching)+0.5)/(float64(matching)+0.5))
}

// MaxScore returns the upper bound of the contribution of one clause.
func MaxScore(idf float64) float64 { return idf * (BM25K1 + 1) }

// Score returns the contribution of one clause to the BM25 score of a record in which it occurs
// count times. words is the number of words in the record's searchable fields, average their mean
// over all records. A record's score is the sum over its clauses in order.
//
// Implementations elsewhere (in SQL) must keep the order of operations: ties, and so the order of
// records, depend on the last bit. The conversions prevent the compiler from fusing operations.
func Score(idf float64, count, words int, average float64) float64 {
	return NormScore(idf, count, Norm(words, average))
}

// Norm returns the part of a score that depends on the length of the record only.
func Norm(words int, average float64) float64 {
	return float64(BM25K1 * ((1 - BM25B) + float64(BM25B*float64(words))/average))
}

// NormScore is Score with a computed norm.
func NormScore(idf float64, count int, norm float64) float64 {
	tf := float64(count)
	return idf * (float64(tf*(BM25K1+1)) / (tf + norm))
}
