package herb

import "strings"

// JoinScopes joins the names of scopes.
func JoinScopes(scopes []Scope, separator string) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, separator)
}
