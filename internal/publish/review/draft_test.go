package review_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/must"
	"herbarium/internal/progress"
	"herbarium/internal/publish"
	"herbarium/internal/publish/review"
	"herbarium/internal/store"
	"herbarium/internal/versions"
)

// TestDraft_restart continues with a draft after a restart: the review is made again from the kept
// file, and the edits are known.
func TestDraft_restart(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("prices.csv", priceList())
	n.edit(id, review.Edits{Drop: []int{4}, Columns: map[int]review.ColumnEdit{2: {Name: "cost"}}})
	want, err := n.reviews.Descriptor(t.Context(), id)
	must.NoError(t, err)
	n.stop()
	n = newNode(t, nodeOptions{data: n.data})
	if left := n.leftovers(); len(left) != 1 {
		t.Errorf("the files of drafts after a restart: %v", left)
	}
	got, err := n.reviews.Descriptor(t.Context(), id)
	if err != nil || string(got) != string(want) {
		t.Errorf("the descriptor after a restart: %s, %v", got, err)
	}
	drafts, err := n.reviews.Drafts(t.Context(), actor.ID)
	if err != nil || len(drafts) != 1 || drafts[0].ID != id || drafts[0].Owner != actor.ID ||
		drafts[0].Name != "prices.csv" || drafts[0].Edits.Drop[0] != 4 {
		t.Errorf("the drafts after a restart: %+v, %v", drafts, err)
	}
	if others, err := n.reviews.Drafts(t.Context(), "key2"); err != nil || len(others) != 0 {
		t.Errorf("the drafts of another key: %+v, %v", others, err)
	}
	if r := n.review(id); r.Error != "" || r.Records != 99 || r.Columns[2].Field != "cost" {
		t.Errorf("the review after a restart: %+v", r)
	}
}

// TestDraft_expired removes a draft a day after its last use.
func TestDraft_expired(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 20, 8, 0, 0, 0, time.UTC)
	n := newNode(t, nodeOptions{now: func() time.Time { return now }})
	id := n.create("prices.csv", priceList())
	n.review(id)
	now = now.Add(20 * time.Hour)
	if _, err := n.reviews.Draft(t.Context(), id); err != nil { // a use
		t.Fatal(err)
	}
	now = now.Add(20 * time.Hour)
	if left := n.leftovers(); len(left) != 1 {
		t.Errorf("a day after it was received and 20 hours after its last use: %v", left)
	}
	if _, err := n.reviews.Draft(t.Context(), id); err != nil {
		t.Errorf("20 hours after its last use: %v", err)
	}
	now = now.Add(24*time.Hour + time.Second)
	if _, err := n.reviews.Draft(t.Context(), id); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("a day after its last use: %v", err)
	}
	if drafts, err := n.reviews.Drafts(t.Context(), actor.ID); err != nil || len(drafts) != 0 {
		t.Errorf("a day after its last use: %+v, %v", drafts, err)
	}
	if left := n.leftovers(); left != nil {
		t.Errorf("left over: %v", left)
	}
	other := n.create("prices.csv", priceList())
	if ids, err := n.store.DraftIDs(t.Context(), time.Time{}); err != nil || len(ids) != 1 || ids[0] != other {
		t.Errorf("the expired record is kept: %v, %v", ids, err)
	}
}

