package ingest

import "herbarium/internal/ingest/source"

// Names of package source, for callers that read files.
type (
	Source       = source.Source
	FieldSetting = source.FieldSetting
	Include      = source.Include
)
