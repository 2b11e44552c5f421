// Package storetest is the conformance suite of stores: every store of plants, keys and the catalogue must pass it.
package storetest

import (
	"context"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// Store is the interface of a database.
type Store interface {
	CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error)
	Plants() store.Plants

	AddKey(ctx context.Context, k herb.Key) error
	Key(ctx context.Context, id string) (herb.Key, error)
	Keys(ctx context.Context) ([]herb.Key, error)
	CountKeys(ctx context.Context) (total, revoked int, err error)
	RevokeKey(ctx context.Context, id string, at time.Time) error
	TouchKeys(ctx context.Context, used map[string]time.Time) error

	Datasets(ctx context.Context) ([]herb.Dataset, error)
	Generation(ctx context.Context) (int64, error)
	Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error)
	AddVersion(ctx context.Context, d herb.Dataset, live string) error
	History(ctx context.Context, ref herb.Ref) ([]store.Version, error)
	SetLive(ctx context.Context, ref herb.Ref, version, live string) error
	RemoveDataset(ctx context.Context, ref herb.Ref, at time.Time) error
	PruneVersions(ctx context.Context, ref herb.Ref, keep int, at time.Time) ([]string, error)
	Versions(ctx context.Context) ([]string, error)
	RetireVersion(ctx context.Context, version string, at time.Time) (bool, error)
	Retired(ctx context.Context) ([]store.Retired, error)
	ForgetRetired(ctx context.Context, versions []string) error

	SetSourceError(ctx context.Context, t herb.SourceError) error
	ClearSourceError(ctx context.Context, place string) error
	SourceErrors(ctx context.Context) ([]herb.SourceError, error)

	AddAuditEntry(ctx context.Context, e herb.AuditEntry) error
	AuditEntries(ctx context.Context, q herb.AuditQuery) ([]herb.AuditEntry, error)

	CountPlants(ctx context.Context) (int, error)
	PlantsAfter(ctx context.Context, n, limit int) ([]herb.NewPlant, error)
	IdempotencyKeysAfter(ctx context.Context, in store.IdempotencyRange, after store.IdempotencyKey, limit int) ([]store.IdempotencyRecord, error)
	AddIdempotencyKeys(ctx context.Context, records []store.IdempotencyRecord) error
	AddKeys(ctx context.Context, keys []herb.Key) error
	AllVersions(ctx context.Context) ([]store.DatasetVersions, error)
	ReplaceVersions(ctx context.Context, d store.DatasetVersions, had []string, retireAt time.Time) error

	Ping(ctx context.Context) error
	Close() error
}

// Database persists data across stores. Each call of Open opens another store on the same data, even while others are open;
// the suite closes it. A nil clock means time.Now.
type Database interface {
	Open(t testing.TB, now func() time.Time) Store
}

// Run runs the suite. Each test gets a new, empty database.
func Run(t *testing.T, create func(t testing.TB) Database) {
	tests := []struct {
		name string
		test func(t *testing.T, db Database)
	}{
		{"ping", testPing},
		{"plants/create", testCreate},
		{"plants/duplicates", testDuplicates},
		{"plants/exact values", testExactValues},
		{"plants/version", testPlantsVersion},
		{"plants/cancelled", testCancelled},
		{"plants/reopen", testReopenPlants},
		{"plants/concurrent", testConcurrentCreation},
		{"plants/one state", testOneState},
		{"idempotency/replay", testReplay},
		{"idempotency/another body", testAnotherBody},
		{"idempotency/private", testKeysPerCredential},
		{"idempotency/failures", testFailuresNotStored},
		{"idempotency/kept", testKeysKept},
		{"idempotency/expired", testKeysExpire},
		{"idempotency/concurrent", testConcurrentReplay},
		{"keys/add", testAddKey},
		{"keys/revoke", testRevokeKey},
		{"keys/touch", testTouchKeys},
		{"keys/reopen", testReopenKeys},
		{"catalogue/add", testAddVersion},
		{"catalogue/again", testAddVersionAgain},
		{"catalogue/superseded", testSuperseded},
		{"catalogue/version", testVersion},
		{"catalogue/live", testSetLive},
		{"catalogue/remove", testRemoveDataset},
		{"catalogue/prune", testPruneVersions},
		{"catalogue/unknown", testUnknownDataset},
		{"catalogue/reopen", testReopenCatalogue},
		{"catalogue/concurrent", testConcurrentVersions},
		{"retired/pruned and removed", testRetiredWithCatalogue},
		{"retired/refused", testRetireVersion},
		{"retired/forgotten", testForgetRetired},
		{"retired/concurrent", testRetireWhileAdding},
		{"source errors", testSourceErrors},
		{"audit/changes", testAudit},
		{"audit/bounded", testAuditBounded},
		{"dump/plants", testPlantsAfter},
		{"dump/idempotency keys", testIdempotencyKeys},
		{"dump/keys", testAddKeys},
		{"dump/all versions", testAllVersions},
		{"dump/replace versions", testReplaceVersions},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(t, create(t))
		})
	}
}

// open opens a store that is closed when the test ends.
func open(t *testing.T, db Database) Store {
	t.Helper()
	s := db.Open(t, nil)
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

func closeStore(t *testing.T, s Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func testPing(t *testing.T, db Database) {
	if err := open(t, db).Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// wantCode checks the code of an error and returns its message.
func wantCode(t *testing.T, err error, code herb.Code) string {
	t.Helper()
	if err == nil || herb.CodeOf(err) != code {
		t.Errorf("got the error %v; want one of code %q", err, code)
		return ""
	}
	return herb.MessageOf(err)
}

// noError fails the test immediately if there is an error.
func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// day is the time of events in the suite. Stores keep microseconds.
var day = time.Date(2024, 5, 17, 9, 30, 0, 123456000, time.UTC)
