// Package store contains what all databases of Herbarium share: the types they store, portable SQL, and the derived columns
// of a plant. The databases are subpackages.
package store

import (
	"errors"
	"time"

	"herbarium/internal/herb"
)

// The entries of a data folder.
const (
	DatabaseFile = "herbarium.db" // if there is no other database
	VersionsDir  = "versions"     // segment files of published versions
)

// Creation is a plant to be created.
type Creation struct {
	Plant          herb.NewPlant
	IdempotencyKey *IdempotencyKey // nil: a repeated request creates a second plant
}

// IdempotencyKey identifies repetitions of a request.
type IdempotencyKey struct {
	Credential string // keys of different credentials are independent
	Key        string
	Body       [32]byte // SHA-256 of the request body
}

// IdempotencyRetention is how long idempotency keys are stored. Clients are promised 24 hours; the rest is a margin for a
// migration to another database and for clock differences.
const IdempotencyRetention = 48 * time.Hour

// Outcome is the result of a Creation: a plant, or an error with herb.CodeInvalid.
type Outcome struct {
	Plant    herb.Plant
	Replayed bool // created by an earlier request with the same IdempotencyKey
	Err      error
}

// ErrSuperseded reports that a version did not go live because another one went live first.
var ErrSuperseded = errors.New("another version went live in the meantime")

// Version is a version of a dataset in the catalogue.
type Version struct {
	herb.Dataset
	Live bool
}

// Retired is a version that is not in the catalogue and can never enter it again.
type Retired struct {
	Version string
	Since   time.Time
}
