package library

import (
	"fmt"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Limits of the work for a suggestion, because anybody can request unknown names.
const (
	maxNames = 1000    // names to compare with
	maxSteps = 1 << 20 // about a millisecond
)

// unknownDataset returns the error for an unknown dataset. It does not query the database.
func (l *Library) unknownDataset(ref herb.Ref, s *liveSet) error {
	var known []string
	if len(s.entries)+len(l.opts.Mutable) <= maxNames {
		for r := range s.entries {
			known = append(known, r.String())
		}
		for r := range l.opts.Mutable {
			known = append(known, r.String())
		}
	}
	return noDataset(ref, known)
}

// noDataset returns the error for an unknown dataset, with a suggestion from the known names.
func noDataset(ref herb.Ref, known []string) error {
	guess := ""
	if name, ok := suggest(ref, known); ok {
		guess = fmt.Sprintf(" did you mean %q?", name)
	}
	return herb.Errorf(herb.CodeNotFound, "no such dataset %q;%s GET /api/v1 lists all datasets", clip(ref.String()), guess)
}

// suggest returns the most similar name, unless the search would be too expensive.
func suggest(ref herb.Ref, known []string) (string, bool) {
	n := len(ref.String())
	if len(ref.Namespace) > herb.MaxName || len(ref.Name) > herb.MaxName || len(known) > maxNames || n*n*len(known) > maxSteps {
		return "", false
	}
	slices.Sort(known) // for a deterministic result
	return text.Closest(ref.String(), known)
}
