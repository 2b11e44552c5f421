package versions_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/store"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// content is what one version of the dataset is built from.
type content struct {
	name     string
	records  []herb.Record
	requests []*query.Request
	pages    []query.Page // of the oracle
}

var contentFields = []herb.Field{
	{Name: "name", Type: herb.TypeText, Searchable: true, Filterable: true, Sortable: true},
	{Name: "tags", Type: herb.TypeList, Filterable: true, Sortable: true},
}

// newContent returns a content that differs in every record from those of other names. Contents of
// the same size whose names have the same length take the same number of operations to publish.
func newContent(t *testing.T, name string, records int) content {
	t.Helper()
	e := content{name: name}
	for i := range records {
		e.records = append(e.records, herb.Record{
			fmt.Sprintf("%s rose %d", name, i*7%10), strings.Repeat("red,", i%2) + name,
		})
	}
	oracle := segmenttest.NewOracle(contentFields, e.records)
	for _, raw := range []string{
		"per_page=100", "sort=name&order=desc", "search=rose&tags=red", "tags[prefix]=red&sort=tags&page=2&per_page=4",
	} {
		q, err := query.Parse(raw, contentFields)
		must.NoError(t, err)
		page, err := oracle.List(t.Context(), q)
		must.NoError(t, err)
		e.requests, e.pages = append(e.requests, q), append(e.pages, page)
	}
	return e
}

func (e content) sequence() iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for _, r := range e.records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// listedAs returns how a listing differs from a content.
func (e content) listedAs(ctx context.Context, engine query.Engine) error {
	for i, q := range e.requests {
		got, err := engine.List(ctx, q)
		if err != nil {
			return fmt.Errorf("listing %+v: %w", q, err)
		}
		want := e.pages[i]
		if want.Total != got.Total || !slices.EqualFunc(want.Records, got.Records, bytes.Equal) {
			return fmt.Errorf("%+v of the %s content differs (-want +got):\n%s", q, e.name, cmp.Diff(want, got))
		}
	}
	return nil
}

// trial is a library in which a fault occurs while a new version replaces another.
type trial struct {
	*versionstest.SharedDir
	fs        *faultyFS
	catalogue *faultyCatalogue
	publisher *versionstest.Node
	before    content
	after     content
	published []string // versions
}

func newTrial(t *testing.T, before, after content, memory int) *trial {
	t.Helper()
	x := &trial{SharedDir: versionstest.NewSharedDir(t), fs: &faultyFS{at: -1}, before: before, after: after}
	x.catalogue = &faultyCatalogue{Catalogue: x.DB}
	x.publisher = versionstest.OpenLibrary(t, x.catalogue, versionstest.Options{
		Dir: x.Dir, Keep: 1, Memory: memory, FS: x.fs, Now: func() time.Time { return x.Now() },
	})
	if err := x.publish(t.Context(), x.before); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *trial) publish(ctx context.Context, e content) error {
	out, err := x.publisher.Publish(ctx, versions.Publication{
		Dataset: herb.Dataset{Ref: ref, Access: herb.AccessOpen, Fields: contentFields}, Records: e.sequence(),
		Source: versionstest.WithSource(1).Source,
	})
	if err == nil {
		x.published = append(x.published, out.Version)
	}
	return err
}

// verify checks the library after a publish that ended with failed: it has the old version, or the
// new one if the publish succeeded, and no other files once leftovers are swept; and the next
// publish succeeds.
func (x *trial) verify(t *testing.T, failed error) error {
	t.Helper()
	if x.fs.open != 0 {
		return fmt.Errorf("%d files are left open", x.fs.open)
	}
	want := x.after
	if failed != nil {
		want = x.before
	}
	if err := x.expect(t, want); err != nil {
		return err
	}
	if err := x.publish(t.Context(), x.after); err != nil {
		return fmt.Errorf("publishing again: %w", err)
	}
	return x.expect(t, x.after)
}

// filesOf returns the names of the files of versions, sorted.
func filesOf(versions ...string) (files []string) {
	for _, v := range versions {
		files = append(files, v+".segment", v+".source")
	}
	slices.Sort(files)
	return files
}

