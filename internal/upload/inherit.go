package upload

import (
	"bytes"
	"encoding/json"

	"herbarium/internal/herb"
)

// Inherit returns the settings of the live version of a dataset as they apply to another file, with
// a note for the publisher if they differ. sha256 identifies the file.
//
// A descriptor that lists rows that are not records numbers those of one file: in the next edition,
// the same numbers may be records, which must not disappear. So neither this list nor the header
// above it applies to another file, whose layout is detected.
func Inherit(live herb.Dataset, sha256 string) (s herb.Settings, note string, err error) {
	if live.Settings == nil {
		return s, "", nil
	}
	s = *live.Settings
	if s.Descriptor == nil || s.Kept != nil && s.Kept.SHA256 == sha256 {
		return s, "", nil
	}
	d := json.NewDecoder(bytes.NewReader(s.Descriptor))
	d.UseNumber()
	var descriptor map[string]any
	if err := d.Decode(&descriptor); err != nil {
		return s, "", err
	}
	resources, _ := descriptor["resources"].([]any)
	if len(resources) != 1 {
		return s, "", nil
	}
	resource, _ := resources[0].(map[string]any)
	dialect, _ := resource["dialect"].(map[string]any)
	if _, listed := dialect["commentRows"]; !listed {
		return s, "", nil
	}
	delete(dialect, "commentRows")
	delete(dialect, "headerRows")
	if s.Descriptor, err = json.Marshal(descriptor); err != nil {
		return s, "", err
	}
	return s, "the descriptor of the live version lists rows that are not records, which are those of its file; the layout of this file is detected", nil
}
