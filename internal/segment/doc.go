// Package segment is the file that a published version of a dataset is built into: immutable, checksummed, mapped into
// memory, and laid out so that any page of any listing is found by counting instead of walking.
//
// # Basics
//
// Create builds a file from a sequence of records, Open maps one, Reader.List answers a listing. The bytes are described
// in docs/format/segment.md.
//
// # How a page is found
//
// Conditions and searches become sets of record numbers (roaring bitmaps); their intersection is the answer, its size the
// total. Without a sort, a page is a selection from that set. With one, every field has its records in sorted order, the
// place of each record in that order, and a few dozen prefix sets: the records among the first 1/32, 2/32 … of the order.
// Counting the answer's intersections with a handful of prefix sets tells which 32nd holds the page, and only the matches
// in there are looked at.
//
// # Concurrency and lifetime
//
// A Reader is safe for use by any number of goroutines. It is counted: Acquire before use, Release when the response is
// finished; the last release unmaps the file. What List returns points into the map and must not be used after Release.
package segment
