// Package herb is the domain: plants, datasets and their fields, keys and their scopes, and the one error type. It
// knows no file, database or protocol and imports the standard library alone.
package herb
