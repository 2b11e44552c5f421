package source

import (
	"errors"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
)

// Set is the result of a search for sources.
type Set struct {
	Sources []Source
	Skipped []Skipped
	Errors  []error // one for each path that cannot be published
}

// Skipped is a file or resource that is not published because it is not a table.
type Skipped struct{ Path, Reason string }

// String returns the path and the reason.
func (s Skipped) String() string { return s.Path + ": " + s.Reason }

// Err joins the errors.
func (s Set) Err() error { return errors.Join(s.Errors...) }

// Skip adds a path that is not published.
func (s *Set) Skip(path, reason string) { s.Skipped = append(s.Skipped, Skipped{path, reason}) }

// Fail adds an error.
func (s *Set) Fail(err error) { s.Errors = append(s.Errors, err) }

// Add adds another set.
func (s *Set) Add(o Set) {
	s.Sources = append(s.Sources, o.Sources...)
	s.Skipped = append(s.Skipped, o.Skipped...)
	s.Errors = append(s.Errors, o.Errors...)
}

// FormatNames returns the names and extensions by which users refer to formats.
func FormatNames(formats []rows.Format) []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
		for _, ext := range f.Extensions {
			if name := ext[1:]; name != f.Name {
				names = append(names, name)
			}
		}
	}
	return names
}

// ParseFormat returns the name of the format that has a name or an extension.
func ParseFormat(formats []rows.Format, name string) (string, error) {
	if f, ok := file.ByName(formats, name); ok {
		return f.Name, nil
	}
	return "", herb.Invalidf("unknown format %.60q; choose from %s", name, strings.Join(FormatNames(formats), ", "))
}
