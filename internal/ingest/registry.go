package ingest

import (
	"herbarium/internal/ingest/delimited"
	"herbarium/internal/ingest/jsonrows"
	"herbarium/internal/ingest/parquetrows"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/sqliterows"
	"herbarium/internal/ingest/xlsx"
)

// Formats returns the registry. The first format is that of files whose content and name do not say otherwise.
func Formats() []rows.Format {
	return []rows.Format{
		delimited.Format(), delimited.TSV(), jsonrows.Format(), parquetrows.Format(), xlsx.Format(), sqliterows.Format(),
	}
}
