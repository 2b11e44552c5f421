package blobs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"gopkg.in/ini.v1"

	"herbarium/internal/herb"
)

const (
	// requestAttempts is how often the client sends a request that fails with a network error or a
	// status such as 503, within about two seconds. Repeating is always safe: objects never change,
	// and deleting is idempotent.
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

func openS3(a address, opts Options) (driver, error) {
	if err := s3utils.CheckValidBucketName(a.bucket); err != nil {
		return nil, herb.Invalidf("invalid bucket name in the object store %s: %v", a, err)
	}
	profile := a.params.Get("profile")
	region := cmp.Or(a.params.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"),
		profileRegion(profile))
	endpoint, err := a.endpoint()
	if err != nil {
		return nil, err
	}
	custom := endpoint != nil
	if !custom {
		if region == "" {
			return nil, herb.Invalidf("no region for the object store %s; add ?region=… or set AWS_REGION", a)
		}
		endpoint = &url.URL{Scheme: "https", Host: "s3.amazonaws.com"} // the client derives that of the region
		if a.flags["fips"] {
			endpoint.Host = "s3-fips." + region + ".amazonaws.com"
		}
		if a.flags["disable_https"] {
			endpoint.Scheme = "http"
		}
	}
	s := &s3Store{bucket: a.bucket, transport: newTransport(opts.Stall)}
	if a.path != "" {
		s.prefix = a.path + "/"
	}
	s.encryption, err = a.encryption()
	if err != nil {
		return nil, err
	}
	lookup := minio.BucketLookupAuto
	if a.flags["use_path_style"] {
		lookup = minio.BucketLookupPath
	} else if custom && a.params.Has("use_path_style") {
		lookup = minio.BucketLookupDNS
	}
	region = cmp.Or(region, defaultRegion)
	s.client, err = minio.NewCore(endpoint.Host, &minio.Options{
		Creds:        newCredentials(profile, region, a.flags["anonymous"]),
		Secure:       endpoint.Scheme == "https",
		Transport:    &freshTransport{s.transport, opts.Answer},
		Region:       region,
		BucketLookup: lookup,
		MaxRetries:   requestAttempts,
	})
	if err != nil {
		return nil, herb.Wrap(herb.CodeInvalid, err, "cannot open the object store %s", a)
	}
	s.client.SetS3EnableDualstack(a.flags["dualstack"])
	if a.flags["accelerate"] {
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
		return nil, herb.Invalidf(
			"the endpoint of the object store %s must be like https://host:port, without credentials and path", a)
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
	return nil, herb.Invalidf(
		"the object store %s has invalid encryption parameters; write ssetype=AES256, or ssetype=aws:kms and "+
			"kmskeyid=…", a)
}

func (s *s3Store) close() { s.transport.CloseIdleConnections() }

func (s *s3Store) ping(ctx context.Context) error {
	return s.listObjects(ctx, minio.ListObjectsOptions{Prefix: s.prefix, MaxKeys: 1},
		func(minio.ObjectInfo) bool { return false })
}

// get implements driver. Each request that follows a broken connection continues where the previous
// one ended.
func (s *s3Store) get(ctx context.Context, name string, to *target) error {
	var object minio.ObjectInfo // must stay the same across requests
	for {
		start, opts := to.done, minio.GetObjectOptions{}
		if start > 0 {
			if err := opts.SetRange(start, 0); err != nil {
				return err
			}
		}
		body, info, _, err := s.client.GetObject(ctx, s.bucket, s.prefix+name, opts)
		if err != nil {
			return err
		}
		if start == 0 {
			object = info
		}
		if info.ETag != object.ETag || start+info.Size != object.Size {
			_ = body.Close() // the other error is more important
			return errors.New("the object was replaced while it was read; try again")
		}
		_, err = io.Copy(to, body)
		_ = body.Close() // a complete response was read, or err is set
		if _, local := errors.AsType[localError](err); err == nil || local || to.done == start || ctx.Err() != nil {
			return err
		}
	}
}

func (s *s3Store) remove(ctx context.Context, name string) error {
	return s.client.RemoveObject(ctx, s.bucket, s.prefix+name, minio.RemoveObjectOptions{})
}

func (s *s3Store) list(ctx context.Context, prefix string, yield func(herb.Blob) bool) error {
	return s.listObjects(ctx, minio.ListObjectsOptions{Prefix: s.prefix + prefix}, func(o minio.ObjectInfo) bool {
		name := strings.TrimPrefix(o.Key, s.prefix)
		if name == "" || strings.HasSuffix(name, "/") { // objects with longer prefixes
			return true
		}
		return yield(herb.Blob{Name: name, Size: o.Size, Modified: o.LastModified})
	})
}

// listObjects calls yield for each object in the bucket until it returns false.
func (s *s3Store) listObjects(ctx context.Context, opts minio.ListObjectsOptions,
	yield func(minio.ObjectInfo) bool) error {
	for o := range s.client.ListObjectsIter(ctx, s.bucket, opts) {
		if o.Err != nil {
			return o.Err
		}
		if !yield(o) {
			return nil
		}
	}
	return ctx.Err()
}

const (
	// partSize is how much of a file one request transfers, and parallelParts how many requests run
	// at once. Together they bound the memory of a Put.
	partSize      = 8 << 20
	parallelParts = 3
	// maxParts is less than the number of parts that stores accept (10,000).
	maxParts = 9000
)

// put implements driver. Files of more than one part are stored with a multipart upload, which the
// client aborts if it fails.
func (s *s3Store) put(ctx context.Context, name string, src io.ReaderAt, size int64) error {
	// Requests with a body are not repeated by freshTransport, so they do not begin on connections
	// that may be dead.
	s.transport.CloseIdleConnections()
	// The client repeats requests and sends files of any size to Google in constant memory only if
	// it can seek.
	body := io.NewSectionReader(src, 0, size)
	_, err := s.client.Client.PutObject(ctx, s.bucket, s.prefix+name, body, size, minio.PutObjectOptions{
		ServerSideEncryption: s.encryption,
		// Every S3 server verifies MD5, unlike the CRC headers of newer clients and signatures of
		// single chunks.
		SendContentMd5:        true,
		DisableContentSha256:  true,
		PartSize:              max(partSize, uint64(size)/maxParts+1),
		NumThreads:            parallelParts,
		ConcurrentStreamParts: true,
	})
	return err
}

func (s *s3Store) abort(ctx context.Context, before time.Time) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listing
	for u := range s.client.ListIncompleteUploads(ctx, s.bucket, s.prefix, true) {
		if u.Err != nil {
			return u.Err
		}
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
	return ctx.Err()
}

// metadataTimeout bounds a request to a credential service. The instance metadata service of a
// machine that is not in a cloud does not answer at all.
const metadataTimeout = 2 * time.Second

// newCredentials returns credentials that are retrieved when the first request is signed, and again
// when they expire.
func newCredentials(profile, region string, anonymous bool) *credentials.Credentials {
	if anonymous {
		return credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	}
	file := &credentials.FileAWSCredentials{Profile: profile}
	if profile != "" {
		return credentials.New(&credentialChain{providers: []credentials.Provider{file}})
	}
	providers := []credentials.Provider{&credentials.EnvAWS{}, file}
	if metadataEnabled() {
		providers = append(providers, &credentials.IAM{Region: region, Client: &http.Client{Timeout: metadataTimeout}})
	}
	return credentials.New(&credentialChain{providers: providers})
}

// metadataEnabled reports whether to ask a credential service. AWS_EC2_METADATA_DISABLED turns off
// the one of EC2 only.
func metadataEnabled() bool {
	others := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") + os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") +
		os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	disabled, err := strconv.ParseBool(os.Getenv("AWS_EC2_METADATA_DISABLED"))
	return err != nil || !disabled || others != ""
}

// noCredentials is the error if no provider has credentials.
type noCredentials string

func (n noCredentials) Error() string { return string(n) }

// credentialChain queries several providers in turn. credentials.Chain would send unsigned requests
// when none has credentials, which stores answer with a misleading "access denied".
type credentialChain struct {
	providers []credentials.Provider
	current   credentials.Provider
}

// Retrieve implements credentials.Provider.
func (c *credentialChain) Retrieve() (credentials.Value, error) {
	return c.RetrieveWithCredContext(nil)
}

// RetrieveWithCredContext implements credentials.Provider.
func (c *credentialChain) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	missing := noCredentials("no credentials in the environment, the shared files and the credential service")
	for _, p := range c.providers {
		v, err := p.RetrieveWithCredContext(cc)
		if err == nil && v.AccessKeyID != "" && v.SecretAccessKey != "" {
			c.current = p
			return v, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			missing += "; " + noCredentials(err.Error())
		}
	}
	return credentials.Value{}, missing
}

// IsExpired implements credentials.Provider.
func (c *credentialChain) IsExpired() bool { return c.current == nil || c.current.IsExpired() }

// profileRegion returns the region of a profile in the shared configuration files, empty if there
// is none.
func profileRegion(profile string) string {
	profile = cmp.Or(profile, os.Getenv("AWS_PROFILE"), "default")
	path := os.Getenv("AWS_CONFIG_FILE")
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		path = filepath.Join(home, ".aws", "config")
	}
	file, err := ini.Load(path)
	if err != nil {
		return "" // there need not be one
	}
	for _, name := range []string{"profile " + profile, profile} {
		if s, err := file.GetSection(name); err == nil && s.HasKey("region") {
			return s.Key("region").String()
		}
	}
	return ""
}
