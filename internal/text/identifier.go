package text

import "strings"

// IdentifierWords returns the words of an identifier in lower case, such as "start" and "lat" of
// startLat. A longer name has none: lists of datasets read the names of all fields several times.
func IdentifierWords(name string) []string {
	const maxIdentifier = 128
	if len(name) > maxIdentifier {
		return nil
	}
	var b strings.Builder
	lower := false
	for _, r := range name {
		isUpper := r >= 'A' && r <= 'Z'
		if isUpper && lower {
			b.WriteByte(' ')
		}
		lower = r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !isUpper && !lower {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.Fields(strings.ToLower(b.String()))
}
