package review

import (
	"encoding/json"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
)

// IsDescriptor reports whether a file has the name of a descriptor, such as datapackage.json.
func IsDescriptor(name string) bool { return descriptor.IsDescriptor(name) }

// NewDescriptor returns Edits.Descriptor of a descriptor in JSON or YAML that was sent for a
// dataset: its resource with the name of the dataset, or with the name of the file. The error has
// herb.CodeInvalid if it is not a valid descriptor.
func NewDescriptor(ref herb.Ref, file string, content []byte) (json.RawMessage, error) {
	s, err := descriptor.Apply(content, descriptor.Source{Ref: ref, DisplayName: file, Path: file}, ingest.Formats())
	return s.Settings.Descriptor, err
}
