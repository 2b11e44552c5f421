//go:build unix

package blobs_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/minio/minio-go/v7"

	"herbarium/internal/blobs"
	"herbarium/internal/blobs/s3test"
	"herbarium/internal/herb"
)

// TestS3_abort leaves an unfinished upload, as a killed process does.
func TestS3_abort(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	address := server.URL(t, "bucket")
	client := server.Client(t)
	uploads := func() (keys []string) {
		t.Helper()
		got, err := client.ListMultipartUploads(t.Context(), "bucket", "", "", "", "", 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range got.Uploads {
			keys = append(keys, u.Key)
		}
		return keys
	}
	for _, key := range []string{"inside/a.segment", "inside/b.segment", "outside.segment"} {
		if _, err := client.NewMultipartUpload(t.Context(), "bucket", key, minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t, strings.Replace(address, "?", "/inside?", 1), blobs.Options{})
	for _, c := range []struct {
		name      string
		olderThan time.Duration
		want      []string
	}{
		{"too young", time.Hour, []string{"inside/a.segment", "inside/b.segment", "outside.segment"}},
		{"old enough", -time.Hour, []string{"outside.segment"}},
		{"none left", -time.Hour, []string{"outside.segment"}},
	} {
		if err := b.Abort(t.Context(), c.olderThan); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, uploads()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestS3_rejected uses wrong credentials. They come from the environment, so the test does not run in parallel with others.
func TestS3_rejected(t *testing.T) {
	server := s3test.New(t)
	address := server.URL(t, "bucket")
	right := open(t, address, blobs.Options{})
	put(t, right, "a.segment", []byte("a"))
	const wrong = "not-the-secret-at-all"
	t.Setenv("AWS_SECRET_ACCESS_KEY", wrong)
	b := open(t, address, blobs.Options{})
	for what, err := range map[string]error{
		"list":               b.Ping(t.Context()),
		"read a.segment in":  b.Get(t.Context(), "a.segment", io.Discard),
		"write a.segment to": b.Put(t.Context(), "a.segment", file(t, nil), nil),
	} {
		wantCode(t, err, herb.CodeUnavailable)
		want := "cannot " + what + " the object store s3://bucket: access denied (SignatureDoesNotMatch); check the credentials"
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), wrong) {
			t.Errorf("the error is %q, want %q in it, and no secret", err, want)
		}
	}
	if got := get(t, right, "a.segment"); string(got) != "a" {
		t.Errorf("read %q with the right secret", got)
	}
}

// TestS3_region opens a store without a region. Only Amazon's own needs one.
func TestS3_region(t *testing.T) {
	server := s3test.New(t)
	server.URL(t, "bucket")
	t.Setenv("AWS_REGION", "")
	b := open(t, "s3://bucket?endpoint="+server.Endpoint(), blobs.Options{})
	if err := b.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	_, err := blobs.Open("s3://bucket", blobs.Options{})
	wantCode(t, err, herb.CodeInvalid)
	if !strings.Contains(err.Error(), "add ?region=… or set AWS_REGION") {
		t.Errorf("the error is %v", err)
	}
}
