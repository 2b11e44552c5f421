// Package segment implements the file format of a published version of a dataset: immutable,
// checksummed, memory-mapped, and indexed so that any page of any listing is located directly,
// without scanning.
//
// # Basics
//
// Create builds a file from a sequence of records, Open maps one, Reader.List executes a listing.
// docs/format/segment.md specifies the format.
//
// # Packages
//
// This package is the API. Its internal packages separate reading from building:
//
//   - file: the frame of a file, its writer, and its memory map
//   - guard: cancellation of queries, and conversion of faults and failed format checks to errors
//   - cost: the cost model, by which queries choose between algorithms
//   - bitmap: sets of record numbers
//   - plan: evaluates conditions, cheapest first
//   - column: reads the index of a field: conditions, pages in sorted order, facets
//   - fulltext: reads the full-text index: words, phrases, prefixes, scores
//   - aggregate: measures of groups of records
//   - build: everything that is only needed to build a file
//
// # How a page is located
//
// Every filter and every clause of a search is a condition: it estimates its cost, adds its records
// to a set, or tests one record. A planner evaluates the cheapest first; when few records are left,
// it tests the others on each of them. The result is a stored set, a list or a bitset, and its
// cardinality the total. Stored sets are read in place: nothing is decoded when a file is opened,
// and nothing is cached.
//
// Without a sort, a page is a selection from the result. For a sort, every field has its records in
// sorted order (the sorted rows), the rank of each record in them, and 31 leading sets: the
// records among the first 1/32, 2/32 … of the sorted rows. The cardinalities of the intersections
// of the result with a handful of leading sets determine which 32nd contains the page, and only the
// matches in it are examined. If the result is all records with one frequent value, such as a
// category, the number of matches before each block of 2048 sorted rows is stored, so no
// intersection is needed. By relevance, records are counted by rounded score, and only those on the
// page are ordered.
//
// All kinds of requests are evaluated in one place (evaluate.go). Find returns the records that
// match a request as a Result: callers that merge several segments read any of its records.
//
// # Concurrency and lifetime
//
// A Reader is safe for concurrent use. It is reference-counted: call Acquire before use and Release
// when the response is finished; the last Release unmaps the file. Results of List point into the
// map and must not be used after Release.
package segment
