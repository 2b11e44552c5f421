package ingest

import (
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// Names of package source, for callers that read files.
type (
	Source       = source.Source
	FieldSetting = source.FieldSetting
	Include      = source.Include
)

// The limits of a file.
const (
	MaxRecord  = rows.MaxRecord
	MaxColumns = rows.MaxColumns
	MaxName    = rows.MaxName
	MaxNames   = rows.MaxNames
)
