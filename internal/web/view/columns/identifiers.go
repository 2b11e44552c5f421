package columns

import (
	"slices"

	"herbarium/internal/text"
)

// HasWord reports whether an identifier such as image_url, imageUrl or image-url contains one of
// the words.
func HasWord(name string, words ...string) bool {
	return slices.ContainsFunc(text.IdentifierWords(name), func(w string) bool { return slices.Contains(words, w) })
}
