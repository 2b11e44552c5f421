package ingest

import (
	"herbarium/internal/ingest/delimited"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/jsonrows"
	"herbarium/internal/ingest/parquetrows"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
	"herbarium/internal/ingest/sqliterows"
	"herbarium/internal/ingest/xlsx"
)

// Formats returns the registry. The first format is that of files whose content and name do not say otherwise.
func Formats() []rows.Format {
	return []rows.Format{
		delimited.Format(), delimited.TSV(), jsonrows.Format(), parquetrows.Format(), xlsx.Format(), sqliterows.Format(),
	}
}

// FormatNames returns the names and extensions by which users refer to formats.
func FormatNames() []string { return source.FormatNames(Formats()) }

// ParseFormat returns the name of the format that has a name or an extension.
func ParseFormat(s string) (string, error) { return source.ParseFormat(Formats(), s) }

// isTable reports whether a file is a table by its extension.
func isTable(path string) bool {
	_, ok := file.ByPath(Formats(), path)
	return ok
}
