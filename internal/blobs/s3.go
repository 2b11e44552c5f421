package blobs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/encrypt"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"herbarium/internal/herb"
)

const (
	// requestAttempts is how often the client sends a request that fails with a network error or a status such as 503, within
	// about two seconds. Repeating is always safe: objects never change, and deleting is idempotent.
	requestAttempts = 4

	// defaultRegion is what most S3 servers other than Amazon's expect in signatures.
	defaultRegion = "us-east-1"
)

// s3Store is a driver for the S3 protocol.
type s3Store struct {
	client     *minio.Core
	bucket     string
	prefix     string // empty, or ends in a slash
	encryption encrypt.ServerSide
	transport  *http.Transport
}

func openS3(a address, stall time.Duration) (driver, error) {
	if err := s3utils.CheckValidBucketName(a.bucket); err != nil {
		return nil, herb.Invalidf("invalid bucket name in the object store %s: %v", a, err)
	}
	flags := map[string]bool{}
	for _, name := range []string{
		"accelerate", "anonymous", "disable_https", "dualstack", "fips", "s3ForcePathStyle", "use_path_style",
	} {
		var err error
		if flags[name], err = a.flag(name); err != nil {
			return nil, err
		}
	}
	profile := a.params.Get("profile")
	region := cmp.Or(a.params.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), profileRegion(profile))
	endpoint, err := a.endpoint()
	if err != nil {
		return nil, err
	}
	custom := endpoint != nil
	switch {
	case custom:
		region = cmp.Or(region, defaultRegion)
	case region == "":
		return nil, herb.Invalidf("no region for the object store %s; add ?region=… or set AWS_REGION", a)
	case flags["fips"]:
		endpoint = &url.URL{Scheme: "https", Host: "s3-fips." + region + ".amazonaws.com"}
	default:
		endpoint = &url.URL{Scheme: "https", Host: "s3.amazonaws.com"} // the client derives that of the region
	}
	if flags["disable_https"] && !custom {
		endpoint.Scheme = "http"
	}
	s := &s3Store{bucket: a.bucket, transport: http.DefaultTransport.(*http.Transport).Clone()}
	if a.path != "" {
		s.prefix = a.path + "/"
	}
	if s.encryption, err = a.encryption(); err != nil {
		return nil, err
	}
	s.transport.DisableCompression = true // objects are transferred byte for byte
	lookup := minio.BucketLookupAuto
	if flags["use_path_style"] || flags["s3ForcePathStyle"] {
		lookup = minio.BucketLookupPath
	} else if custom && (a.params.Has("use_path_style") || a.params.Has("s3ForcePathStyle")) {
		lookup = minio.BucketLookupDNS
	}
	s.client, err = minio.NewCore(endpoint.Host, &minio.Options{
		Creds:        newCredentials(profile, region, flags["anonymous"]),
		Secure:       endpoint.Scheme == "https",
		Transport:    &stallTransport{base: s.transport, stall: stall},
		Region:       region,
		BucketLookup: lookup,
		MaxRetries:   requestAttempts,
	})
	if err != nil {
		return nil, herb.Wrap(herb.CodeInvalid, err, "cannot open the object store %s", a)
	}
	s.client.SetS3EnableDualstack(flags["dualstack"])
	if flags["accelerate"] {
		s.client.SetS3TransferAccelerate("s3-accelerate.amazonaws.com")
	}
	return s, nil
}

// endpoint returns the URL of the server, nil for Amazon's own.
func (a address) endpoint() (*url.URL, error) {
	s := cmp.Or(a.params.Get("endpoint"), os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	if s == "" {
		return nil, nil
	}
	e, err := url.Parse(s)
	if err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" || e.User != nil ||
		strings.Trim(e.Path, "/") != "" || e.RawQuery != "" {
		return nil, herb.Invalidf("the endpoint of the object store %s must be like https://host:port, without credentials and path", a)
	}
	return e, nil
}

// encryption returns the server-side encryption of new objects, nil for the default of the bucket.
func (a address) encryption() (encrypt.ServerSide, error) {
	key := a.params.Get("kmskeyid")
	switch kind := a.params.Get("ssetype"); {
	case kind == "" && key == "":
		return nil, nil
	case strings.EqualFold(kind, "AES256") && key == "":
		return encrypt.NewSSE(), nil
	case strings.EqualFold(kind, "aws:kms") && key != "":
		return encrypt.NewSSEKMS(key, nil)
	}
	return nil, herb.Invalidf("the object store %s has invalid encryption parameters; write ssetype=AES256, or ssetype=aws:kms and "+
		"kmskeyid=…", a)
}

func (s *s3Store) close() { s.transport.CloseIdleConnections() }

// ping implements driver.
func (s *s3Store) ping(ctx context.Context) error {
	return s.each(ctx, minio.ListObjectsOptions{Prefix: s.prefix, Recursive: true, MaxKeys: 1}, func(minio.ObjectInfo) bool { return false })
}

// open implements driver.
func (s *s3Store) open(ctx context.Context, name string, offset int64) (io.ReadCloser, properties, error) {
	opts := minio.GetObjectOptions{}
	if offset > 0 {
		if err := opts.SetRange(offset, 0); err != nil {
			return nil, properties{}, err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	body, info, header, err := s.client.GetObject(context.WithValue(ctx, operationKey{}, cancel), s.bucket, s.prefix+name, opts)
	if err == nil && offset > 0 && header.Get("Content-Range") == "" {
		err = errors.Join(errors.New("the store ignores ranges"), body.Close())
	}
	if err != nil {
		err = explain(ctx, err)
		cancel(nil)
		return nil, properties{}, err
	}
	object := properties{size: offset + info.Size, modified: info.LastModified, etag: info.ETag}
	return &canceledBody{ReadCloser: body, cancel: cancel}, object, nil
}

// canceledBody releases the context of its request when it is closed.
type canceledBody struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

func (b *canceledBody) Close() error {
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// size implements driver.
func (s *s3Store) size(ctx context.Context, name string) (size int64, err error) {
	err = withStall(ctx, func(ctx context.Context) error {
		info, err := s.client.StatObject(ctx, s.bucket, s.prefix+name, minio.StatObjectOptions{})
		size = info.Size
		return err
	})
	return size, err
}

// remove implements driver.
func (s *s3Store) remove(ctx context.Context, name string) error {
	return withStall(ctx, func(ctx context.Context) error {
		return s.client.RemoveObject(ctx, s.bucket, s.prefix+name, minio.RemoveObjectOptions{})
	})
}

// list implements driver.
func (s *s3Store) list(ctx context.Context, yield func(herb.Blob) bool) error {
	return s.each(ctx, minio.ListObjectsOptions{Prefix: s.prefix, Recursive: true}, func(o minio.ObjectInfo) bool {
		name := strings.TrimPrefix(o.Key, s.prefix)
		if name == "" || strings.HasSuffix(name, "/") { // what some tools create in place of a folder
			return true
		}
		return yield(herb.Blob{Name: name, Size: o.Size, Modified: o.LastModified})
	})
}

// each calls yield for each object in the bucket until it returns false.
func (s *s3Store) each(ctx context.Context, opts minio.ListObjectsOptions, yield func(minio.ObjectInfo) bool) error {
	return withStall(ctx, func(ctx context.Context) error {
		for o := range s.client.ListObjectsIter(ctx, s.bucket, opts) {
			if o.Err != nil {
				return o.Err
			}
			if !yield(o) {
				return nil
			}
		}
		return ctx.Err()
	})
}
