package httpapi_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"time"

	"herbarium/internal/blobs"
	"herbarium/internal/herb"
	"herbarium/internal/publish"
	"herbarium/internal/store"
	"herbarium/internal/versions/versionstest"
)

// errFault is the error of a dependency that was made to fail.
var errFault = herb.Errorf(herb.CodeUnavailable, "a dependency is down")

// faults makes one operation of the object store or the database fail.
type faults struct {
	mu    sync.Mutex
	at    int    // number of the operation, from 0; negative: none
	after bool   // it fails after it was executed
	count int    // operations so far
	fired string // the operation that has failed
}

// arm makes an operation fail.
func (f *faults) arm(at int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.after, f.count, f.fired = at, after, 0, ""
}

// disarm returns the operation that has failed; empty if there were fewer operations.
func (f *faults) disarm() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = -1
	return f.fired
}

// do runs an operation.
func (f *faults) do(name string, op func() error) error {
	f.mu.Lock()
	fail, after := f.count == f.at, f.after
	f.count++
	if fail {
		f.fired = name
	}
	f.mu.Unlock()
	switch {
	case !fail:
		return op()
	case after:
		return errors.Join(op(), errFault)
	}
	return errFault
}

// result is do for an operation with a result.
func result[T any](f *faults, name string, op func() (T, error)) (v T, err error) {
	err = f.do(name, func() (err error) {
		v, err = op()
		return err
	})
	return v, err
}

// faultyBlobs is an object store whose operations can be made to fail.
type faultyBlobs struct {
	*blobs.Bucket
	faults *faults
}

func (b faultyBlobs) Put(ctx context.Context, name, path string, progress func(done, total int64)) error {
	return b.faults.do("put "+name, func() error { return b.Bucket.Put(ctx, name, path, progress) })
}

func (b faultyBlobs) Get(ctx context.Context, name string, to io.Writer) error {
	return b.faults.do("get "+name, func() error { return b.Bucket.Get(ctx, name, to) })
}

func (b faultyBlobs) Delete(ctx context.Context, name string) error {
	return b.faults.do("delete "+name, func() error { return b.Bucket.Delete(ctx, name) })
}

func (b faultyBlobs) List(ctx context.Context, prefix string) iter.Seq2[herb.Blob, error] {
	if err := b.faults.do("list", func() error { return nil }); err != nil {
		return func(yield func(herb.Blob, error) bool) { yield(herb.Blob{}, err) }
	}
	return b.Bucket.List(ctx, prefix)
}

// faultyCatalogue is a catalogue whose operations can be made to fail.
type faultyCatalogue struct {
	versionstest.Catalogue
	faults *faults
}

func (c faultyCatalogue) Changes(ctx context.Context, since int64) (store.Changes, error) {
	return result(c.faults, "changes", func() (store.Changes, error) { return c.Catalogue.Changes(ctx, since) })
}

func (c faultyCatalogue) Protected(ctx context.Context) ([]herb.Dataset, error) {
	return result(c.faults, "protected", func() ([]herb.Dataset, error) { return c.Catalogue.Protected(ctx) })
}

func (c faultyCatalogue) Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error) {
	return result(c.faults, "version", func() (herb.Dataset, error) { return c.Catalogue.Version(ctx, ref, version) })
}

func (c faultyCatalogue) AddVersion(ctx context.Context, d herb.Dataset, live string, keep herb.Keep,
	at time.Time) ([]string, error) {
	return result(c.faults, "add version",
		func() ([]string, error) { return c.Catalogue.AddVersion(ctx, d, live, keep, at) })
}

func (c faultyCatalogue) SetLive(ctx context.Context, ref herb.Ref, version, live string) error {
	return c.faults.do("set live", func() error { return c.Catalogue.SetLive(ctx, ref, version, live) })
}

func (c faultyCatalogue) RemoveDataset(ctx context.Context, ref herb.Ref, live string, at time.Time) ([]string, error) {
	return result(c.faults, "remove", func() ([]string, error) { return c.Catalogue.RemoveDataset(ctx, ref, live, at) })
}

func (c faultyCatalogue) History(ctx context.Context, ref herb.Ref) (store.DatasetVersions, error) {
	return result(c.faults, "history", func() (store.DatasetVersions, error) { return c.Catalogue.History(ctx, ref) })
}

func (c faultyCatalogue) ForgetRetired(ctx context.Context, versions []string) error {
	return c.faults.do("forget retired", func() error { return c.Catalogue.ForgetRetired(ctx, versions) })
}

// faultyRecords is a store of records of publishes whose operations can be made to fail.
type faultyRecords struct {
	publish.QueueStore
	faults *faults
}

func (s faultyRecords) AddPublish(ctx context.Context, p store.Publish, expired time.Time) error {
	return s.faults.do("add publish", func() error { return s.QueueStore.AddPublish(ctx, p, expired) })
}

func (s faultyRecords) UpdatePublish(ctx context.Context, p store.Publish) error {
	return s.faults.do("update publish", func() error { return s.QueueStore.UpdatePublish(ctx, p) })
}

func (s faultyRecords) AddAuditEntry(ctx context.Context, e herb.AuditEntry) error {
	return s.faults.do("add audit entry", func() error { return s.QueueStore.AddAuditEntry(ctx, e) })
}
