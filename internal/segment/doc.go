// Package segment implements the file format of a published version of a dataset: immutable, checksummed,
// memory-mapped, and indexed so that any page of any listing is located directly, without scanning.
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
//   - bitmap: sets of record numbers
//   - column: reads the index of a field: filters, pages in sorted order, facets
//   - fulltext: reads the full-text index: words, phrases, prefixes, scores
//   - build: everything that is only needed to build a file
//
// # How a page is located
//
// Conditions and searches become sets of record numbers (roaring bitmaps). Their intersection is the result, and its
// cardinality the total. Without a sort, a page is a selection from that set. For a sort, every field has its records
// in sorted order (the sorted rows), the rank of each record in them, and a few dozen prefix sets: the records among
// the first 1/32, 2/32 … of the sorted rows. The cardinalities of the intersections of the result with a handful of
// prefix sets determine which 32nd contains the page, and only the matches in it are examined.
//
// # Concurrency and lifetime
//
// A Reader is safe for concurrent use. It is reference-counted: call Acquire before use and Release when the response
// is finished; the last Release unmaps the file. Results of List point into the map and must not be used after Release.
package segment
