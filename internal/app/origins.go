package app

import (
	"path/filepath"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

// originsOf returns the files that a source reads. Inline records and standard input have none.
func originsOf(s ingest.Source) (origins []herb.Origin) {
	if s.Inline != nil || s.Called != "" {
		return nil
	}
	part := s.Dialect.Table
	for _, path := range append([]string{s.Path}, s.Parts...) {
		absolute, err := filepath.Abs(path)
		if err != nil { // the working directory is gone; the path as given is still comparable
			absolute = path
		}
		if resolved, err := filepath.EvalSymlinks(absolute); err == nil {
			absolute = resolved
		}
		origins = append(origins, herb.Origin{Path: absolute, Part: part})
	}
	return origins
}
