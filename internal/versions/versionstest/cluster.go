package versionstest

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
)

// Cluster is a database and an object store that nodes share.
type Cluster struct {
	DB     *sqlite.Store
	Bucket *Bucket
}

// InCluster runs a test with fake time.
func InCluster(t *testing.T, test func(t *testing.T, c *Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, NewCluster(t)) })
}

// NewCluster returns a cluster without nodes.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	return &Cluster{DB: OpenDB(t, t.TempDir()), Bucket: NewBucket(t, time.Now)}
}

// ClusterNode is a library with a folder of its own.
type ClusterNode struct {
	*Node
	Catalogue *UnsteadyCatalogue
	Opts      Options
	Log       *LogBook
	Stop      func() // stops Run, if run has started it
}

// Node opens a library in a new folder. change adjusts its options; it may be nil.
func (c *Cluster) Node(t testing.TB, change func(*Options)) *ClusterNode {
	t.Helper()
	n := &ClusterNode{Catalogue: &UnsteadyCatalogue{Catalogue: c.DB}, Log: &LogBook{}, Stop: func() {}}
	n.Opts = Options{Dir: t.TempDir(), Blobs: c.Bucket, Log: slog.New(slog.NewTextHandler(n.Log, nil))}
	if change != nil {
		change(&n.Opts)
	}
	n.Open(t)
	return n
}

// Open opens the library of a node that is closed.
func (n *ClusterNode) Open(t testing.TB) {
	t.Helper()
	l, err := Open(n.Catalogue, n.Opts)
	if err != nil {
		t.Fatal(err)
	}
	closing := sync.OnceFunc(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	n.Node, n.Stop = l, closing
	t.Cleanup(closing)
}

// Start starts Run of the library, as in a server.
func (n *ClusterNode) Start(t testing.TB) *ClusterNode {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	l, closing := n.Node, n.Stop
	running.Go(func() {
		if err := l.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	n.Stop = sync.OnceFunc(func() { cancel(); running.Wait(); closing() })
	t.Cleanup(n.Stop)
	return n
}

// Serving returns a publisher, and a node that runs and lists the one record that the publisher has
// published.
func (c *Cluster) Serving(t testing.TB) (publisher, b *ClusterNode) {
	t.Helper()
	publisher = c.Node(t, nil)
	PublishAs(t, publisher.Node, Prices, 1)
	b = c.Node(t, nil).Start(t)
	Pass(3 * time.Second)
	return publisher, b
}

// Restart closes the library of a node and opens it again on the same folder.
func (n *ClusterNode) Restart(t testing.TB) {
	t.Helper()
	n.Stop()
	n.Open(t)
}

// Files returns the file sizes in the node's folder by version, and reports leftover files as
// errors.
func (n *ClusterNode) Files(t testing.TB) map[string]int64 {
	t.Helper()
	entries, err := os.ReadDir(n.Opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]int64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := strings.CutSuffix(e.Name(), ".segment"); ok {
			files[v] = info.Size()
		} else if strings.HasSuffix(e.Name(), ".rebuilt") {
			files[e.Name()] = info.Size()
		} else if strings.HasSuffix(e.Name(), ".part") {
			t.Errorf("%s is left", e.Name())
		}
	}
	return files
}

// UnsteadyCatalogue is a catalogue that can be down.
type UnsteadyCatalogue struct {
	Catalogue
	Away   atomic.Bool
	Silent atomic.Bool // it does not answer
	Edit   func(d *herb.Dataset)
	Rows   atomic.Int64 // read
}

var ErrCatalogue = herb.Errorf(herb.CodeUnavailable, "the database is down")

func (u *UnsteadyCatalogue) check(ctx context.Context) error {
	if u.Silent.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if u.Away.Load() {
		return ErrCatalogue
	}
	return nil
}

// Changes, Descriptions, Words, Version, Claim and Versions implement Catalogue.
func (u *UnsteadyCatalogue) Changes(ctx context.Context, since int64) (store.Changes, error) {
	if err := u.check(ctx); err != nil {
		return store.Changes{}, err
	}
	c, err := u.Catalogue.Changes(ctx, since)
	u.Rows.Add(int64(len(c.Datasets)))
	return c, err
}

func (u *UnsteadyCatalogue) Descriptions(ctx context.Context, versions []herb.LiveVersion,
	details bool) ([]herb.Dataset, error) {
	if err := u.check(ctx); err != nil {
		return nil, err
	}
	u.Rows.Add(int64(len(versions)))
	return u.Catalogue.Descriptions(ctx, versions, details)
}

func (u *UnsteadyCatalogue) Words(ctx context.Context, since int64) ([]store.VersionWords, error) {
	if err := u.check(ctx); err != nil {
		return nil, err
	}
	words, err := u.Catalogue.Words(ctx, since)
	u.Rows.Add(int64(len(words)))
	return words, err
}

func (u *UnsteadyCatalogue) Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error) {
	if err := u.check(ctx); err != nil {
		return herb.Dataset{}, err
	}
	u.Rows.Add(1)
	d, err := u.Catalogue.Version(ctx, ref, version)
	if u.Edit != nil {
		u.Edit(&d)
	}
	return d, err
}

func (u *UnsteadyCatalogue) Claim(ctx context.Context, name, holder string, now, until time.Time) (bool, error) {
	if err := u.check(ctx); err != nil {
		return false, err
	}
	return u.Catalogue.Claim(ctx, name, holder, now, until)
}

func (u *UnsteadyCatalogue) Versions(ctx context.Context) ([]string, error) {
	if err := u.check(ctx); err != nil {
		return nil, err
	}
	return u.Catalogue.Versions(ctx)
}

// LogBook records the log.
type LogBook struct {
	mu    sync.Mutex
	lines []string
}

// Write adds a line.
func (b *LogBook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, string(p))
	return len(p), nil
}

// Count returns the number of lines that contain part.
func (b *LogBook) Count(part string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, line := range b.lines {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

func (b *LogBook) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.lines, "")
}

// Pass advances the fake time.
func Pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// WantWhole checks that every version in the catalogue has its object.
func (c *Cluster) WantWhole(t testing.TB) {
	t.Helper()
	versions, err := c.DB.Versions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	there := c.Bucket.Versions(t)
	for _, v := range versions {
		if !slices.Contains(there, v) {
			t.Errorf("version %s is in the catalogue and has no object", v)
		}
	}
}
