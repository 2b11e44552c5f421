package library

import (
	"fmt"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// The work that a suggestion may take. Anybody can ask for names that do not exist.
const (
	maxNames = 1000    // to compare with
	maxSteps = 1 << 20 // about a millisecond
)

// unknown is the error for a dataset that does not exist. It queries no database.
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

// noDataset is the error for a dataset that does not exist among others.
func noDataset(ref herb.Ref, known []string) error {
	guess := ""
	if name, ok := suggest(ref, known); ok {
		guess = fmt.Sprintf(" did you mean %q?", name)
	}
	return herb.Errorf(herb.CodeNotFound, "there is no dataset %q;%s GET /api/v1 lists what there is", truncate(ref.String()), guess)
}

// suggest returns the name that is most like one that does not exist, unless the search is too much work.
func suggest(ref herb.Ref, known []string) (string, bool) {
	n := len(ref.String())
	if len(ref.Namespace) > herb.MaxName || len(ref.Name) > herb.MaxName || len(known) > maxNames || n*n*len(known) > maxSteps {
		return "", false
	}
	slices.Sort(known) // of several that are alike, always the same
	return text.Closest(ref.String(), known)
}
