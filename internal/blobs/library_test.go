//go:build unix

package blobs_test

import (
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/blobs"
	"herbarium/internal/blobs/s3test"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// TestLibrary publishes on one node and lists on another one that shares only the catalogue and the
// store, and collects garbage in the store.
func TestLibrary(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	address := strings.Replace(server.URL(t, "bucket"), "?", "/datasets/published?", 1)
	catalogue, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	must.CloseAfter(t, catalogue)
	node := func(ahead time.Duration) *versionstest.Node {
		t.Helper()
		l, err := versionstest.Open(catalogue, versionstest.Options{
			Dir: t.TempDir(), Blobs: open(t, address, blobs.Options{}), Keep: 1, Retention: time.Hour,
			Now: func() time.Time { return time.Now().Add(ahead) },
		})
		if err != nil {
			t.Fatal(err)
		}
		must.CloseAfter(t, l)
		return l
	}
	publisher, reader, collector := node(0), node(0), node(2*time.Hour)
	store := open(t, address, blobs.Options{})

	first := publishNotes(t, publisher, 20)
	wantNote(t, reader, first, 20, 7)
	second := publishNotes(t, publisher, 2200) // more than fits in one request
	if err := reader.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantNote(t, reader, second, 2200, 2199)
	if got := names(t, store); len(got) != 3 || !strings.Contains(strings.Join(got, "\n"), ".comparison ") {
		t.Errorf("the objects are %q, want those of %s and %s and their comparison", got, first, second)
	}

	if err := collector.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left []string
	for blob, err := range store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, blob.Name)
		if blob.Size <= 8<<20 {
			t.Errorf("%s has %d bytes, which fit in one request", blob.Name, blob.Size)
		}
	}
	if diff := cmp.Diff([]string{second + ".segment"}, left); diff != "" {
		t.Errorf("after the collection there are (-want +got):\n%s", diff)
	}
	fresh := node(0)
	if _, err := fresh.AcquireVersion(t.Context(), notes, first); herb.CodeOf(err) != herb.CodeGone {
		t.Errorf("the first version: %v; want gone", err)
	}
	view, err := fresh.AcquireVersion(t.Context(), notes, second)
	if err != nil {
		t.Fatal(err)
	}
	defer view.Release()
	checkNotes(t, view, 2200, 2)
	wantNote(t, fresh, second, 2200, 1)
}

var notes = herb.Ref{Namespace: "herbarium", Name: "notes"}

// note returns note number n: 4000 characters that hardly compress together with those of other
// notes.
func note(n int) string { return fmt.Sprintf("%x", content(2000+n))[:4000] }

// publishNotes publishes n notes and returns the version.
func publishNotes(t *testing.T, l *versionstest.Node, n int) string {
	t.Helper()
	out, err := l.Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: notes, Access: herb.AccessOpen, Fields: []herb.Field{
			{Name: "n", Type: herb.TypeNumber, Filterable: true}, {Name: "note", Type: herb.TypeText},
		}},
		Records: iter.Seq2[herb.Record, error](func(yield func(herb.Record, error) bool) {
			for i := range n {
				if !yield(herb.Record{fmt.Sprint(i), note(i)}, nil) {
					return
				}
			}
		}),
		PublishOptions: versions.PublishOptions{Consents: []herb.Consent{herb.ConsentBreaking}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Version
}

// wantNote waits until a node lists a version, and checks the number of notes and one of them.
// While the node fetches the version, it lists the previous one.
func wantNote(t *testing.T, l *versionstest.Node, version string, total, n int) {
	t.Helper()
	s, err := l.Acquire(t.Context(), notes)
	for wait := time.NewTicker(10 * time.Millisecond); err == nil && s.Version != version; s,
		err = l.Acquire(t.Context(), notes) {
		s.Release()
		<-wait.C
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	checkNotes(t, s, total, n)
}

// checkNotes checks how many notes a view lists, and one of them.
func checkNotes(t *testing.T, s library.View, total, n int) {
	t.Helper()
	for _, c := range []struct {
		query string
		total int
		want  string
	}{
		{"per_page=1", total, note(0)},
		{fmt.Sprintf("n=%d", n), 1, note(n)},
	} {
		r, err := query.Parse(c.query, s.Fields)
		if err != nil {
			t.Fatal(err)
		}
		page, err := s.List(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if page.Total != c.total || !strings.Contains(fmt.Sprintf("%s", page.Records), c.want) {
			t.Errorf("%s lists %d notes, want %d and that of the number in it", c.query, page.Total, c.total)
		}
	}
}
