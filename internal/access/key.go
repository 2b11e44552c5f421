// Package access creates keys and authenticates requests with them.
package access

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// A secret reads herb_<id>_<random><checksum>: a prefix that scanners for leaked secrets can look for, the public id of
// the key, 26 characters of randomness (130 bits), and six that tell a mistyped secret from an unknown one.
const (
	Prefix       = "herb_"
	idLength     = 10
	randomLength = 26
	sumLength    = 6
)

// Mint makes a key and its secret, which is not kept anywhere.
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

// ID returns the public id within a secret; ok is false if it is mistyped or no secret of ours at all.
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

// checksum spells the CRC-32 of s, 30 bits of it, in the alphabet of the random part.
func checksum(s string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	sum := crc32.ChecksumIEEE([]byte(s))
	out := make([]byte, sumLength)
	for i := range out {
		out[i] = alphabet[sum>>(5*i)&31]
	}
	return string(out)
}