// expect returns how the library, and a newly opened one, differ from one with a single version.
func (x *trial) expect(t *testing.T, want content) error {
	t.Helper()
	if err := x.publisher.Refresh(t.Context()); err != nil { // as Run does
		return err
	}
	other, err := versionstest.Open(x.DB, versionstest.Options{Dir: x.Dir, Now: func() time.Time { return x.Now() }})
	if err != nil {
		return err
	}
	defer other.Close()
	for _, l := range []*versionstest.Node{x.publisher, other} {
		snap, err := l.Acquire(t.Context(), ref)
		if err != nil {
			return err
		}
		defer snap.Release()
		if live := x.published[len(x.published)-1]; snap.Version != live || snap.Records != len(want.records) {
			return fmt.Errorf("version %s with %d records is live; want %s with %d", snap.Version, snap.Records, live,
				len(want.records))
		}
		if err := want.listedAs(t.Context(), snap); err != nil {
			return err
		}
	}
	x.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if err := versionstest.Sweep(t.Context(), other); err != nil {
		return err
	}
	x.Now = time.Now
	versions, err := x.DB.Versions(t.Context())
	if err != nil {
		return err
	}
	if d := cmp.Diff(filesOf(versions...), x.Files(t)); d != "" {
		return fmt.Errorf("the files differ from the versions in the catalogue (-want +got):\n%s", d)
	}
	return nil
}

// TestPublish_anyOperationFails fails each file operation of a publish in turn, in every way.
// Either the old version stays or the new one is live and complete, and the publisher knows which.
func TestPublish_anyOperationFails(t *testing.T) {
	t.Parallel()
	before, after := newContent(t, "old", 20), newContent(t, "new", 20)
	for name, memory := range map[string]int{"in memory": 0, "spilled": 1 << 10} {
		for _, kind := range faults() {
			t.Run(name+"/"+kind.name, func(t *testing.T) {
				t.Parallel()
				x := newTrial(t, before, after, memory)
				x.fs.arm(kind, -1)
				if err := x.publish(t.Context(), x.after); err != nil {
					t.Fatal(err)
				}
				operations, _ := x.fs.disarm()
				t.Logf("%d operations", operations)
				for at := range operations {
					x.before, x.after = x.after, x.before // the last trial has left the library as new
					if err := x.failAt(t, kind, at); err != nil {
						t.Fatalf("operation %d of %d: %v", at+1, operations, err)
					}
				}
			})
		}
	}
}

// failAt publishes with a fault and returns what is wrong afterwards.
func (x *trial) failAt(t *testing.T, kind fault, at int) error {
	t.Helper()
	held, err := x.publisher.Acquire(t.Context(), ref)
	if err != nil {
		return err
	}
	defer held.Release()
	live := x.published[len(x.published)-1]
	x.fs.arm(kind, at)
	failed := x.publish(t.Context(), x.after)
	_, fired := x.fs.disarm()
	if len(fired) == 0 {
		return errors.New("it was not reached")
	}
	wrap := func(err error) error {
		if err != nil {
			err = fmt.Errorf("%s of %s, Publish returned %v: %w", fired[0].kind, fired[0].path, failed, err)
		}
		return err
	}
	switch {
	case fired[0].path == "changed" || fired[0].kind == "read dir" || fired[0].kind == "remove" &&
		strings.Contains(fired[0].path, live):
		// The new version is live; only the notification and the removal of the previous version
		// remain.
		if failed != nil {
			return wrap(errors.New("it should not have failed: the new version was live"))
		}
	case !errors.Is(failed, errDisk) && !errors.Is(failed, io.ErrShortWrite) && !errors.Is(failed, errFull):
		return wrap(errors.New("the fault was not reported"))
	}
	if left := x.Files(t); failed != nil && !kind.mayLeave(fired[0]) && !slices.Equal(left, filesOf(live)) {
		return wrap(fmt.Errorf("it left %v beside the version %s", left, live))
	}
	if err := x.before.listedAs(t.Context(), held); err != nil {
		return wrap(fmt.Errorf("what was acquired before: %w", err))
	}
	return wrap(x.verify(t, failed))
}

