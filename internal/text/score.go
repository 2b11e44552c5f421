package text

import "math"

// The parameters of BM25, as most search engines set them.
const (
	BM25K1 = 1.2
	BM25B  = 0.75
)

// IDF is the weight of a search clause that matches some of all records: the rarer, the heavier.
func IDF(records, matching int) float64 {
	return math.Log(1 + (float64(records-matching)+0.5)/(float64(matching)+0.5))
}

// Score is what one clause adds to the BM25 score of a record in which it occurs count times. words is the number of
// words in the record's searchable fields, average their mean over all records. A record's score is the sum over the
// clauses in their order.
//
// Engines that compute it elsewhere (in SQL) must keep the order of the operations, because ties and so the order of a
// page depend on the last bit. The conversions keep the compiler from fusing operations.
func Score(idf float64, count, words int, average float64) float64 {
	tf := float64(count)
	norm := BM25K1 * ((1 - BM25B) + float64(BM25B*float64(words))/average)
	return idf * (float64(tf*(BM25K1+1)) / (tf + float64(norm)))
}
