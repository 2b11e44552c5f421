// Package cost is the cost model of queries: all numbers by which a query chooses between two ways
// to compute the same result.
//
// A query compares the times of two methods, or the number of records with a share of all:
//
//	category=tree & search=oak      oak: 20,000 of a million records, a stored set
//	                                tree: 170,000 of them, a range of ranks
//
//	test each record with oak       20,000 × RankContains                     0.10 ms
//	fill tree and intersect         1,000,000 × (LeadingRecord + BitsRecord)   0.14 ms
//
// Testing takes less time, so the query tests. The times need not be exact as long as their order
// is right. BenchmarkCosts of package column prints measured times beside the times of the model:
//
//	go test ./internal/segment/internal/column -run '^$' -bench Costs
package cost

// Times in nanoseconds.
const (
	StoredContains = 40      // test whether a record is in a stored set
	RankContains   = 5       // test whether the rank of a record is in a range
	ReadValue      = 200     // read the value of a field from a record
	SearchStored   = 40      // search a stored value for a text
	SearchValue    = 1000    // read a value from a record and search it for a text
	SearchElements = 15      // search the elements of a record for a range of elements
	ExamineRecord  = 100     // examine a record in the forward index, without its words
	ExamineWord    = 1       // examine a word of a record in the forward index
	SortedRow      = 2       // add one of the sorted rows to a set
	FillByte       = 1. / 8  // add the records in a byte of a stored set to bits
	LeadingRecord  = 1. / 8  // subtract two leading sets, for each record of the segment
	BitsRecord     = 1. / 64 // clear, read and intersect bits, for each record of the segment
	CountByte      = 0.4     // count the records in a byte of a stored set that are in bits
	CountRank      = 2       // look up whether the record at a rank is in bits
	MarkRank       = 3       // mark the rank of a record
	ReadPoint      = 8       // read the position of a record
	BoxContains    = 2       // test whether a position is in a box
	Distance       = 60      // measure a distance
	MarkWord       = 2       // read 64 marks
	CountRun       = 30      // count the records of a value run without a stored set in bits
	CountMarkedRun = 40      // locate the value run of a mark
	CountElement   = 4       // count an element of a record
	OpenPostings   = 100     // open a stored set
	OpenContainer  = 45      // open a container of a stored set
	PostingsByte   = 1. / 3  // read a byte of a stored set whose containers are short
)

// Sizes that estimates of times assume.
const (
	MinContainer      = 10 // bytes of a short container of a stored set
	ReadsPerBucket    = 10 // values that are read to find the boundaries of a bucket of a histogram
	RecordReadAsField = 40 // number of fields that take as long to skip as a record takes to locate
)

// Shares. A query uses the first method of the comment if at most one record in N is concerned,
// with N the constant, and the second method otherwise. The records are all records of the segment,
// unless the comment names others after a semicolon.
const (
	ListShare    = 64  // keep a set as a list, or as bits
	CollectShare = 512 // collect a set in a list, which must be sorted, or in bits
	ScanShare    = 16  // add a range of the sorted rows one by one, or by two leading sets
	MarkShare    = 128 // mark the ranks of a result, or count it in leading sets
	// scan from a known position to a record of the result, or locate the record; of the records of
	// the result
	NearShare   = 512
	ValuesShare = 64 // read values from records, or all stored values in sequence; of the value runs
	SearchShare = 4  // search the values of runs with matches, or all stored values; of the value runs
	// count a clause in each record, or read its frequencies; of the records with stored
	// frequencies
	StoredFreqs = 1 << 14
	// count a clause in each record, or add up the frequencies of its terms; of the records with
	// any of the terms
	UnionFreqs = 1 << 8
	// evaluate an exclusion before other conditions if its set takes at most a nanosecond for N
	// records
	ExclusionShare = 4
)

// Limits of candidates. To find the n best matches, a search scores the candidates if they are few,
// and all matches otherwise.
const (
	CandidateBase    = 4096 // with fewer matches, score all
	CandidatesPerTop = 512  // with fewer matches than n times the constant, score all
	RepeatedPerMatch = 4    // score all if the clause occurs more than once in more than N records per match
	CandidateShare   = 2    // at most one match in N is a candidate by its frequency
	ShortestShare    = 8    // at most one match in N is examined in length order
)
