package library

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
)

func TestSummaryCache(t *testing.T) {
	t.Parallel()
	version := func(i int) herb.LiveVersion {
		return herb.LiveVersion{Ref: herb.Ref{Namespace: "garden", Name: fmt.Sprint(i)}, Version: "v1",
			Published: time.Unix(int64(i), 0)}
	}
	d := herb.Dataset{Fields: make([]herb.Field, 10)}
	c := newSummaryCache(10 * d.Size())
	for i := range 100 {
		d.Title = fmt.Sprintf("%02d", i)
		c.add(version(i), i%2 == 0, d)
		c.add(version(i), i%2 == 0, d)             // again
		if _, ok := c.get(version(0), true); !ok { // keeps it the most recently used
			t.Fatalf("the first one was evicted after %d others", i)
		}
		if n := c.summaries.Len() * d.Size(); n > c.limit || n != c.size {
			t.Fatalf("%d summaries have %d bytes, %d are counted", c.summaries.Len(), n, c.size)
		}
	}
	if got, ok := c.get(version(98), false); !ok || got.Title != "98" {
		t.Errorf("with details instead of without: %q, %t", got.Title, ok)
	}
	if _, ok := c.get(version(99), true); ok {
		t.Error("one without details is returned instead of one with details")
	}
	again := version(99)
	again.Published = again.Published.Add(time.Second)
	if _, ok := c.get(again, false); ok {
		t.Error("the summary of an earlier publish of the same version is returned")
	}
	d.Description = strings.Repeat("x", c.limit/2)
	c.add(version(200), true, d)
	if c.summaries.Len() < 5 {
		t.Error("a large summary has replaced the others")
	}
}

// TestSummarize checks that lists of datasets hold no texts of descriptors.
func TestSummarize(t *testing.T) {
	t.Parallel()
	d := herb.Dataset{Details: herb.Details{File: &herb.File{}}}
	if got := summarize(d); got.Descriptor != nil || got.File != nil {
		t.Errorf("no descriptor: %+v", got)
	}
	d.Descriptor = herb.NewDescriptor(
		[]byte(`{"package":{"keywords":["rose"],"other":1},"resource":{"licenses":[{"name":"CC0"}]}}`))
	got := summarize(d).Descriptor
	if len(got.Text) > 0 || !slices.Equal(got.Keywords, []string{"rose"}) || len(got.Licenses) != 1 {
		t.Errorf("the summary is %+v", got)
	}
}

// TestSummarize_longTexts checks that a list of versions of earlier releases, whose texts and
// annotations have megabytes, stays small.
func TestSummarize_longTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2<<20)
	fields := []herb.Field{{Name: "a", Title: long, Description: long}, {Name: "b", Title: "B"}}
	d := herb.Dataset{Title: long, Description: long, Fields: fields, Details: herb.Details{
		Descriptor: herb.NewDescriptor([]byte(`{"package":{"keywords":["rose"],"licenses":[{"title":"` +
			long + `"}]}}`)),
	}}
	got := summarize(d)
	if size := got.Size(); size > 200<<10 || len(got.Descriptor.Keywords) != 1 || got.Descriptor.Licenses != nil ||
		got.Fields[1].Title != "B" {
		t.Errorf("the summary has %d bytes, descriptor %.100v", size, got.Descriptor)
	}
	if len(fields[0].Title) != len(long) {
		t.Error("the fields of the version were changed")
	}
	if got := publicDescription(d); len(got.Title) > herb.MaxTitle+3 || len(got.Description) > herb.MaxDescription+3 {
		t.Errorf("the description has %d and %d bytes", len(got.Title), len(got.Description))
	}
}
