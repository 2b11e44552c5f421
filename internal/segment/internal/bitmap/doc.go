// Package bitmap implements sets of record numbers: tables of encoded sets, which are read in
// place, dense bitsets, and the sets that queries compute.
//
//	EncodedSet   set in a file, roaring format       [head: 0 has 2, 1 has 5000][2 7][bits of 65,536 records]
//	Bits         one bit per record, from a Pool     0010 0001 …
//	Set          result of a query: a stored set, an ascending list if it has few records, or Bits
//
// An EncodedSet has a container for every 65,536 record numbers that have members: the numbers,
// runs of them, or bits, whichever is smallest. In the example, the records 2 and 7 are in
// container 0, and 5000 records from 65,536 on in container 1.
//
// search=oak red: the Set starts as the stored set of oak, still in the file. Intersect decodes it
// and the stored set of red to Bits, combines them a word of 64 records at a time, and counts the
// result. If it has few records, it becomes a list, and the bits return to the Pool.
package bitmap
