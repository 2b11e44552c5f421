package ingest

import (
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/delimited"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/jsonrows"
	"herbarium/internal/ingest/parquetrows"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/sqliterows"
	"herbarium/internal/ingest/xlsx"
)

// formats is the registry. The first format is that of files whose content and name do not say otherwise.
func formats() []rows.Format {
	return []rows.Format{
		delimited.Format(), delimited.TSV(), jsonrows.Format(), parquetrows.Format(), xlsx.Format(), sqliterows.Format(),
	}
}

// FormatNames returns the names of the formats.
func FormatNames() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.Name)
	}
	return names
}

// knownFormats lists the formats for messages.
func knownFormats() string { return strings.Join(FormatNames(), ", ") }

// ParseFormat parses the name of a format, or an extension of its files.
func ParseFormat(s string) (Format, error) {
	f, ok := file.ByName(formats(), s)
	if !ok {
		return "", herb.Invalidf("unknown format %q; choose from %s", s, knownFormats())
	}
	return Format(f.Name), nil
}

// formatOf returns the format that the extension of a path says.
func formatOf(path string) (Format, bool) {
	f, ok := file.ByPath(formats(), path)
	return Format(f.Name), ok
}

// isTable reports whether a file is a table by its extension.
func isTable(path string) bool {
	_, ok := formatOf(path)
	return ok
}
