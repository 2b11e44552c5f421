package blobs

import (
	"context"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"

	"herbarium/internal/herb"
)

// DefaultStall is how long a store may say nothing.
const DefaultStall = 30 * time.Second

// Options are the options of a Bucket.
type Options struct {
	// Stall is for how long a request may go without a byte in either direction; zero means DefaultStall. There is no
	// limit to how long one may take that gets on.
	Stall time.Duration
}

// Bucket is a place in an object store.
type Bucket struct {
	bucket    *blob.Bucket
	name      string // for people
	folder    string // of a file address
	s3        *s3.Client
	s3Bucket  string
	prefix    string
	transport *http.Transport
}

// address is a checked address.
type address struct {
	scheme string
	bucket string
	path   string // without slashes around it
	params url.Values
}

// String returns the address without its parameters.
func (a address) String() string {
	if a.scheme == fileScheme {
		return a.scheme + ":///" + a.path
	}
	if a.path == "" {
		return a.scheme + "://" + a.bucket
	}
	return a.scheme + "://" + a.bucket + "/" + a.path
}

const (
	s3Scheme    = "s3"
	gcsScheme   = "gs"
	azureScheme = "azblob"
	fileScheme  = "file"

	forms = "s3://bucket/prefix, gs://bucket/prefix, azblob://container/prefix or file:///folder"
)

// parameters returns what may follow the question mark in an address, nil if there is no such scheme.
func parameters(scheme string) []string {
	switch scheme {
	case s3Scheme:
		return []string{
			"accelerate", "anonymous", "disable_https", "dualstack", "endpoint", "fips", "hostname_immutable", "kmskeyid",
			"profile", "rate_limiter_capacity", "region", "request_checksum_calculation", "response_checksum_validation",
			"role", "s3ForcePathStyle", "ssetype", "use_path_style",
		}
	case gcsScheme:
		return []string{"anonymous", "endpoint"}
	case azureScheme:
		return []string{"cdn", "domain", "localemu", "protocol", "storage_account"}
	case fileScheme:
		return []string{"create_dir"}
	}
	return nil
}

// Open opens the object store at an address. It asks the store for nothing: one that is away now may be back later.
// Ping tells whether it is there.
func Open(ctx context.Context, at string, opts Options) (*Bucket, error) {
	a, err := parse(at)
	if err != nil {
		return nil, err
	}
	if opts.Stall == 0 {
		opts.Stall = DefaultStall
	}
	b := &Bucket{name: a.String(), transport: http.DefaultTransport.(*http.Transport).Clone()}
	guarded := &stallTransport{base: b.transport, stall: opts.Stall}
	switch a.scheme {
	case s3Scheme:
		err = b.openS3(ctx, a, guarded)
	case gcsScheme:
		err = b.openGCS(ctx, a, guarded)
	case azureScheme:
		err = b.openAzure(ctx, a, guarded)
	case fileScheme:
		err = b.openFolder(a)
	}
	if err != nil {
		return nil, err
	}
	if a.scheme != fileScheme && a.path != "" {
		b.prefix = a.path + "/"
		b.bucket = blob.PrefixedBucket(b.bucket, b.prefix)
	}
	return b, nil
}

// Check reports what is wrong with an address, as far as that can be told without using it.
func Check(at string) error {
	_, err := parse(at)
	return err
}

// parse checks an address. It may hold a secret that somebody has put where it does not belong, so the errors show no more
// of it than they must, and never what the parsers say.
func parse(at string) (address, error) {
	u, err := url.Parse(at)
	if err != nil {
		return address{}, herb.Invalidf("the address of the object store cannot be read; write %s", forms)
	}
	allowed := parameters(u.Scheme)
	switch {
	case u.Scheme == "":
		return address{}, herb.Invalidf("the address of the object store has no scheme; write %s", forms)
	case allowed == nil:
		return address{}, herb.Invalidf("there is no object store %q; write %s", u.Scheme+"://", forms)
	case u.User != nil:
		return address{}, herb.Invalidf("the address of the object store has a user or a password; credentials do not belong " +
			"there, they come from the environment (for S3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)")
	case u.Fragment != "":
		return address{}, herb.Invalidf("the address of the object store has a fragment (#…); write %s", forms)
	case u.Scheme == fileScheme && (u.Host != "" || u.Path == ""):
		return address{}, herb.Invalidf("the address of the object store needs a folder from the root: file:///folder")
	case u.Scheme != fileScheme && u.Host == "":
		return address{}, herb.Invalidf("the address of the object store names no bucket; write %s", forms)
	}
	a := address{scheme: u.Scheme, bucket: u.Host, path: strings.Trim(u.Path, "/")}
	if a.path != "" && !fs.ValidPath(a.path) {
		return address{}, herb.Invalidf("the path of the object store has an empty step, . or ..; write %s", forms)
	}
	if a.params, err = url.ParseQuery(u.RawQuery); err != nil {
		return address{}, herb.Invalidf("the parameters of the object store %s cannot be read; write ?name=value&name=value", a)
	}
	for name, values := range a.params {
		if !slices.Contains(allowed, name) {
			return address{}, herb.Invalidf("the object store %s has no parameter %q; there are %s", a, name,
				strings.Join(allowed, ", "))
		}
		if len(values) > 1 {
			return address{}, herb.Invalidf("the parameter %q of the object store %s is given twice; give it once", name, a)
		}
	}
	return a, nil
}

// url returns the address as the drivers want it, with the parameters that are left for them.
func (a address) url() *url.URL {
	return &url.URL{Scheme: a.scheme, Host: a.bucket, RawQuery: a.params.Encode()}
}

// Close lets go of the connections. The Bucket must not be used afterwards.
func (b *Bucket) Close() error {
	defer b.transport.CloseIdleConnections()
	return b.bucket.Close()
}
