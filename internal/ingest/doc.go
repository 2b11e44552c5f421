// Package ingest turns files into typed records: it finds what there is to publish, reads delimited text and JSON in any
// encoding, Parquet, XLSX and SQLite files, compressed or not, and infers how the values of each column compare.
//
// # Two passes
//
// Inspect reads a file once to learn its columns, their types, the number of records and the hash of the whole.
// Table.Records reads it again to yield the records. Neither keeps more of the file than its longest record (of a Parquet
// file, a page of some columns), so the size of a file does not matter. A file that changes between the two is found out and refused.
//
// # What is found out
//
// The way of a byte is input (hash, progress), unpack (gzip, zstd), openText (encoding), then csvReader or jsonReader; chain
// joins the files of a source. Compression and format are told by the first bytes, the encoding by all of them: a file is
// taken for UTF-8 until a byte says otherwise, and then judged as a whole. The delimiter is found in the first records
// (csvReader.sniff), the array of records in a JSON object by a look at all of it (findRecords). What cannot be known is
// refused, never guessed.
//
// # Values
//
// A value reaches its record byte for byte as the file has it, quoting and escapes undone. Inference chooses how values
// compare and never changes one. A value that is not text in its file, such as a date of a workbook, is written by rules
// that are exact: what is written can be read back as the same value.
package ingest
