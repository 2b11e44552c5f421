package ingest

import (
	"herbarium/internal/ingest/delimited"
	"herbarium/internal/ingest/jsontext"
	"herbarium/internal/ingest/parquet"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/sqlite"
	"herbarium/internal/ingest/xlsx"
)

// Formats returns the registry. The first format is that of files whose content and name do not say
// otherwise.
func Formats() []rows.Format {
	return []rows.Format{
		delimited.Format(), delimited.TSV(), jsontext.Format(), parquet.Format(), xlsx.Format(), sqlite.Format(),
	}
}