// TestPublish_diskLies: silent corruption by the disk is noticed before the version goes live.
func TestPublish_diskLies(t *testing.T) {
	t.Parallel()
	for _, kind := range lies() {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			x := newTrial(t, newContent(t, "old", 20), newContent(t, "new", 25), 0)
			x.fs.arm(kind, 0)
			failed := x.publish(t.Context(), x.after)
			if _, fired := x.fs.disarm(); len(fired) != 1 {
				t.Fatalf("%d operations went wrong", len(fired))
			}
			if !errors.Is(failed, segment.ErrCorrupt) && !errors.Is(failed, segment.ErrTruncated) &&
				!errors.Is(failed, fs.ErrNotExist) {
				t.Errorf("Publish: %v", failed)
			}
			if err := x.verify(t, failed); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPublish_order checks the order that a power failure requires: the file is synced before it
// gets its name, and named before the catalogue contains it.
func TestPublish_order(t *testing.T) {
	t.Parallel()
	x := newTrial(t, newContent(t, "old", 20), newContent(t, "new", 20), 0)
	x.fs.arm(fault{}, -1)
	var atSwitch []operation
	x.catalogue.add = func(do func() error) error {
		atSwitch = slices.Clone(x.fs.all)
		return do()
	}
	if err := x.publish(t.Context(), x.after); err != nil {
		t.Fatal(err)
	}
	files := filesOf(x.published[len(x.published)-1])
	folder := operation{"sync", filepath.Base(x.Dir)}
	var got []operation
	for _, o := range atSwitch {
		if o.kind == "sync" || o.kind == "rename" || o == (operation{"write", "segment"}) {
			if name, _, isPart := strings.Cut(o.path, ".comparison."); isPart { // without the random part
				o.path = name + ".comparison.part"
			}
			got = append(got, o)
		}
	}
	want := []operation{
		{"write", "segment"}, {"sync", "segment"}, {"rename", files[0]}, folder,
		{"sync", files[1] + ".part"}, {"rename", files[1]}, folder,
	}
	comparison := store.ComparisonFile(x.published[0], x.published[len(x.published)-1], segment.ComparisonLayout)
	want = append(want, operation{"sync", comparison + ".part"}, operation{"rename", comparison}, folder)
	if d := cmp.Diff(want, got, cmp.AllowUnexported(operation{})); d != "" {
		t.Errorf("before the switch (-want +got):\n%s", d)
	}
}

// TestSweep_anyOperationFails: a failed sweep returns an error, removes nothing it must keep, and
// can be repeated.
func TestSweep_anyOperationFails(t *testing.T) {
	t.Parallel()
	for _, kind := range faults()[:3] {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			for at, more := 0, true; more; at++ {
				x := newTrial(t, newContent(t, "old", 1), content{}, 0)
				for _, name := range []string{"a.segment", "b.segment.part"} {
					if err := os.WriteFile(filepath.Join(x.Dir, name), nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				x.Now = func() time.Time { return time.Now().Add(2 * time.Hour) }
				x.fs.arm(kind, at)
				err := versionstest.Sweep(t.Context(), x.publisher)
				_, fired := x.fs.disarm()
				more = len(fired) > 0
				if errors.Is(err, errDisk) != more {
					t.Errorf("operation %d, %v: Sweep: %v", at+1, fired, err)
				}
				if more && fired[0].kind == "stat" && !slices.Contains(x.Files(t), fired[0].path) {
					t.Errorf("%s was removed although its age is unknown", fired[0].path)
				}
				if err := x.expect(t, x.before); err != nil {
					t.Errorf("operation %d, %v: %v", at+1, fired, err)
				}
			}
		})
	}
}

// errLocked is the error of a faulty catalogue.
var errLocked = errors.New("the database is locked")

// failBefore and failAfter fail before or after an operation.
func failBefore(func() error) error   { return errLocked }
func failAfter(do func() error) error { return errors.Join(do(), errLocked) }

// faultyCatalogue is a catalogue whose operations can be made to fail.
type faultyCatalogue struct {
	versionstest.Catalogue
	add    func(do func() error) error
	retire error
}

// AddVersion and RetireVersion implement versionstest.Catalogue.
func (c *faultyCatalogue) AddVersion(ctx context.Context, d herb.Dataset, over string, keep herb.Keep,
	at time.Time) (dropped []string, err error) {
	do := func() (err error) {
		dropped, err = c.Catalogue.AddVersion(ctx, d, over, keep, at)
		return err
	}
	if c.add != nil {
		return nil, c.add(do)
	}
	err = do()
	return dropped, err
}

func (c *faultyCatalogue) RetireVersion(ctx context.Context, version string, at time.Time) (bool, error) {
	if c.retire != nil {
		return false, c.retire
	}
	return c.Catalogue.RetireVersion(ctx, version, at)
}

// TestPublish_catalogueFails has the catalogue fail before or after it executes an operation.
func TestPublish_catalogueFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault    faultyCatalogue
		reported bool
		live     bool // the new version is live although an error was reported
	}{
		"the version is not added": {fault: faultyCatalogue{add: failBefore}, reported: true},
		// the dropped versions are unknown
		"error after the version was added": {fault: faultyCatalogue{add: failAfter}},
		"not added, and unknown": {fault: faultyCatalogue{add: failBefore, retire: errLocked},
			reported: true},
		"added, and unknown": {fault: faultyCatalogue{add: failAfter, retire: errLocked}, reported: true,
			live: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTrial(t, newContent(t, "old", 20), newContent(t, "new", 25), 0)
			test.fault.Catalogue = x.DB
			*x.catalogue = test.fault
			failed := x.publish(t.Context(), x.after)
			*x.catalogue = faultyCatalogue{Catalogue: x.DB}
			if errors.Is(failed, errLocked) != test.reported {
				t.Errorf("Publish: %v", failed)
			}
			if test.live {
				history, err := x.DB.History(t.Context(), ref)
				if err != nil {
					t.Fatal(err)
				}
				x.published, failed = append(x.published, history.Live), nil
			}
			if err := x.verify(t, failed); err != nil {
				t.Error(err)
			}
		})
	}
}
