package access

import (
	"unicode/utf8"

	"herbarium/internal/herb"
)

// Minimum requirements for a token from the environment. The shortest common format, `openssl rand -hex 16`, has 32
// characters, and fewer than 8 distinct ones with a probability below 1 in 20 million.
const (
	minTokenLength   = 32
	minTokenDistinct = 8
)

// CheckToken rejects a token that could be guessed, because it grants every scope. The error does not contain the token.
func CheckToken(token string) error {
	distinct := map[rune]struct{}{}
	for _, c := range token {
		distinct[c] = struct{}{}
	}
	const remedy = "generate one with 'openssl rand -hex 32' or use a key of 'herbarium keys create'"
	if n := utf8.RuneCountInString(token); n < minTokenLength {
		return herb.Invalidf("weak token: it has %d characters and needs at least %d; %s", n, minTokenLength, remedy)
	}
	if len(distinct) < minTokenDistinct {
		return herb.Invalidf("weak token: it has %d different characters and needs at least %d; %s",
			len(distinct), minTokenDistinct, remedy)
	}
	return nil
}
