// Package blobs stores files in an object store that several nodes share: a store that speaks the
// S3 protocol, or a folder.
//
// An address is s3://bucket/prefix?region=eu-central-1,
// s3://bucket/prefix?endpoint=https://minio.example.org:9000 or file:///folder. The folder must
// exist unless the address has create_dir=true. Its parent must exist in any case, so that a file
// system that is not mounted is reported instead of filled in.
//
// Credentials are never part of the address. They come from, in this order: AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; the shared configuration files, for the profile that
// AWS_PROFILE names; a web identity token, the ECS or EKS container endpoint, or the EC2 instance
// metadata service. An address with profile=… reads that profile only. The region comes from
// region=…, AWS_REGION, AWS_DEFAULT_REGION or the shared configuration files; with an endpoint it
// is optional. The credentials must permit listing, reading, writing and deleting objects, and
// listing and aborting multipart uploads. Without the permission to list, S3 reports a missing
// object as forbidden.
//
// herb.CodeNotFound means that the store answered and has no object of that name. Any other failure
// of the store is herb.CodeUnavailable, including a refusal, because the caller cannot fix it.
// Local failures, such as a file that cannot be read or a writer that fails, are returned
// unchanged.
//
// A Bucket is safe for concurrent use. Concurrent writes to one name leave one of the files,
// complete.
package blobs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"

	"herbarium/internal/herb"
)

// Options are the options of a Bucket.
type Options struct {
	// Stall is how long a request may go without transferring a byte in either direction; zero
	// means 30 seconds. The duration of a request that makes progress is not limited.
	Stall time.Duration
	// Answer is how long a connection that is used again may take to answer a request without a
	// body before the request is repeated on a new connection; zero means 3 seconds.
	Answer time.Duration
	// Observe is called after each operation, with its name, one of Operations. nil disables it.
	Observe func(operation string, took time.Duration, err error)
}

// Operations lists the operations of a Bucket that Options.Observe reports.
func Operations() []string { return []string{"get", "put", "delete", "list", "ping"} }

// Bucket is a bucket of an object store, or a prefix in one, or a folder.
type Bucket struct {
	driver driver
	name   string // the address without parameters, for messages
	stall  time.Duration

	observe func(operation string, took time.Duration, err error) // nil disables it
}

// observed reports an operation that began at a time to the observer. Its error may be nil.
func (b *Bucket) observed(operation string, began time.Time, err *error) {
	if b.observe != nil {
		b.observe(operation, time.Since(began), *err)
	}
}

