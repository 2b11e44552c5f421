package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"herbarium/internal/access"
	"herbarium/internal/blobs"
	"herbarium/internal/fetch"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/plants"
	"herbarium/internal/publish"
	"herbarium/internal/publish/review"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/versions"
	"herbarium/internal/webhooks"
)

// Data is the open data of an installation, on one machine or shared by several. Several processes
// may have it open.
type Data struct {
	*publish.Publisher
	Store    Store
	Library  *library.Library
	Versions *versions.Service
	Plants   *plants.Index   // nil without a plant store
	shared   *postgres.Store // Store, if it is shared with other machines and may be down
	blobs    *blobs.Bucket   // nil if published files are in the data folder only
	closers  []io.Closer     // in the order in which they were opened

	concealed bool // the number of datasets is not public
	// blobsObserver counts operations of the object store; nil until there are metrics.
	blobsObserver atomic.Pointer[func(operation, outcome string, took time.Duration)]
}

// Store is a database of plants, keys, the catalogue, source errors, webhooks and the audit log.
type Store interface {
	plants.Store
	plants.Log
	library.Catalogue
	versions.Catalogue
	access.Keys
	publish.Store
	publish.QueueStore
	review.Store
	AddKey(ctx context.Context, k herb.Key) error
	RevokeKey(ctx context.Context, id string, at time.Time) error
	AuditEntries(ctx context.Context, q herb.AuditQuery) ([]herb.AuditEntry, error)
	webhooks.Store
	AddWebhook(ctx context.Context, w herb.Webhook, detail string) error
	Webhooks(ctx context.Context) ([]herb.Webhook, error)
	RemoveWebhook(ctx context.Context, id string) error
	Deliveries(ctx context.Context, webhook string, limit int) ([]store.Delivery, error)
	fetch.Store
	AddOverdue(ctx context.Context, v herb.LiveVersion) error
	ResendDeliveries(ctx context.Context, webhook string, events []string, now time.Time) (int64, error)
	CountDeliveries(ctx context.Context) (store.DeliveryCounts, error)
	Ping(ctx context.Context) error
	Pool() store.Pool
	Close() error
}

// HasData reports whether the data folder is one that Herbarium created: with a database, or as the
// cache of a node.
func (c Config) HasData() (bool, error) {
	created := store.DatabaseFile
	if c.Database != "" {
		created = store.VersionsDir
	}
	_, err := os.Stat(filepath.Join(c.Data, created))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// NoDataRemedy says what to do if the data folder is another folder.
const NoDataRemedy = "set --data to the folder of the server; 'herbarium serve' and 'herbarium publish' create one"

// OpenOptions configures OpenData. Log is required.
type OpenOptions struct {
	Log *slog.Logger
	// KeepSchema fails, instead of creating or upgrading the database, if its schema is not one
	// that this program can use.
	KeepSchema bool
	// Upgraded is called after the schema of an existing database was upgraded. nil disables it.
	Upgraded func(from, to int)
	// Program is the release of this program, which the files of versions name.
	Program string
}

// OpenData opens the data folder, and creates it if it does not exist, and what it shares with
// other machines. Only its owner can access the folder.
func OpenData(ctx context.Context, c Config, o OpenOptions) (*Data, error) {
	d, err := openData(ctx, c, o, -1)
	if err != nil {
		return nil, err
	}
	if err := d.migrate(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// openData is OpenData for callers that tolerate a database that is down. wait is
// library.Options.Wait.
func openData(ctx context.Context, c Config, o OpenOptions, wait time.Duration) (_ *Data, err error) {
	log := o.Log
	dir := filepath.Join(c.Data, store.VersionsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the data folder: %w", err)
	}
	d := &Data{concealed: c.hasPrivateCatalog()}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	opts := library.Options{Dir: dir, Log: log, CacheSize: c.CacheSize, Wait: wait, Program: o.Program,
		Memory: c.publishMemory()}
	opts.OpenSize, opts.SummarySize = c.librarySizes()
	changes := versions.Options{Dir: dir, Keep: herb.Keep{Versions: c.Keep, For: c.KeepFor}, Log: log,
		Retention: c.Retention, Program: o.Program, Memory: c.publishMemory()}
	if c.Blobs != "" {
		d.blobs, err = blobs.Open(string(c.Blobs), blobs.Options{Observe: d.observeBlobs})
		if err != nil {
			return nil, err
		}
		opts.Blobs, changes.Blobs, d.closers = d.blobs, d.blobs, append(d.closers, d.blobs)
	}
	d.Store, err = OpenStore(ctx, c, o)
	if err != nil {
		return nil, err
	}
	d.shared, _ = d.Store.(*postgres.Store)
	d.closers = append(d.closers, d.Store)
	if c.HasPlants() {
		d.Plants = plants.NewIndex(d.Store, plants.IndexOptions{Dir: filepath.Join(c.Data, store.PlantsDir),
			Logger: log})
		d.closers = append(d.closers, d.Plants)
		opts.Plants, opts.PlantsAccess = plantsDataset{d.Plants, c.Access}, c.Access
	}
	d.Library, err = library.Open(d.Store, opts)
	if err != nil {
		return nil, err
	}
	d.closers = append(d.closers, d.Library)
	d.Versions = versions.New(d.Store, d.Library, changes)
	d.Publisher = &publish.Publisher{Versions: d.Versions, Store: d.Store, Data: c.Data, Access: c.Access, Log: log}
	return d, nil
}

// migrate applies schema migrations to a shared database, or explains why it cannot be used.
// Calling it is optional.
func (d *Data) migrate(ctx context.Context) error {
	if d.shared == nil {
		return nil
	}
	return d.shared.Migrate(ctx)
}

// OpenStore opens the database of an installation. It needs no Log.
func OpenStore(ctx context.Context, c Config, o OpenOptions) (s Store, err error) {
	if c.Database != "" {
		s, err = postgres.Open(ctx, string(c.Database),
			postgres.Options{KeepSchema: o.KeepSchema, Upgraded: o.Upgraded})
	} else {
		path := filepath.Join(c.Data, store.DatabaseFile)
		s, err = sqlite.Open(ctx, path, sqlite.Options{KeepSchema: o.KeepSchema, Upgraded: o.Upgraded})
	}
	if err != nil {
		return nil, err // a nil *postgres.Store would be a non-nil Store
	}
	return s, nil
}

// HasPlants reports whether the plant store is part of the installation. Plants that were created
// are kept regardless.
func (c Config) HasPlants() bool { return c.Plants != off }

// plantsDataset is the index of plants as a dataset of the library.
type plantsDataset struct {
	*plants.Index
	access herb.Access
}

// Describe implements library.Mutable.
func (p plantsDataset) Describe(ctx context.Context) (herb.Dataset, error) {
	d, err := p.Index.Describe(ctx)
	d.Access = cmp.Or(p.access, d.Access)
	return d, err
}

// Acquire implements library.Mutable.
func (p plantsDataset) Acquire(ctx context.Context) (library.View, error) {
	s, err := p.Index.Acquire(ctx)
	if err != nil {
		return library.View{}, err
	}
	d := s.Dataset
	d.Access = cmp.Or(p.access, d.Access)
	return library.View{Dataset: d, Engine: s, Close: s.Release}, nil
}

// Close closes everything that OpenData opened.
func (d *Data) Close() error {
	var errs []error
	for _, c := range slices.Backward(d.closers) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