// TestDraft_limits rejects drafts beyond the limit of a key, and files for reserved names.
func TestDraft_limits(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	nodes := []*node{n, newNode(t, nodeOptions{data: n.data})}
	var creating sync.WaitGroup
	var created atomic.Int64
	for i := range review.MaxDrafts + 10 {
		f := n.receive("a.csv", "a,b\n1,2\n")
		creating.Go(func() {
			if _, err := nodes[i%2].reviews.Create(t.Context(), prices, f, review.Edits{}, actor); err == nil {
				created.Add(1)
			} else if herb.CodeOf(err) != herb.CodeRejected {
				t.Error(err)
			}
		})
	}
	creating.Wait()
	if created.Load() != review.MaxDrafts {
		t.Errorf("%d drafts were created at once", created.Load())
	}
	_, err := n.reviews.Create(t.Context(), prices, n.receive("a.csv", "a,b\n1,2\n"), review.Edits{}, actor)
	if herb.CodeOf(err) != herb.CodeRejected {
		t.Errorf("one draft too many: %v", err)
	}
	other := herb.Actor{ID: "key2"}
	d, err := n.reviews.Create(t.Context(), prices, n.receive("a.csv", "a,b\n1,2\n"), review.Edits{}, other)
	must.NoError(t, err)
	must.NoError(t, n.reviews.Discard(t.Context(), d.ID))
	must.NoError(t, n.reviews.Discard(t.Context(), d.ID)) // again
	if left := n.leftovers(); len(left) != review.MaxDrafts {
		t.Errorf("files: %v", left)
	}
	_, err = n.reviews.Create(t.Context(), herb.PlantsRef, n.receive("a.csv", "a\n1\n"), review.Edits{}, other)
	if err == nil {
		t.Error("a draft of the plant store was created")
	}
	if _, err := n.queue.State(t.Context(), n.firstDraft(), 0); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("a draft is readable as a publish: %v", err)
	}
}

func (n *node) firstDraft() string {
	ids, err := n.store.DraftIDs(n.t.Context(), time.Time{})
	must.NoError(n.t, err)
	return ids[0]
}

// TestDraft_unknown rejects IDs that are none.
func TestDraft_unknown(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	record := n.put(prices, "a.csv", plainTable(), "", nil)
	for _, id := range []string{"", "x", record.ID, "draft-%", "../x", "draft-00000000-aaaaaaaaaaaaaaaaaaaaaaaaaa"} {
		if _, err := n.reviews.Draft(t.Context(), id); herb.CodeOf(err) != herb.CodeNotFound {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := n.reviews.Publish(t.Context(), id, versions.PublishOptions{}, "",
			actor); herb.CodeOf(err) != herb.CodeNotFound {
			t.Errorf("publishing %q: %v", id, err)
		}
		must.NoError(t, n.reviews.Discard(t.Context(), id))
	}
	if _, err := n.queue.State(t.Context(), record.ID, 0); err != nil {
		t.Errorf("discarding the ID of a publish removed it: %v", err)
	}
}

// TestPublish_message publishes a draft with a message, which needs no other check.
func TestPublish_message(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("a.csv", plainTable())
	live := n.review(id).Live
	for _, tt := range []struct {
		edits   review.Edits
		changed bool
	}{{review.Edits{Message: "Autumn prices"}, false}, {review.Edits{Message: "Autumn"}, false},
		{review.Edits{Message: "Autumn", Access: herb.AccessKey}, true}, {review.Edits{Message: "Winter"}, true}} {
		changed, err := n.reviews.Edit(t.Context(), id, replaceBy(tt.edits))
		if err != nil || changed != tt.changed {
			t.Errorf("%+v: changed %t, %v", tt.edits, changed, err)
		}
	}
	for _, message := range []string{"two\nlines", strings.Repeat("x", herb.MaxMessage+1)} {
		if err := n.replace(id, review.Edits{Message: message}); herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("%.20q: %v", message, err)
		}
	}
	n.review(id)
	if r := n.publish(id, false, live); r.State != publish.StateLive {
		t.Fatalf("%+v", r)
	}
	if d, err := n.library.LiveVersion(t.Context(), prices); err != nil || d.Message != "Winter" {
		t.Errorf("the message is %q, %v", d.Message, err)
	}
}

