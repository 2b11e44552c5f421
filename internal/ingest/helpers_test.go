package ingest_test

import "herbarium/internal/ingest/rows"

// dialect describes how a file is written.
type dialect = rows.Options
