package source

import "errors"

// Set is the result of a search for sources.
type Set struct {
	Sources []Source
	Skipped []Skipped
	Errors  []error  // one for each path that cannot be published
	Folders []string // in which changes may lead to another result, besides those of the sources; may repeat
}

// Skipped is a file or resource that is not published because it is not a table.
type Skipped struct{ Path, Reason string }

// String returns the path and the reason.
func (s Skipped) String() string { return s.Path + ": " + s.Reason }

// Err joins the errors.
func (s Set) Err() error { return errors.Join(s.Errors...) }

// Skip adds a path that is not published.
func (s *Set) Skip(path, reason string) { s.Skipped = append(s.Skipped, Skipped{path, reason}) }

// Fail adds an error, unless it is nil.
func (s *Set) Fail(err error) {
	if err != nil {
		s.Errors = append(s.Errors, err)
	}
}
