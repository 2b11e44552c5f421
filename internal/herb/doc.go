// Package herb defines the domain types: plants, datasets and their fields, keys and their scopes, and the error type.
// It is independent of files, databases and protocols and imports only the standard library.
package herb
