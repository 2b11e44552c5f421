// Package store holds what every database behind Herbarium has in common: the shape of what is written and read, and the
// columns that are derived from a plant. The databases themselves are in its subpackages.
package store

import (
	"errors"
	"time"

	"herbarium/internal/herb"
)

// Creation is a plant to be created.
type Creation struct {
	Plant          herb.NewPlant
	IdempotencyKey *IdempotencyKey // nil: a second attempt is not told from a second plant
}

// Retry tells a repeated request from a new one.
type IdempotencyKey struct {
	Credential string // keys of different credentials never meet
	Key        string
	Body       [32]byte // SHA-256 of the request's body
}

// RetryRetention is how long idempotency keys are stored. Clients are promised 24 hours; the rest is a margin for a move to
// another database and for clocks that differ.
const IdempotencyRetention = 48 * time.Hour

// Outcome is what became of a Creation: a plant, or an error of herb.CodeInvalid.
type Outcome struct {
	Plant    herb.Plant
	Replayed bool // created by an earlier request with the same Retry
	Err      error
}

// ErrSuperseded says that a version did not go live because another one went live in the meantime.
var ErrSuperseded = errors.New("another version went live in the meantime")

// Version is an entry of a dataset's history.
type Version struct {
	Version   string
	Published time.Time
	Records   int
	Live      bool
}

// Retired is a version that is in the catalogue no more, or never was, and never will be again.
type Retired struct {
	Version string
	Since   time.Time
}

// PlantsDataset describes the listing of the plants when there are so many.
func PlantsDataset(version string, plants int) herb.Dataset {
	return herb.Dataset{
		Ref:         herb.PlantsRef,
		Title:       "Plants",
		Description: "The plants that were created, in the order of their creation",
		Access:      herb.AccessOpen,
		Fields:      herb.PlantFields(),
		Version:     version,
		Records:     plants,
	}
}
