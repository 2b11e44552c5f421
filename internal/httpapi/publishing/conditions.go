package publishing

import (
	"net/http"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
)

// checkConditions returns the live version of a dataset, and whether the request requires it:
// If-Match: * requires any. It fails with herb.CodePrecondition if If-Match or If-None-Match does
// not hold.
func (h *Handlers) checkConditions(r *http.Request, ref herb.Ref) (live string, required bool, err error) {
	d, err := h.opts.Versions.LiveVersion(r.Context(), ref)
	if err != nil {
		return "", false, err
	}
	live = d.Version
	if r.Header.Get("If-None-Match") == "*" {
		if live != "" {
			return live, true, herb.Errorf(herb.CodePrecondition,
				"If-None-Match does not hold: %s exists, with version %s", ref, live)
		}
		required = true
	}
	if _, stated := r.Header["If-Match"]; stated {
		required = !anyMatches(r.Header["If-Match"])
		if live == "" || !matches(r.Header["If-Match"], live) {
			now := "does not exist"
			if live != "" {
				now = "has the version " + live
			}
			return live, true, herb.Errorf(herb.CodePrecondition,
				`If-Match does not hold: %s %s; write If-Match: "<version>"`, ref, now)
		}
	}
	return live, required, nil
}

// matches reports whether an If-Match header holds for a version. Weak tags never match.
func matches(header []string, version string) bool {
	return slices.Contains(entityTags(header), `"`+version+`"`) || anyMatches(header)
}

// anyMatches reports whether an If-Match header holds for every version.
func anyMatches(header []string) bool { return slices.Equal(entityTags(header), []string{"*"}) }

func entityTags(header []string) []string {
	return strings.FieldsFunc(strings.Join(header, ","), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
}

// requiredVersion returns the version that must be live; empty means any.
func requiredVersion(req publish.Request) string {
	if req.Required {
		return *req.Expected
	}
	return ""
}