// TestPublish_twice publishes two drafts of one dataset that were reviewed against the same
// version, and one draft twice: one wins.
func TestPublish_twice(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	one, two := n.create("a.csv", plainTable()), n.create("a.csv", strings.Replace(plainTable(), "plant 1", "fern", 1))
	live := n.review(one).Live
	n.review(two)
	if r := n.publish(one, false, live); r.State != publish.StateLive {
		t.Fatalf("the first: %+v", r)
	}
	if _, err := n.reviews.Publish(t.Context(), two, versions.PublishOptions{}, live, actor); !versions.IsConcurrent(
		err) || herb.CodeOf(err) != herb.CodeRejected {
		t.Errorf("the second, reviewed against what was live: %v", err)
	}
	r := n.review(two)
	if r.Live == "" || r.Compared == nil || r.Compared.Changed+r.Compared.Added == 0 {
		t.Errorf("its review against what is live now: %+v", r)
	}
	var wait sync.WaitGroup
	var won atomic.Int32
	for range 4 {
		wait.Go(func() {
			id, err := n.reviews.Publish(t.Context(), two, versions.PublishOptions{}, r.Live, actor)
			if err != nil {
				if code := herb.CodeOf(err); code != herb.CodeRejected && code != herb.CodeNotFound &&
					code != herb.CodeUnavailable {
					t.Errorf("one of four publishes of one draft: %v", err)
				}
				return
			}
			record, err := n.reviews.State(t.Context(), id, longWait)
			if err != nil || record.Result == nil {
				t.Errorf("the state of one of four publishes: %+v, %v", record, err)
			} else if record.Result.Status == versions.StatusPublished {
				won.Add(1)
			}
		})
	}
	wait.Wait()
	if won.Load() != 1 {
		t.Errorf("%d of four publishes of one draft have won", won.Load())
	}
	history, err := n.library.History(t.Context(), prices)
	if err != nil || len(history) != 2 {
		t.Errorf("%d versions, %v", len(history), err)
	}
}

// failingStore fails at one of its calls.
type failingStore struct {
	review.Store
	at    *atomic.Int64 // calls until the failure
	calls *atomic.Int64
}

var errInjected = errors.New("injected failure")

func (s failingStore) fail() error {
	s.calls.Add(1)
	if s.at.Add(-1) == 0 {
		return errInjected
	}
	return nil
}

func (s failingStore) AddDraft(ctx context.Context, d store.Draft, expired time.Time,
	check func(own, all int) error) error {
	return errors.Join(s.fail(), s.Store.AddDraft(ctx, d, expired, check)) // the record may be there after an error
}

func (s failingStore) ReplaceDraft(ctx context.Context, d store.Draft, read time.Time) (bool, error) {
	if err := s.fail(); err != nil {
		return false, err
	}
	return s.Store.ReplaceDraft(ctx, d, read)
}

func (s failingStore) RemoveDraft(ctx context.Context, id string) error {
	if err := s.fail(); err != nil {
		return err
	}
	return s.Store.RemoveDraft(ctx, id)
}

func (s failingStore) Draft(ctx context.Context, id string) (store.Draft, error) {
	if err := s.fail(); err != nil {
		return store.Draft{}, err
	}
	return s.Store.Draft(ctx, id)
}

// failingDrafts fails at one of the calls about files.
type failingDrafts struct {
	review.Versions
	failingStore
}

func (l failingDrafts) SaveDraft(ctx context.Context, id string, content io.Reader) error {
	if err := l.fail(); err != nil {
		return errors.Join(err, l.Versions.SaveDraft(ctx, id, io.LimitReader(content, 10))) // a part of it is there
	}
	return l.Versions.SaveDraft(ctx, id, content)
}

func (l failingDrafts) OpenDraft(ctx context.Context, id string) (io.ReadCloser, error) {
	if err := l.fail(); err != nil {
		return nil, err
	}
	return l.Versions.OpenDraft(ctx, id)
}

func (l failingDrafts) RemoveDraft(ctx context.Context, id string) error {
	if err := l.fail(); err != nil {
		return err
	}
	return l.Versions.RemoveDraft(ctx, id)
}

