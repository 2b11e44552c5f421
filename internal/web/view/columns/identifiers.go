package columns

import (
	"slices"
	"strings"
)

// HasWord reports whether an identifier such as image_url, imageUrl or image-url contains one of
// the words.
func HasWord(name string, words ...string) bool {
	return slices.ContainsFunc(identifierWords(name), func(w string) bool { return slices.Contains(words, w) })
}

// identifierWords returns the words of an identifier in lower case. A longer name has none: the
// catalogue reads the names of all datasets several times.
func identifierWords(name string) []string {
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
