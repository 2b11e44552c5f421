package publish

import (
	"time"

	"herbarium/internal/herb"
)

// VersionReport is the import report of a version in JSON, as the API returns it.
type VersionReport struct {
	Dataset    string       `json:"dataset"`
	Version    string       `json:"version"`
	Published  time.Time    `json:"published_at,omitzero"`
	Records    int          `json:"records"`
	PrimaryKey []string     `json:"primary_key,omitempty"`
	Inferred   bool         `json:"primary_key_inferred,omitempty"` // nobody has declared the primary key
	Report     *herb.Report `json:"report"`
}

// NewVersionReport returns the report of a version, which has one.
func NewVersionReport(d herb.Dataset) VersionReport {
	return VersionReport{d.Ref.String(), d.Version, d.Published, d.Records, d.PrimaryKey, d.InferredKey, d.Report}
}
