//go:build unix

package blobs_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
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

// TestS3_rejected uses wrong credentials. They come from the environment, so the test does not run
// in parallel with others.
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
		want := "cannot " + what +
			" the object store s3://bucket: access denied (SignatureDoesNotMatch); check the credentials"
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

// TestS3_responses uses a server with invalid responses.
func TestS3_responses(t *testing.T) {
	t.Parallel()
	const secret = "string-to-sign"
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body) // the client may have closed the connection
		}
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
		stall  time.Duration
	}{
		{"forbidden", status(403, "<Error><Code>AccessDenied</Code><Message>"+secret+"</Message></Error>"),
			"access denied (AccessDenied)", 0},
		{"forbidden by a proxy", status(403, "<html>"+secret), "access denied (AccessDenied)", 0},
		{"no bucket", status(404, "<Error><Code>NoSuchBucket</Code></Error>"), "", 0},
		{"not S3", status(400, "line\nline "+secret), "status 400", 0},
		{"silent", func(http.ResponseWriter, *http.Request) { <-ended }, "no response for 100ms",
			100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				_, _ = io.Copy(io.Discard, r.Body) // the client may have closed the connection
				c.answer(w, r)
			})) // not closed: Close waits for the request that is never answered
			b := open(t, "s3://bucket/prefix?endpoint="+server.URL, blobs.Options{Stall: c.stall})
			for name, err := range map[string]error{
				"Ping":   b.Ping(t.Context()),
				"Get":    b.Get(t.Context(), "a.segment", io.Discard),
				"Put":    b.Put(t.Context(), "a.segment", file(t, []byte("a")), nil),
				"Delete": b.Delete(t.Context(), "a.segment"),
				"Abort":  b.Abort(t.Context(), 0),
			} {
				wantCode(t, err, herb.CodeUnavailable)
				if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) ||
					strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %q, want %q in it, in one line, without the message of the store", name, err, c.want)
				}
			}
			if n := requests.Load(); c.stall > 0 && n > 5*4 {
				t.Errorf("five operations sent %d requests; the client repeats each three times", n)
			}
		})
	}
}

// TestS3_canceledPut checks that a canceled multipart upload is aborted. Whether a server has
// removed it at once depends on the parts that it is still receiving.
func TestS3_canceledPut(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	server.URL(t, "bucket")
	target, err := url.Parse(server.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	aborted := make(chan string, 100)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		ModifyResponse: func(r *http.Response) error {
			if r.Request.Method == http.MethodDelete && r.Request.URL.Query().Has("uploadId") {
				aborted <- r.Status
			}
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0), // of canceled requests
	})
	t.Cleanup(proxy.Close)
	b := open(t, server.Through("bucket", proxy.URL), blobs.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	err = b.Put(ctx, "a.segment", file(t, content(40<<20)), func(done, total int64) {
		if done > total/2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want that of the context", err)
	}
	select {
	case status := <-aborted:
		if !strings.HasPrefix(status, "204 ") {
			t.Errorf("aborting the upload: status %s", status)
		}
	default:
		t.Error("the upload was not aborted")
	}
}

// TestS3_credentials reads credentials and regions from their sources. They depend on the
// environment, so the test does not run in parallel with others.
func TestS3_credentials(t *testing.T) {
	server := s3test.New(t)
	server.URL(t, "bucket")
	folder := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	keys := "aws_access_key_id = " + s3test.AccessKey + "\naws_secret_access_key = " + s3test.SecretKey + "\n"
	shared := write("credentials", "[default]\n"+keys+"[other]\n"+keys)
	config := write("config", "[default]\nregion = "+s3test.Region+"\n[profile other]\nregion = "+s3test.Region+"\n")
	process := write("process", "[default]\ncredential_process = /bin/cat "+write("output",
		`{"Version":1,"AccessKeyId":"`+s3test.AccessKey+`","SecretAccessKey":"`+s3test.SecretKey+`"}`)+"\n")
	container := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"AccessKeyId":"`+s3test.AccessKey+`","SecretAccessKey":"`+s3test.SecretKey+
			`","Expiration":"2100-01-01T00:00:00Z"}`) // the client reports a failure
	}))
	defer container.Close()
	for _, c := range []struct {
		name, params string
		env          map[string]string
		want         string // empty if the store can be used
	}{
		{name: "shared file", env: map[string]string{"AWS_SHARED_CREDENTIALS_FILE": shared}},
		{name: "profile of the environment", env: map[string]string{"AWS_SHARED_CREDENTIALS_FILE": shared,
			"AWS_PROFILE": "other"}},
		{name: "profile of the address", params: "&profile=other", env: map[string]string{
			"AWS_SHARED_CREDENTIALS_FILE": shared, "AWS_ACCESS_KEY_ID": "wrong", "AWS_SECRET_ACCESS_KEY": "wrong"}},
		{name: "missing profile", params: "&profile=absent",
			env:  map[string]string{"AWS_SHARED_CREDENTIALS_FILE": shared},
			want: "no credentials"},
		{name: "credential process", env: map[string]string{"AWS_CONFIG_FILE": process}},
		{name: "container", env: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": container.URL}},
		{name: "none", want: "no credentials"},
		{name: "anonymous", params: "&anonymous=true", want: "access denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, e := range s3test.Environ() {
				name, _, _ := strings.Cut(e, "=")
				t.Setenv(name, "")
			}
			t.Setenv("AWS_CONFIG_FILE", config)
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
			t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			b := open(t, "s3://bucket?endpoint="+server.Endpoint()+c.params, blobs.Options{})
			err := b.Ping(t.Context())
			if c.want == "" && err != nil {
				t.Error(err)
			}
			if c.want != "" {
				wantCode(t, err, herb.CodeUnavailable)
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("the error is %q, want %q in it", err, c.want)
				}
			}
		})
	}
	t.Run("region", func(t *testing.T) {
		t.Setenv("AWS_REGION", "")
		t.Setenv("AWS_CONFIG_FILE", config)
		open(t, "s3://bucket?profile=other", blobs.Options{}) // fails without a region
	})
}
