//go:build race

package httpapi_test

// underRace: sync.Pool then throws away some of what it is given, at random.
const underRace = true
