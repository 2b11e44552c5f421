// Package fulltext reads the full-text index of a segment: it evaluates words, prefixes and
// phrases, and orders the records that contain them by score. Package build writes the index.
//
// # The data
//
// Two records with the searchable fields name (weight 2) and note:
//
//	record 0   name "oak"       note "red oak"
//	record 1   name "red elm"   note ""
//
// Words are terms, numbered by first occurrence. The index has them twice: from term to records,
// and from record to terms.
//
//	TERM  elm oak red         terms, sorted: a prefix is a range of them
//	TNUM   2   0   1          their numbers
//	TPST  0: {0}   1: {0 1}   2: {1}       postings: by number, the records
//	FPST  0: name {0}, note {0}            field postings: the records by field
//	      1: name {1}, note {0}   2: name {1}
//	TFRQ  0: {0}×3 1: {1}×2   2: {1}×2     the records with a frequency above 1, and the frequencies
//	FWRD  record 0:  1 ∎ 1 ∎ 2 1 ∎         forward index: number + 1 of each word, ∎ (0) after each copy of a field
//	      record 1:  2 3 ∎ 2 3 ∎ ∎
//	LENS  4 4                              words of each record
//
// A field of weight 2 is stored twice, so that its words count twice; see searchField. Each of
// these is a copy of the field. Frequent prefixes and bigrams have postings of their own, so that
// they are read as fast as those of a word.
//
// # An example
//
// search="red oak" is a phrase. The bigram red–oak has no postings in this small file, so its
// candidates are the records with both words, {0}. The scanMatcher examines them: the bytes 2 1
// occur once in the words of record 0, after a word boundary. So the result is {0}.
//
// search=elms is a word with other forms, of which elm occurs. If elms occurred as well, the clause
// would be the union of both, and records with elms itself would come first; see Clause.bonus.
//
// The score of the phrase is that of BM25 with the frequency 1 and the length 4. A ScoreOrder
// counts the records by rounded score, finds the level of the page, and orders only that level by
// exact score. In a search for one word, candidates first selects the few records that can be on
// the first pages.
package fulltext
