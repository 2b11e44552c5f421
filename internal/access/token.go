package access

import (
	"unicode/utf8"

	"herbarium/internal/herb"
)

// The least that a token from the environment must have. `openssl rand -hex 16`, the shortest that is usual, has 32
// characters, and fewer than 8 different ones with a probability below 1 in 20 million.
const (
	minTokenLength   = 32
	minTokenDistinct = 8
)

// CheckToken rejects a token that could be guessed: it has every scope. The error does not repeat it.
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
