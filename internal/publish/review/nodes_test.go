//go:build unix

package review_test

import (
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/blobs"
	"herbarium/internal/blobs/s3test"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/publish/review"
	"herbarium/internal/store"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

func TestMain(m *testing.M) {
	if err := s3test.Setenv(); err != nil {
		log.Fatal(err)
	}
	os.Exit(m.Run())
}

// TestDraft_nodes reviews and publishes a draft on another node than the one that received it.
func TestDraft_nodes(t *testing.T) {
	t.Parallel()
	bucket, err := blobs.Open(s3test.New(t).URL(t, "bucket"), blobs.Options{})
	must.NoError(t, err)
	must.CloseAfter(t, bucket)
	data := t.TempDir()
	open := func() *node {
		dir := t.TempDir()
		return newNode(t, nodeOptions{
			data: data, library: func(o *versionstest.Options) { o.Blobs, o.Dir = bucket, dir }})
	}
	a, b := open(), open()
	id := a.create("prices.csv", priceList())
	if objects := objectsOf(t, bucket); len(objects) != 1 || objects[0] != id+".draft" {
		t.Errorf("objects: %v", objects)
	}
	a.edit(id, review.Edits{Columns: map[int]review.ColumnEdit{2: {Missing: []string{"on request"}}}})
	r, err := b.reviews.Review(t.Context(), id, longWait)
	if err != nil || r.Error != "" || r.Columns[2].Type != herb.TypeNumber {
		t.Fatalf("on the other node: %+v, %v", r, err)
	}
	c := open()
	if _, err := c.reviews.Publish(t.Context(), id, versions.PublishOptions{}, r.Live,
		actor); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("on a node that has not read the file: %v", err)
	}
	if descriptor, err := c.reviews.Descriptor(t.Context(), id); err != nil ||
		!strings.Contains(string(descriptor), "on request") {
		t.Errorf("descriptor on a third node: %s, %v", descriptor, err)
	}
	c.review(id)
	if result := c.publish(id, false, r.Live); result.State != publish.StateLive {
		t.Errorf("on a third node: %+v", result)
	}
	c.reviews.Stop()
	if _, err := a.reviews.Review(t.Context(), id, longWait); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("after the publish on another node: %v", err)
	}
	// of a server that died
	must.NoError(t, bucket.Put(t.Context(), store.NewDraftID()+".draft", filepath.Join(data, "test.db"), nil))
	must.NoError(t, b.library.Collect(t.Context()))
	for _, name := range objectsOf(t, bucket) {
		if strings.HasSuffix(name, store.DraftSuffix) {
			t.Errorf("left over: %s", name)
		}
	}
}

func objectsOf(t *testing.T, b *blobs.Bucket) (names []string) {
	t.Helper()
	for o, err := range b.List(t.Context(), "") {
		must.NoError(t, err)
		names = append(names, o.Name)
	}
	return names
}
