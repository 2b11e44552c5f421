//go:build unix

package fetch

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"

	"herbarium/internal/blobs/s3test"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish/receive"
)

func TestMain(m *testing.M) {
	if err := s3test.Setenv(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestClient_objects fetches objects of an S3 server.
func TestClient_objects(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	address := server.URL(t, "source")
	hosts, err := ParseHosts([]string{address})
	must.NoError(t, err)
	c := NewClient(ClientOptions{Hosts: hosts, Files: receive.New(receive.Options{Dir: t.TempDir(), MaxSize: 1 << 20})})
	put := func(key, content string) {
		t.Helper()
		_, err := server.Client(t).Client.PutObject(t.Context(), "source", key, strings.NewReader(content),
			int64(len(content)), minio.PutObjectOptions{})
		must.NoError(t, err)
	}
	for key, content := range map[string]string{
		"a/prices.csv": "id\n1\n", "a/other/part-1.csv": "x\n", "parts/part-1.csv": "id,n\n1,a\n",
		"parts/part-2.csv": "id,n\n2,b", "parts/part-3.csv": "id,n\n3,c\n", "parts/part-4.csv": "",
		"parts/readme.txt": "no", "lines/1.ndjson": "{\"id\":1}\n", "lines/2.ndjson": "{\"id\":1}\n",
		"books/1.xlsx": "a", "books/2.xlsx": "b", "large/a.csv": strings.Repeat("a", 1<<20+1),
	} {
		put(key, content)
	}
	var known validators
	for _, f := range []struct {
		address, content, name, failure string
		before                          func()
	}{
		{address: "a/prices.csv", content: "id\n1\n", name: "prices.csv"},
		{address: "a/prices.csv", failure: errUnchanged.Error()},
		{address: "a/prices.csv", content: "id\n2\n", name: "prices.csv",
			before: func() { put("a/prices.csv", "id\n2\n") }},
		{address: "a/", content: "id\n2\n", name: "prices.csv", before: func() { known = validators{} }},
		{address: "parts/part-*.csv", content: "id,n\n1,a\n2,b\n3,c\n", name: "part-1.csv"},
		{address: "parts/part-*.csv", failure: errUnchanged.Error()},
		{address: "lines/*", content: "{\"id\":1}\n{\"id\":1}\n", name: "1.ndjson"},
		{address: "books/*", failure: "only parts in .csv"},
		{address: "a/none.csv", failure: "the bucket has no such object"},
		{address: "none/", failure: "the bucket has no such object"},
		{address: "large/a.csv", failure: "larger than 1 MiB"},
	} {
		if f.before != nil {
			f.before()
		}
		got, is, err := c.fetch(t.Context(), testRef(), herb.FetchSource{Address: "s3://source/" + f.address}, known)
		if f.failure != "" {
			if err == nil || !strings.Contains(err.Error(), f.failure) ||
				strings.Contains(err.Error(), s3test.SecretKey) {
				t.Errorf("%s: %v; want %q", f.address, err, f.failure)
			}
			continue
		}
		known = is
		must.NoError(t, err)
		content, err := io.ReadAll(got.Content())
		if err != nil || string(content) != f.content || got.Name != f.name {
			t.Errorf("%s is %s with %q, %v", f.address, got.Name, content, err)
		}
		must.NoError(t, got.Close())
	}
}

// TestJoiner joins files of lines that arrive in pieces of any size.
func TestJoiner(t *testing.T) {
	t.Parallel()
	for size := 1; size < 9; size++ {
		var out strings.Builder
		j := &joiner{to: &out, hasHeader: true}
		for _, file := range []string{"id\r\n1\r\n", "id\n2", "", "id", "3\n4\n"} {
			for len(file) > 0 {
				n := min(size, len(file))
				_, err := j.Write([]byte(file[:n]))
				must.NoError(t, err)
				file = file[n:]
			}
			must.NoError(t, j.end())
		}
		if got := out.String(); got != "id\r\n1\r\n2\n3\n4\n" {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
	j := &joiner{to: io.Discard}
	if _, err := j.Write(make([]byte, maxHeader+1)); err == nil {
		t.Error("a first line without an end is read")
	}
}
