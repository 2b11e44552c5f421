package blobs

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"
)

// stalled is the error of a request during which no byte was transferred for too long.
type stalled struct{ after time.Duration }

func (s stalled) Error() string { return "no byte transferred for " + s.after.String() }

// operationKey is the context key of the function that cancels an operation.
type operationKey struct{}

// withStall runs an operation and returns a stalled error if one of its requests stalled. A stall cancels the
// operation: the S3 client would otherwise repeat the request and wait as long again.
func withStall(ctx context.Context, operation func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := operation(context.WithValue(ctx, operationKey{}, cancel))
	return explain(ctx, err)
}

// explain returns the stalled error that ended ctx, if there is one, else err.
func explain(ctx context.Context, err error) error {
	if s, ok := errors.AsType[stalled](context.Cause(ctx)); ok && err != nil {
		return s
	}
	return err
}

// stallTransport cancels operations whose requests make no progress: no byte of the body is sent, no response begins, or no
// byte of it is received. http.Client only has a limit for a whole request, and transferring a file may take hours.
type stallTransport struct {
	base  http.RoundTripper
	stall time.Duration
}

// RoundTrip implements http.RoundTripper.
func (t *stallTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	cancel, ok := ctx.Value(operationKey{}).(context.CancelCauseFunc)
	if !ok {
		return nil, errors.New("request outside of an operation")
	}
	timer := time.AfterFunc(t.stall, func() { cancel(stalled{t.stall}) })
	w := &stallTimer{timer, ctx, t.stall}
	r = r.WithContext(ctx) // a copy
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &requestBody{r.Body, w}
	}
	if getBody := r.GetBody; getBody != nil {
		r.GetBody = func() (io.ReadCloser, error) {
			body, err := getBody()
			return &requestBody{body, w}, err
		}
	}
	resp, err := t.base.RoundTrip(r)
	w.Stop()
	if err != nil {
		return nil, explain(ctx, err)
	}
	resp.Body = &responseBody{resp.Body, w}
	return resp, nil
}

// stallTimer cancels the operation of one request when it expires.
type stallTimer struct {
	*time.Timer
	ctx   context.Context
	stall time.Duration
}

// requestBody restarts the timer whenever a part of the body is sent.
type requestBody struct {
	io.ReadCloser
	timer *stallTimer
}

func (b *requestBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.timer.stall)
	return b.ReadCloser.Read(p)
}

// responseBody runs the timer only during a Read, so that a slow consumer is not taken for a slow store.
type responseBody struct {
	io.ReadCloser
	timer *stallTimer
}

func (b *responseBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.timer.stall)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	if err != nil && err != io.EOF {
		err = explain(b.timer.ctx, err)
	}
	return n, err
}

const (
	// partSize is how much of a file one request transfers, and parallelParts how many requests run at once. Together they
	// bound the memory of a Put.
	partSize      = 8 << 20
	parallelParts = 3
	// maxParts is less than the number of parts that stores accept (10,000).
	maxParts = 9000

	contentType = "application/octet-stream"

	// abortTimeout bounds the removal of a failed upload, which goes on after the context of the Put has ended.
	abortTimeout = 10 * time.Second
)

// put implements driver. minio-go's own PutObject cannot be used: it does not repeat requests whose body is not in memory,
// and for Google's servers it reads the whole file into memory.
func (s *s3Store) put(ctx context.Context, name string, src *source) error {
	key := s.prefix + name
	if src.size > partSize {
		return s.putParts(ctx, key, src)
	}
	body := make([]byte, src.size)
	if _, err := io.ReadFull(src, body); err != nil {
		return err
	}
	return withStall(ctx, func(ctx context.Context) error {
		md5Sum, sha256Sum := checksums(body)
		_, err := s.client.PutObject(ctx, s.bucket, key, bytes.NewReader(body), src.size, md5Sum, sha256Sum, s.putOptions())
		return err
	})
}

