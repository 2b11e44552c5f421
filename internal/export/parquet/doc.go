// Package parquet writes Parquet files: the records of a version with the types of package typed,
// or with their texts as written. Package ingest/parquet reads such files.
//
// # Memory
//
// A Writer holds the values of one row group, at most RowGroupBytes and one record, some hundred
// bytes for each field, and one page with its compressed copy. Everything that grows with the file,
// the description of its row groups, is in a file of its own until the footer is written. Bounds of
// values in statistics are cut after maxBound bytes.
//
// # Layout
//
//	PAR1
//	row group: for each field, pages of dictionary and values
//	…
//	bounds of all pages, offsets of all pages
//	footer
//
// The same records produce the same bytes, on every machine.
package parquet
