//go:build unix

package blobs_test

import (
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"herbarium/internal/blobs"
	"herbarium/internal/blobs/s3test"
	"herbarium/internal/must"
)

// TestS3_lostConnections drops the packets of all connections without closing them, as a firewall
// does that has lost its state: each request succeeds on a new connection, long before a stall.
func TestS3_lostConnections(t *testing.T) {
	t.Parallel()
	server := s3test.New(t)
	file := filepath.Join(t.TempDir(), "file")
	must.NoError(t, os.WriteFile(file, []byte("content"), 0o600))
	for name, request := range map[string]func(context.Context, *blobs.Bucket) error{
		"get":    func(ctx context.Context, b *blobs.Bucket) error { return b.Get(ctx, "a", io.Discard) },
		"put":    func(ctx context.Context, b *blobs.Bucket) error { return b.Put(ctx, "b", file, nil) },
		"ping":   func(ctx context.Context, b *blobs.Bucket) error { return b.Ping(ctx) },
		"delete": func(ctx context.Context, b *blobs.Bucket) error { return b.Delete(ctx, "b") },
		"list": func(ctx context.Context, b *blobs.Bucket) (err error) {
			for _, err = range b.List(ctx, "") {
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, endpoint := interpose(t, server.Address(), math.MaxInt64, 0)
			server.URL(t, "bucket-"+name) // creates it
			b := open(t, server.Through("bucket-"+name, endpoint),
				blobs.Options{Stall: time.Hour, Answer: 500 * time.Millisecond})
			must.NoError(t, b.Put(t.Context(), "a", file, nil))
			var reading sync.WaitGroup
			for range 4 { // opens several connections
				reading.Go(func() {
					if err := b.Get(t.Context(), "a", io.Discard); err != nil {
						t.Error(err)
					}
				})
			}
			reading.Wait()
			p.lose()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if err := request(ctx, b); err != nil {
				t.Error(err)
			}
		})
	}
}