func (s *s3Store) putOptions() minio.PutObjectOptions {
	return minio.PutObjectOptions{
		ContentType:          contentType,
		ServerSideEncryption: s.encryption,
		DisableContentSha256: true, // do not compute it by chunks: it is known, see checksums
	}
}

// checksums returns the checksums of a request body that the store compares with what it receives: SHA-256 as a part of the
// signature, and MD5 for stores that do not verify it. Every S3 server knows both, unlike the CRC headers of newer clients.
func checksums(body []byte) (md5Base64, sha256Hex string) {
	m, h := md5.Sum(body), sha256.Sum256(body)
	return base64.StdEncoding.EncodeToString(m[:]), hex.EncodeToString(h[:])
}

// putParts stores a file with a multipart upload. A failed upload is aborted.
func (s *s3Store) putParts(ctx context.Context, key string, src *source) error {
	var id string
	err := withStall(ctx, func(ctx context.Context) (err error) {
		if id, err = s.client.NewMultipartUpload(ctx, s.bucket, key, s.putOptions()); err != nil {
			return err
		}
		parts, err := s.sendParts(ctx, key, id, src)
		if err != nil {
			return err
		}
		_, err = s.client.CompleteMultipartUpload(ctx, s.bucket, key, id, parts, minio.PutObjectOptions{})
		return err
	})
	if err != nil && id != "" {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
		defer cancel()
		// If this fails too, the collector removes the upload later.
		_ = withStall(ctx, func(ctx context.Context) error { return s.client.AbortMultipartUpload(ctx, s.bucket, key, id) })
	}
	return err
}

func (s *s3Store) sendParts(ctx context.Context, key, id string, src *source) ([]minio.CompletePart, error) {
	size := partSizeOf(src.size)
	parts := make([]minio.CompletePart, (src.size+size-1)/size)
	buffers := make(chan []byte, parallelParts)
	for range parallelParts {
		buffers <- nil
	}
	g, ctx := errgroup.WithContext(ctx)
	for i := range parts {
		buffer := <-buffers
		if buffer == nil {
			buffer = make([]byte, size)
		}
		body := buffer[:min(size, src.size-int64(i)*size)]
		_, err := io.ReadFull(src, body)
		if err = errors.Join(err, ctx.Err()); err != nil {
			g.Go(func() error { return err }) // cancels the other parts
			break
		}
		g.Go(func() error {
			defer func() { buffers <- buffer }()
			md5Sum, sha256Sum := checksums(body)
			part, err := s.client.PutObjectPart(ctx, s.bucket, key, id, i+1, bytes.NewReader(body), int64(len(body)),
				minio.PutObjectPartOptions{Md5Base64: md5Sum, Sha256Hex: sha256Sum, DisableContentSha256: true})
			parts[i] = minio.CompletePart{PartNumber: part.PartNumber, ETag: part.ETag}
			return err
		})
	}
	return parts, g.Wait()
}

// partSizeOf returns the size of the parts of a file, so large that there are at most maxParts.
func partSizeOf(size int64) int64 {
	const unit = 1 << 20
	least := (size + maxParts - 1) / maxParts
	return max(partSize, (least+unit-1)/unit*unit)
}

// abort implements driver.
func (s *s3Store) abort(ctx context.Context, before time.Time) error {
	return withStall(ctx, func(ctx context.Context) error {
		var keyMarker, idMarker string
		for {
			page, err := s.client.ListMultipartUploads(ctx, s.bucket, s.prefix, keyMarker, idMarker, "", 1000)
			if err != nil {
				return err
			}
			for _, u := range page.Uploads {
				if u.Initiated.After(before) {
					continue
				}
				err := s.client.AbortMultipartUpload(ctx, s.bucket, u.Key, u.UploadID)
				if e, ok := errors.AsType[minio.ErrorResponse](err); ok && e.Code == minio.NoSuchUpload {
					continue // it has ended meanwhile, or another node has aborted it
				}
				if err != nil {
					return err
				}
			}
			if !page.IsTruncated {
				return nil
			}
			keyMarker, idMarker = page.NextKeyMarker, page.NextUploadIDMarker
		}
	})
}
