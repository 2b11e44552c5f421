//go:build linux

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"herbarium/bench/gen"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

const (
	seed     = 1
	dataset  = "bench/items"
	listPath = "/api/v1/" + dataset + "/data"
)

// measureSwitches publishes a small dataset and a large one several times. The large one is listed
// by later measurements.
func (c *cluster) measureSwitches(t testing.TB, into *figures) {
	for _, records := range []int{c.small, c.records} {
		t.Logf("publishing %d records", records)
		s := versionSwitch{Records: records, Nodes: len(c.nodes)}
		c.publish(t, records+c.publishes) // not measured: the very first version is fetched on demand
		for i := range c.publishes {
			// Each version has a different number of records, which identifies it in a listing.
			first, all := c.publish(t, records+c.publishes-i-1)
			s.First, s.All = append(s.First, first), append(s.All, all)
		}
		s.Bytes = c.newest(t).size
		into.Switches = append(into.Switches, s)
	}
	into.Bytes = c.newest(t).size
}

// publish publishes records and returns how long after its end the first and the last node list
// them.
func (c *cluster) publish(t testing.TB, records int) (first, all time.Duration) {
	t.Helper()
	path := filepath.Join(c.scratch, "items.csv")
	f, err := os.Create(path)
	must.NoError(t, err)
	must.NoError(t, gen.New(seed).WriteCSV(t.Context(), f, records))
	must.NoError(t, f.Close())
	c.run(t, "publish", path, "--as", dataset, "--allow-breaking")
	published := time.Now()
	behind, failures := make([]time.Duration, len(c.nodes)), make([]error, len(c.nodes))
	var waiting sync.WaitGroup
	for i, n := range c.nodes {
		waiting.Go(func() {
			failures[i] = n.await(t.Context(), listPath+"?per_page=1", func(r programtest.Response) bool {
				total, ok := totalOf(r)
				return ok && total == records
			})
			behind[i] = time.Since(published)
		})
	}
	waiting.Wait()
	must.NoError(t, errors.Join(failures...))
	return slices.Min(behind), slices.Max(behind)
}

// object is a file in the object store.
type object struct {
	name string
	size int64
}

// newest returns the file that was published last: names of versions begin with the time.
func (c *cluster) newest(t testing.TB) (last object) {
	t.Helper()
	for o := range c.s3.Client(t).ListObjectsIter(t.Context(), bucket, minio.ListObjectsOptions{Recursive: true}) {
		must.NoError(t, o.Err)
		if o.Key > last.name {
			last = object{o.Key, o.Size}
		}
	}
	return last
}

// measureFetches starts nodes with an empty cache and requests the dataset from them. For
// comparison, it reads the file with a plain S3 client.
func (c *cluster) measureFetches(t testing.TB, into *figures) {
	for range c.fetches {
		t.Log("fetching")
		n := c.startNode(t)
		before, err := programtest.CPU(n.PID())
		must.NoError(t, err)
		began := time.Now()
		c.total(t, n, "per_page=1")
		took := time.Since(began)
		after, err := programtest.CPU(n.PID())
		must.NoError(t, err)
		n.Kill()
		into.Fetches = append(into.Fetches, objectFetch{Bytes: into.Bytes, Took: took, CPU: after - before})
		into.Plain = append(into.Plain, c.read(t, c.newest(t)))
	}
}

// read copies an object into a file, which it syncs.
func (c *cluster) read(t testing.TB, o object) time.Duration {
	t.Helper()
	began := time.Now()
	got, _, _, err := c.s3.Client(t).GetObject(t.Context(), bucket, o.name, minio.GetObjectOptions{})
	must.NoError(t, err)
	f, err := os.Create(filepath.Join(c.scratch, "object"))
	must.NoError(t, err)
	n, err := io.Copy(f, got)
	must.NoError(t, err)
	must.NoError(t, f.Sync())
	took := time.Since(began)
	must.NoError(t, f.Close())
	must.NoError(t, got.Close())
	if n != o.size {
		t.Fatalf("the object has %d bytes; received %d", o.size, n)
	}
	return took
}
