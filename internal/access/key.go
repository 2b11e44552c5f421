// Package access creates keys and authenticates requests with them.
package access

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// A secret has the format herb_<id>_<random><checksum>: a prefix for secret scanners, the public ID
// of the key, 26 random characters (130 bits), and a checksum of 6 characters that distinguishes
// mistyped secrets from unknown ones.
const (
	Prefix       = herb.KeyPrefix
	idLength     = 10
	randomLength = 26
	sumLength    = 6
)

// Mint creates a key and its secret, which is not stored.
func Mint(name string, scopes []herb.Scope, created, expires time.Time) (secret string, key herb.Key) {
	id := strings.ToLower(rand.Text()[:idLength])
	secret = Prefix + id + "_" + rand.Text()
	secret += checksum(secret)
	return secret, herb.Key{
		ID:      id,
		Name:    name,
		Scopes:  scopes,
		Hash:    sha256.Sum256([]byte(secret)),
		Created: created.UTC(),
		Expires: expires.UTC(),
	}
}

// ID returns the public ID in a secret; ok is false if it is mistyped or not a secret of Herbarium.
func ID(secret string) (id string, ok bool) {
	const length = len(Prefix) + idLength + 1 + randomLength + sumLength
	if len(secret) != length || !strings.HasPrefix(secret, Prefix) {
		return "", false
	}
	body, sum := secret[:length-sumLength], secret[length-sumLength:]
	if checksum(body) != sum {
		return "", false
	}
	return secret[len(Prefix) : len(Prefix)+idLength], true
}

// checksum returns 30 bits of the CRC-32 of s in the alphabet of the random part.
func checksum(s string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	sum := crc32.ChecksumIEEE([]byte(s))
	out := make([]byte, sumLength)
	for i := range out {
		out[i] = alphabet[sum>>(5*i)&31]
	}
	return string(out)
}

// Minimum requirements for a token from the environment. The shortest common format, `openssl rand
// -hex 16`, has 32 characters, and fewer than 8 distinct ones with a probability below 1 in 20
// million.
const (
	minTokenLength   = 32
	minTokenDistinct = 8
)

// CheckToken rejects a token that could be guessed, because it grants every scope. The error does
// not contain the token.
func CheckToken(token string) error {
	characters := []rune(token)
	slices.Sort(characters)
	distinct := len(slices.Compact(characters))
	const remedy = "generate one with 'openssl rand -hex 32' or use a key of 'herbarium keys create'"
	switch {
	case len(characters) < minTokenLength:
		return herb.Invalidf("weak token: it has %d characters and needs at least %d; %s", len(characters),
			minTokenLength, remedy)
	case distinct < minTokenDistinct:
		return herb.Invalidf("weak token: it has %d different characters and needs at least %d; %s", distinct,
			minTokenDistinct, remedy)
	}
	return nil
}
