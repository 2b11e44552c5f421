package herb

import (
	"crypto/rand"
	"strings"
	"time"
)

// NewVersion returns a unique name for a version that sorts by time.
func NewVersion(now time.Time) string {
	return now.Format(versionTime) + "-" + strings.ToLower(rand.Text()[:10])
}

const versionTime = "20060102T150405Z"

// IsVersion reports whether a name has the format of NewVersion.
func IsVersion(name string) bool {
	at, random, ok := strings.Cut(name, "-")
	if _, err := time.Parse(versionTime, at); err != nil || !ok || len(random) != 10 {
		return false
	}
	return strings.Trim(random, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
