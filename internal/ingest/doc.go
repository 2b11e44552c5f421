// Package ingest turns files into typed records: it finds what there is to publish, reads CSV, TSV, JSON and NDJSON, and
// infers how the values of each column compare.
//
// # Two passes
//
// Inspect reads a file once to learn its columns, their types, the number of records and the hash of the whole.
// Table.Records reads it again to yield the records. Neither keeps more of the file than its longest record, so the size
// of a file does not matter. A file that changes between the two is found out and refused.
//
// # Values
//
// A value reaches its record byte for byte as the file has it, quoting and escapes undone. Inference chooses how values
// compare and never changes one.
package ingest