// TestDraft_failures lets the database and the store of files fail at each of their calls. Whatever
// fails, the live version is what was published or nothing, and nothing is left a day later.
func TestDraft_failures(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		now := time.Date(2026, 3, 20, 8, 0, 0, 0, time.UTC)
		var left, calls atomic.Int64
		left.Store(int64(at))
		fail := failingStore{at: &left, calls: &calls}
		n := newNode(t, nodeOptions{
			now:    func() time.Time { return now },
			store:  func(s review.Store) review.Store { f := fail; f.Store = s; return f },
			drafts: func(l review.Versions) review.Versions { return failingDrafts{l, fail} },
		})
		isCreated, err := n.tryAll()
		if ids, failed := n.store.DraftIDs(t.Context(), time.Time{}); failed != nil || !isCreated && len(ids) > 0 {
			t.Errorf("failure %d: the records of drafts that were not created: %v, %v", at, ids, failed)
		}
		n.stop()
		live, failed := n.library.LiveVersion(t.Context(), prices)
		must.NoError(t, failed)
		if live.Version != "" && live.Records != 100 || err == nil && live.Version == "" {
			t.Errorf("failure %d: the live version is %+v, the error %v", at, live, err)
		}
		now = now.Add(25 * time.Hour)
		if names := n.leftovers(); names != nil {
			t.Errorf("failure %d: left over: %v", at, names)
		}
		if calls.Load() < int64(at) { // nothing failed
			if err != nil || at < 12 {
				t.Errorf("after %d calls: %v", at-1, err)
			}
			return
		}
	}
}

// tryAll creates, edits, reviews and publishes a draft, until an error.
func (n *node) tryAll() (isCreated bool, err error) {
	ctx := n.t.Context()
	d, err := n.reviews.Create(ctx, prices, n.receive("prices.csv", priceList()), review.Edits{}, actor)
	if err != nil {
		return false, err
	}
	if err := n.replace(d.ID, review.Edits{Drop: []int{90}, Keep: []int{105}}); err != nil {
		return true, err
	}
	r, err := n.reviews.Review(ctx, d.ID, longWait)
	if err != nil {
		return true, err
	}
	id, err := n.reviews.Publish(ctx, d.ID, versions.PublishOptions{}, r.Live, actor)
	if err != nil {
		return true, err
	}
	record, err := n.reviews.State(ctx, id, longWait)
	if err == nil && record.State != publish.StateLive {
		err = fmt.Errorf("the publish is %s", record.State)
	}
	return true, err
}

// countingQueue counts the readings, and lets them wait.
type countingQueue struct {
	*publish.Queue
	readings atomic.Int32
	begun    chan struct{} // receives an element when a reading begins; nil: none
}

func (j *countingQueue) Check(
	ctx context.Context, r publish.Request, begun func(), read func(*ingest.Table) error,
	report func(progress.Progress),
) (versions.Result, error) {
	j.readings.Add(1)
	return j.Queue.Check(ctx, r, begun, func(t *ingest.Table) error {
		if j.begun != nil {
			j.begun <- struct{}{}
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return read(t)
	}, report)
}

// TestReview_widths edits a file whose columns have the widths that the live version was read with.
func TestReview_widths(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	const content = "id  name\n0001Rose\n0002Moss\n"
	n.put(prices, "a.csv", content, "", func(r *publish.Request) { r.Reading = herb.Reading{Widths: "4, 5"} })
	r := n.edit(n.create("prices.csv", content),
		review.Edits{Columns: map[int]review.ColumnEdit{1: {Title: new("Name")}}})
	if r.Error != "" || len(r.Columns) != 2 || r.Columns[1].Title != "Name" {
		t.Errorf("error %q, columns %+v", r.Error, r.Columns)
	}
}

// TestReview_readsOnce reads the file again only if an edit concerns what the publish would do.
func TestReview_readsOnce(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	counted := &countingQueue{Queue: n.queue}
	n.reviews = review.New(review.Options{Queue: counted, Library: n.library, Versions: n.library, Store: n.store})
	t.Cleanup(n.reviews.Stop)
	n.put(prices, "a.csv", plainTable(), "", func(r *publish.Request) {
		r.Access, r.Reading = herb.AccessKey,
			herb.Reading{Delimiter: ","}
	})
	id := n.create("prices.csv", plainTable())
	for _, tt := range []struct {
		name  string
		edits review.Edits
		want  int32
	}{
		{"none", review.Edits{}, 1},
		{"title", review.Edits{Title: new("T")}, 1},
		{"all that describe the dataset", review.Edits{Title: new("T"), Description: new("D"), License: new("L")}, 1},
		{"access", review.Edits{Access: herb.AccessOpen}, 2},
		{"a column", review.Edits{Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeText}}}, 3},
		{"its title", review.Edits{Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeText, Title: new("Name")}}},
			3},
		{"the title of another column",
			review.Edits{Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeText}, 0: {Title: new("ID")}}}, 3},
		{"a row", review.Edits{Drop: []int{3}}, 4},
		{"a row and a column", review.Edits{
			Drop: []int{3}, Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeText}}}, 5},
		{"none again", review.Edits{}, 5},
	} {
		r := n.edit(id, tt.edits)
		if got := counted.readings.Load(); got != tt.want || r.Error != "" {
			t.Errorf("%s: the file was read %d times; want %d; %s", tt.name, got, tt.want, r.Error)
		}
		if r.Title != textOf(tt.edits.Title) || r.Columns[0].Title != textOf(tt.edits.Columns[0].Title) ||
			r.Access != accessOf(tt.edits) {
			t.Errorf("%s: got %+v", tt.name, r)
		}
	}
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func accessOf(e review.Edits) herb.Access {
	if e.Access == "" {
		return herb.AccessKey
	}
	return e.Access
}

