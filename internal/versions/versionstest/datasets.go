package versionstest

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/versions"
)

// The dataset of most tests, and the fields of all.
var (
	Prices = herb.Ref{Namespace: "shop", Name: "prices"}
	Fields = []herb.Field{{Name: "n", Type: herb.TypeNumber, Filterable: true, Sortable: true}}
)

// Named returns the n-th dataset of a test.
func Named(n int) herb.Ref { return herb.Ref{Namespace: "shop", Name: fmt.Sprintf("d%d", n)} }

// PublishAs publishes a version of a dataset with a number of records.
func PublishAs(t testing.TB, l *Node, ref herb.Ref, n int) herb.Dataset {
	t.Helper()
	_, err := l.Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: ref, Access: herb.AccessOpen, Fields: Fields}, Records: Numbers(n, nil),
		PublishOptions: versions.PublishOptions{Consents: []herb.Consent{herb.ConsentBreaking}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return LiveVersion(t, l, ref)
}

// LiveVersion returns the live version of a dataset.
func LiveVersion(t testing.TB, l *Node, ref herb.Ref) herb.Dataset {
	t.Helper()
	d, err := l.LiveVersion(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// WantFiles checks which versions have a file on a node.
func WantFiles(t *testing.T, n *ClusterNode, want ...herb.Dataset) {
	t.Helper()
	names := []string{}
	for _, d := range want {
		names = append(names, d.Version)
	}
	slices.Sort(names)
	if got := slices.Sorted(maps.Keys(n.Files(t))); !slices.Equal(names, got) {
		t.Errorf("cached versions %v; want %v", got, names)
	}
}

// WantListed checks the number of records of a dataset that a node lists.
func WantListed(t *testing.T, l *Node, ref herb.Ref, want int) {
	t.Helper()
	s, err := l.Acquire(t.Context(), ref)
	if err != nil {
		t.Errorf("%s: %v; want %d records", ref, err, want)
		return
	}
	defer s.Release()
	if got := Total(t, s); got != want || s.Records != want {
		t.Errorf("%s lists %d records, described as %d; want %d", ref, got, s.Records, want)
	}
	if s.File != nil {
		t.Errorf("the description of %s contains its file", ref)
	}
}

// Numbers yields the records 1 to n, and then err if it is not nil.
func Numbers(n int, err error) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for i := range n {
			if !yield(herb.Record{fmt.Sprint(i + 1)}, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// Publish publishes a version of Prices with a number of records.
func Publish(t *testing.T, l *Node, n int) herb.Dataset {
	t.Helper()
	return PublishAs(t, l, Prices, n)
}

// Total lists a snapshot and returns the number of records.
func Total(t *testing.T, s library.View) int {
	t.Helper()
	return segmenttest.Total(t, s, s.Fields, "per_page=1")
}

// Acquire opens Prices until the test ends.
func Acquire(t *testing.T, l *Node) library.View {
	t.Helper()
	s, err := l.Acquire(t.Context(), Prices)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Release)
	return s
}

// PublishIn publishes a dataset of one record in the namespace vault.
func PublishIn(t *testing.T, l *Node, name string, access herb.Access, change func(*versions.Publication)) error {
	t.Helper()
	p := versions.Publication{
		Dataset: herb.Dataset{Ref: herb.Ref{Namespace: "vault", Name: name}, Access: access, Fields: Fields},
		Records: Numbers(1, nil),
	}
	if change != nil {
		change(&p)
	}
	_, err := l.Publish(t.Context(), p)
	return err
}

// SourceContent is the source of WithSource.
const SourceContent = "id,name\n1,Rose\n"

// WithSource returns a publication whose source is kept.
func WithSource(n int) versions.Publication {
	p := Publication(n)
	p.Source = &versions.KeptSource{
		Content: io.NewSectionReader(strings.NewReader(SourceContent), 0, int64(len(SourceContent))),
		Name:    "plants.csv", SHA256: "abc",
	}
	return p
}

// Publication returns a publication with a number of records.
func Publication(n int) versions.Publication {
	return versions.Publication{Dataset: herb.Dataset{Ref: Prices, Fields: Fields}, Records: Numbers(n, nil),
		PublishOptions: versions.PublishOptions{Consents: []herb.Consent{herb.ConsentBreaking}}}
}
