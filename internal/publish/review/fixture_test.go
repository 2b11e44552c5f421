package review_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/publish/review"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// longWait is far longer than any reading of a test takes.
const longWait = time.Minute

var actor = herb.Actor{ID: "key1", Origin: "192.0.2.1"}

// node is a server that publishes and reviews files.
type node struct {
	t       *testing.T
	store   *sqlite.Store
	library *versionstest.Node
	files   *receive.Receiver
	queue   *publish.Queue
	reviews *review.Service
	now     func() time.Time
	data    string
}

type nodeOptions struct {
	data    string                                // of another node; empty: a new folder
	now     func() time.Time                      // nil: time.Now
	store   func(review.Store) review.Store       // nil: the store itself
	drafts  func(review.Versions) review.Versions // nil: the library itself
	library func(*versionstest.Options)           // nil: one machine
}

// newNode returns a server with its own data, or with that of another one.
func newNode(t *testing.T, o nodeOptions) *node {
	t.Helper()
	n := &node{t: t, data: o.data, now: o.now}
	if n.data == "" {
		n.data = t.TempDir()
	}
	if n.now == nil {
		n.now = time.Now
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(n.data, "test.db"), sqlite.Options{})
	must.NoError(t, err)
	must.CloseAfter(t, db)
	opts := versionstest.Options{Dir: n.data, Now: n.now}
	if o.library != nil {
		o.library(&opts)
	}
	n.store = db
	n.library, err = versionstest.Open(db, opts)
	must.NoError(t, err)
	must.CloseAfter(t, n.library)
	publisher := &publish.Publisher{Versions: n.library.Service, Store: db, Data: n.data}
	n.files = receive.New(receive.Options{Dir: n.data})
	n.queue = publish.NewQueue(publish.QueueOptions{Publisher: publisher, Library: n.library, Versions: n.library,
		Store: db, Files: n.files, Dir: n.data, Now: n.now})
	var records review.Store = db
	if o.store != nil {
		records = o.store(records)
	}
	var drafts review.Versions = n.library
	if o.drafts != nil {
		drafts = o.drafts(drafts)
	}
	n.reviews = review.New(review.Options{Queue: n.queue, Library: n.library, Versions: drafts, Store: records,
		Now: n.now})
	t.Cleanup(n.stop)
	return n
}

// stop stops the services, as a server that shuts down does.
func (n *node) stop() {
	n.queue.Stop()
	n.reviews.Stop()
}

// prices is the dataset of the tests.
var prices = herb.Ref{Namespace: "shop", Name: "prices"}

func (n *node) receive(name, content string) *receive.File {
	n.t.Helper()
	f, err := n.files.Receive(n.t.Context(), strings.NewReader(content), name, -1)
	must.NoError(n.t, err)
	return f
}

// create creates a draft.
func (n *node) create(name, content string) string {
	n.t.Helper()
	d, err := n.reviews.Create(n.t.Context(), prices, n.receive(name, content), review.Edits{}, actor)
	must.NoError(n.t, err)
	return d.ID
}

// review returns the complete review of a draft.
func (n *node) review(id string) review.Review {
	n.t.Helper()
	r, err := n.reviews.Review(n.t.Context(), id, longWait)
	must.NoError(n.t, err)
	if r.Progress != nil {
		n.t.Fatalf("the review is not complete: %+v", r.Progress)
	}
	return r
}

// edit changes a draft and returns its review.
func (n *node) edit(id string, e review.Edits) review.Review {
	n.t.Helper()
	must.NoError(n.t, n.replace(id, e))
	return n.review(id)
}

// publish publishes a draft and waits for the result.
func (n *node) publish(id string, allow bool, live string) publish.Publish {
	n.t.Helper()
	var given versions.PublishOptions
	if allow {
		given.Consents = herb.Consents()
	}
	publishID, err := n.reviews.Publish(n.t.Context(), id, given, live, actor)
	must.NoError(n.t, err)
	r, err := n.reviews.State(n.t.Context(), publishID, longWait)
	must.NoError(n.t, err)
	if r.Result == nil {
		n.t.Fatalf("the publish has not ended: %+v", r)
	}
	return r
}

// isBreaking reports whether publishing a draft requires a consent besides the one to an exposure.
func isBreaking(r review.Review) bool {
	return slices.ContainsFunc(versions.RequiredConsents(r.Changes),
		func(c herb.Consent) bool { return c != herb.ConsentExposure })
}

// put publishes a file as the API does.
func (n *node) put(ref herb.Ref, name, content, descriptor string, change func(*publish.Request)) publish.Publish {
	n.t.Helper()
	live, err := n.library.LiveVersion(n.t.Context(), ref)
	must.NoError(n.t, err)
	req := publish.Request{Ref: ref, File: n.receive(name, content)}
	req.Expected, req.Consents = &live.Version, []herb.Consent{herb.ConsentBreaking, herb.ConsentExposure}
	if descriptor != "" {
		req.Descriptor = []byte(descriptor)
	}
	if change != nil {
		change(&req)
	}
	p, err := n.queue.Start(n.t.Context(), req)
	must.NoError(n.t, err)
	p, err = n.queue.State(n.t.Context(), p.ID, time.Minute)
	must.NoError(n.t, err)
	return p
}

// listing returns the description of a dataset that listings depend on, and its records.
func (n *node) listing(ref herb.Ref) string {
	n.t.Helper()
	v, err := n.library.Acquire(n.t.Context(), ref)
	must.NoError(n.t, err)
	defer v.Release()
	var b bytes.Buffer
	head, err := json.Marshal([]any{v.Title, v.Description, v.Access, v.Fields, v.PrimaryKey, v.Order})
	must.NoError(n.t, err)
	b.Write(head)
	for r, err := range v.Reader.Records(n.t.Context()) {
		must.NoError(n.t, err)
		b.WriteString("\n" + strings.Join(r, "|"))
	}
	return b.String()
}

// leftovers returns the files in the data folder that belong to no version.
func (n *node) leftovers() (names []string) {
	n.t.Helper()
	syscall.ForkLock.RLock() // a process that is being started holds the locks of this one
	err := n.library.Sweep(n.t.Context())
	syscall.ForkLock.RUnlock()
	must.NoError(n.t, err)
	entries, err := os.ReadDir(n.data)
	must.NoError(n.t, err)
	for _, e := range entries {
		if slices.Contains([]string{".draft", ".part", ".tmp"}, filepath.Ext(e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names
}

// replaceBy returns a change of a draft that replaces its edits.
func replaceBy(e review.Edits) func(review.Edits) (review.Edits, error) {
	return func(review.Edits) (review.Edits, error) { return e, nil }
}

// replace replaces the edits of a draft.
func (n *node) replace(id string, e review.Edits) error {
	_, err := n.reviews.Edit(n.t.Context(), id, replaceBy(e))
	return err
}
