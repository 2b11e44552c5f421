package query

import (
	"strings"

	"herbarium/internal/herb"
)

// CutVersion returns the value of ParamVersion in a raw query, or "" if there is none, and the query without it. The version
// decides which fields the other parameters may name, so it is parsed first. Other errors in the query are left to Parse.
func CutVersion(raw string) (version, rest string, err error) {
	if !strings.Contains(raw, ParamVersion) && !strings.Contains(raw, "%") {
		return "", raw, nil // the common case
	}
	var others []string
	found := false
	for piece := range strings.SplitSeq(raw, "&") {
		ps, err := ParseParams(piece)
		if err != nil || len(ps) == 0 || ps[0].Name != ParamVersion {
			others = append(others, piece)
			continue
		}
		if found {
			return "", "", herb.Invalidf("%q is given more than once; give it once", ParamVersion)
		}
		version, found = ps[0].Value, true
	}
	if !found {
		return "", raw, nil
	}
	return version, strings.Join(others, "&"), nil
}