// TestReview_cancel cancels readings: by another edit, by discarding the draft, and when the server
// stops.
func TestReview_cancel(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	counted := &countingQueue{Queue: n.queue, begun: make(chan struct{}, 10)}
	n.reviews = review.New(review.Options{Queue: counted, Library: n.library, Versions: n.library, Store: n.store})
	t.Cleanup(n.reviews.Stop)
	id := n.create("prices.csv", priceList())
	read := func(context string) {
		t.Helper()
		r, err := n.reviews.Review(t.Context(), id, time.Nanosecond)
		if err != nil || r.Progress == nil || r.Progress.Phase == "" {
			t.Fatalf("%s: %+v, %v", context, r, err)
		}
	}
	read("the first")
	<-counted.begun
	read("the same")
	if got := counted.readings.Load(); got != 1 {
		t.Errorf("the file is read %d times at once", got)
	}
	must.NoError(t, n.replace(id, review.Edits{Drop: []int{5}}))
	read("after an edit")
	<-counted.begun // the first one has ended: one runs at a time
	must.NoError(t, n.reviews.Discard(t.Context(), id))
	id = n.create("prices.csv", priceList())
	read("of another draft")
	<-counted.begun
	n.reviews.Stop()
	if _, err := n.reviews.Review(t.Context(), id, longWait); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("after the stop: %v", err)
	}
}

// TestReview_unreadable reads a file that cannot be read once, however often its review is
// requested.
func TestReview_unreadable(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	counted := &countingQueue{Queue: n.queue}
	n.reviews = review.New(review.Options{Queue: counted, Library: n.library, Versions: n.library, Store: n.store})
	t.Cleanup(n.reviews.Stop)
	for _, tt := range []struct {
		name, content string
		edits         review.Edits
	}{
		{"no table", "a,b\n1,\"2\n", review.Edits{}},
		{"no table, with edits", "a,b\n1,\"2\n",
			review.Edits{Drop: []int{2}, Columns: map[int]review.ColumnEdit{0: {Name: "x"}}}},
		{"a header that is not there", plainTable(), review.Edits{HeaderRows: &[]int{900}}},
		{"a column that is not there", plainTable(), review.Edits{Columns: map[int]review.ColumnEdit{9: {Name: "x"}}}},
		{"a type that does not fit", plainTable(),
			review.Edits{Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeNumber}}}},
	} {
		id := n.create("a.csv", tt.content)
		if r := n.edit(id, tt.edits); r.Error == "" {
			t.Errorf("%s: no error", tt.name)
		}
		before := counted.readings.Load()
		r, err := n.reviews.Review(t.Context(), id, 0)
		if err != nil || r.Progress != nil || r.Error == "" || counted.readings.Load() != before {
			t.Errorf("%s: the second review has the error %q, %v, the progress %v, after %d more readings", tt.name,
				r.Error, err, r.Progress, counted.readings.Load()-before)
		}
	}
}