// Open opens the object store at an address. It does not contact the store, which may be
// unavailable now and back later; use Ping to check it.
func Open(at string, opts Options) (*Bucket, error) {
	a, err := parse(at)
	if err != nil {
		return nil, err
	}
	opts.Stall, opts.Answer = cmp.Or(opts.Stall, 30*time.Second), cmp.Or(opts.Answer, 3*time.Second)
	b := &Bucket{name: a.String(), stall: opts.Stall, observe: opts.Observe}
	if a.scheme == fileScheme {
		b.driver, err = openFolder(a)
	} else {
		b.driver, err = openS3(a, opts)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// OpenFolder opens a folder, and creates it if it does not exist.
func OpenFolder(dir string) (*Bucket, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &Bucket{driver: &folder{root: dir}, name: dir}, nil
}

// Close closes idle connections. The Bucket must not be used afterwards.
func (b *Bucket) Close() error {
	b.driver.close()
	return nil
}

// Ping reports whether the store answers and has the bucket or folder.
func (b *Bucket) Ping(ctx context.Context) (err error) {
	defer b.observed("ping", time.Now(), &err)
	err = b.driver.ping(ctx)
	if err != nil && isMissing(err) {
		return herb.Errorf(herb.CodeUnavailable,
			"the bucket or folder of the object store %s does not exist; create it", b.name)
	}
	return b.mapError(ctx, err, "list")
}

// orMissing maps an error like mapError. What is missing may be an object, which is no error, or
// the bucket.
func (b *Bucket) orMissing(ctx context.Context, err error, operation string) error {
	if err != nil && isMissing(err) {
		return errors.Join(b.Ping(ctx), ctx.Err())
	}
	return b.mapError(ctx, err, operation)
}

// Delete removes an object. A missing object is not an error.
func (b *Bucket) Delete(ctx context.Context, name string) (err error) {
	if err := checkName(name); err != nil {
		return err
	}
	defer b.observed("delete", time.Now(), &err)
	return b.orMissing(ctx, b.driver.remove(ctx, name), "delete "+name+" in")
}

// List returns the objects whose names begin with a prefix, in the order of names. It ends with the
// first error.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[herb.Blob, error] {
	return func(yield func(herb.Blob, error) bool) {
		began := time.Now()
		err := b.orMissing(ctx, b.driver.list(ctx, prefix, func(o herb.Blob) bool { return yield(o, nil) }), "list")
		b.observed("list", began, &err)
		if err != nil {
			yield(herb.Blob{}, err)
		}
	}
}

// Abort removes the remains of uploads that were started longer ago than a duration and never
// completed: multipart uploads on S3, temporary files in a folder. The duration must be longer than
// any Put takes.
func (b *Bucket) Abort(ctx context.Context, olderThan time.Duration) error {
	return b.orMissing(ctx, b.driver.abort(ctx, time.Now().Add(-olderThan)), "remove unfinished uploads in")
}

// checkName rejects names that not every store can hold, or that List would skip.
func checkName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.Contains(name, "/") || strings.HasSuffix(name, ".tmp") {
		return herb.Invalidf("invalid object name %q; write a name without slashes that does not end in .tmp", name)
	}
	return nil
}

// driver is the access to one kind of store. Names have neither slashes nor the prefix of the
// address. Errors are those of the client library; Bucket maps them to herb codes.
type driver interface {
	// ping reports whether the bucket or folder exists and can be listed.
	ping(ctx context.Context) error
	// put stores a source of a size under a name, completely or not at all.
	put(ctx context.Context, name string, src io.ReaderAt, size int64) error
	// get copies an object, completely if it returns nil.
	get(ctx context.Context, name string, to *target) error
	// remove deletes an object; whether a missing one is an error depends on the store.
	remove(ctx context.Context, name string) error
	// list calls yield for each object in the order of names until it returns false.
	list(ctx context.Context, prefix string, yield func(herb.Blob) bool) error
	// abort removes unfinished uploads that were started before a time.
	abort(ctx context.Context, before time.Time) error
	close()
}

// mapError maps a failure of the store to a herb error; nil stays nil. operation completes the
// sentence "cannot … the object store": "read a.segment in".
func (b *Bucket) mapError(ctx context.Context, err error, operation string) error {
	if err == nil {
		return nil
	}
	if local, ok := errors.AsType[localError](err); ok {
		return local.error
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s %s: %w", operation, b.name, context.Cause(ctx))
	}
	if ctx.Err() != nil {
		return herb.Wrap(herb.CodeUnavailable, ctx.Err(), "cannot %s the object store %s within the deadline",
			operation, b.name)
	}
	if reason, ok := refusal(err); ok {
		return herb.Errorf(herb.CodeUnavailable,
			"cannot %s the object store %s: access denied (%s); check the credentials and "+
				"their permissions", operation, b.name, reason)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return herb.Errorf(herb.CodeUnavailable, "cannot %s the object store %s: no response for %s", operation,
			b.name, b.stall)
	}
	if e, ok := errors.AsType[minio.ErrorResponse](err); ok {
		// The message of a store may repeat what it was sent, and span several lines.
		err = fmt.Errorf("status %d, code %q", e.StatusCode, e.Code)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // without the URL
	}
	return herb.Wrap(herb.CodeUnavailable, err, "cannot %s the object store %s", operation, b.name)
}

