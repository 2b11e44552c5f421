// Package ingest reads sources, which may be several files, as tables of typed records.
//
// # One pass
//
// Inspect reads every file once. A row passes from rows.Rows, limited by its rows.Budget, through the certificate (a
// fingerprint per column) to the view (settings, type inference) and to the spill file. Table.Records reads the spill file.
// The stored bytes are hashed on the way; a file that changes meanwhile is rejected.
//
// # Certificate
//
// The fingerprints cover what the format yields, before settings exclude rows or values. What the settings remove has
// fingerprints too, so that both parts must add up to the source. The publisher compares the listing with the rest.
//
// # Values
//
// A record has the values of the file byte for byte, without quoting and escapes. Inference decides how values compare and
// never changes one. Values that are not text in their file, such as dates of a workbook, are written by exact rules.
//
// # Packages
//
// rows is the contract of file formats, file opens and detects them, registry.go lists them. source describes what is
// published, discover and datapackage find it.
package ingest