// refusal returns the error code of the store if err means that it denies access. The message of
// the store is left out because it may repeat the signature.
func refusal(err error) (reason string, ok bool) {
	if e, ok := errors.AsType[noCredentials](err); ok {
		return e.Error(), true
	}
	if errors.Is(err, fs.ErrPermission) {
		return "permission denied", true
	}
	e, _ := errors.AsType[minio.ErrorResponse](err)
	switch e.Code {
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "RequestTimeTooSkewed",
		"AccountProblem", "AllAccessDisabled", "AuthorizationHeaderMalformed":
		return e.Code, true
	}
	return e.Code, e.StatusCode == http.StatusUnauthorized || e.StatusCode == http.StatusForbidden
}

// isMissing reports whether an object, or the bucket or folder, does not exist.
func isMissing(err error) bool {
	if e, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return e.StatusCode == http.StatusNotFound || e.Code == minio.NoSuchKey || e.Code == minio.NoSuchBucket
	}
	return errors.Is(err, fs.ErrNotExist)
}

// localError is a failure of this machine, not of the store.
type localError struct{ error }

// Get copies an object to a writer, completely, or returns an error: herb.CodeNotFound if there is
// no such object, herb.CodeUnavailable if the store fails. After a broken connection it resumes
// where the previous one ended.
func (b *Bucket) Get(ctx context.Context, name string, to io.Writer) (err error) {
	if err := checkName(name); err != nil {
		return err
	}
	defer b.observed("get", time.Now(), &err)
	err = b.driver.get(ctx, name, &target{ctx: ctx, w: to})
	mapped := b.orMissing(ctx, err, "read "+name+" in")
	if err != nil && mapped == nil {
		return herb.Errorf(herb.CodeNotFound, "no object %s in the object store %s", name, b.name)
	}
	return mapped
}

// target is the writer of a Get.
type target struct {
	ctx  context.Context
	w    io.Writer
	done int64
}

// Write implements io.Writer.
func (t *target) Write(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := t.w.Write(p)
	t.done += int64(n)
	if err != nil {
		return n, localError{err}
	}
	return n, nil
}

// Put stores a local file under a name, completely or not at all, and replaces an object of that
// name. When it returns nil the store has acknowledged the whole file; a folder has it on disk.
// progress is called with the number of bytes read from the file and its size; nil disables it.
//
// A Put that is canceled while the store completes it may still have taken effect.
func (b *Bucket) Put(ctx context.Context, name, path string, progress func(done, total int64)) (err error) {
	if err := checkName(name); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	src := &source{ctx: ctx, f: f, size: info.Size(), progress: progress}
	defer b.observed("put", time.Now(), &err)
	return b.mapError(ctx, b.driver.put(ctx, name, src, src.size), "write "+name+" to")
}

// source is the file of a Put. It is an error if the file is truncated during the upload.
type source struct {
	ctx      context.Context
	f        *os.File
	size     int64
	progress func(done, total int64)

	mu   sync.Mutex
	done int64 // parts may be read again
}

// ReadAt implements io.ReaderAt.
func (s *source) ReadAt(p []byte, offset int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.f.ReadAt(p, offset)
	end := offset + int64(n)
	if err == io.EOF && end < s.size {
		err = fmt.Errorf("file truncated while reading: %d of %d bytes", end, s.size)
	}
	if err != nil && err != io.EOF {
		return n, localError{err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if end > s.done {
		s.done = end
		s.progress(end, s.size)
	}
	return n, err
}

// Probe writes, reads, lists and deletes a small object of its own.
func (b *Bucket) Probe(ctx context.Context) (err error) {
	name := "probe-" + strings.ToLower(rand.Text())
	content := []byte("written by herbarium doctor; it can be deleted\n")
	put := b.driver.put(ctx, name, bytes.NewReader(content), int64(len(content)))
	if err := b.mapError(ctx, put, "write to"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Delete(context.WithoutCancel(ctx), name)) }()
	var got bytes.Buffer
	if err := b.Get(ctx, name, &got); err != nil {
		return err
	}
	if !bytes.Equal(got.Bytes(), content) {
		return herb.Errorf(herb.CodeUnavailable, "the object store %s returned other content than was written", b.name)
	}
	return b.Ping(ctx)
}
