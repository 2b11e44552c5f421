package blobs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
	"gocloud.dev/blob/azureblob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/blob/s3blob"
	"gocloud.dev/gcp"
	"golang.org/x/oauth2"
	"google.golang.org/api/option"

	"herbarium/internal/herb"
)

// openS3 opens a bucket of S3. Gocloud reads the parameters; the client it makes of them is replaced by one that does not
// wait for ever and writes nothing to the standard error.
func (b *Bucket) openS3(ctx context.Context, a address, guarded http.RoundTripper) error {
	endpoint, err := a.endpoint()
	if err != nil {
		return err
	}
	opener := &s3blob.URLOpener{}
	plain, err := opener.OpenBucketURL(ctx, a.url())
	if err != nil {
		return herb.Invalidf("the object store %s cannot be opened: %v", a, plainly(err, a.url()))
	}
	var client *s3.Client
	if !plain.As(&client) {
		return errors.New("gocloud has no S3 client")
	}
	b.s3 = s3.New(client.Options(), func(o *s3.Options) {
		o.HTTPClient = &http.Client{
			Transport:     guarded,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		o.Logger = logging.Nop{}
		o.Retryer = impatient{o.Retryer}
		custom := endpoint != nil || o.BaseEndpoint != nil
		if custom && !a.params.Has("use_path_style") && !a.params.Has("s3ForcePathStyle") {
			o.UsePathStyle = true // servers other than Amazon's seldom have a host name for each bucket
		}
		if custom && o.Region == "" {
			o.Region = "us-east-1" // what they take if they are told nothing
		}
	})
	if b.s3.Options().Region == "" {
		return herb.Invalidf("the region of the object store %s is not known; add ?region=… or set AWS_REGION", a)
	}
	b.s3Bucket = a.bucket
	b.bucket, err = s3blob.OpenBucket(ctx, b.s3, a.bucket, &opener.Options)
	return err
}

// endpoint returns where the store is if the address says so, nil if it is where it is for all.
func (a address) endpoint() (*url.URL, error) {
	s := a.params.Get("endpoint")
	if s == "" {
		return nil, nil
	}
	e, err := url.Parse(s)
	if err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" || e.User != nil {
		return nil, herb.Invalidf("the endpoint of the object store %s must be like https://host:port, without credentials", a)
	}
	return e, nil
}

// impatient does not wait once more for a store that has said nothing. Amazon's client takes that for a connection that
// was lost.
type impatient struct{ aws.Retryer }

func (i impatient) IsErrorRetryable(err error) bool {
	_, silent := errors.AsType[stalled](err)
	return !silent && i.Retryer.IsErrorRetryable(err)
}

// maxAttempts is how often Google's client tries; it would never give up. It may try anything again: objects do not change
// once they are there, and it is no error to delete what is not.
const maxAttempts = 4

func (b *Bucket) openGCS(ctx context.Context, a address, guarded http.RoundTripper) error {
	anonymous := os.Getenv("STORAGE_EMULATOR_HOST") != ""
	if s := a.params.Get("anonymous"); s != "" {
		var err error
		if anonymous, err = strconv.ParseBool(s); err != nil {
			return herb.Invalidf("the parameter anonymous of the object store %s must be true or false", a)
		}
	}
	endpoint, err := a.endpoint()
	if err != nil {
		return err
	}
	if endpoint != nil && (strings.Trim(endpoint.Path, "/") != "" || endpoint.RawQuery != "") {
		return herb.Invalidf("the endpoint of the object store %s must be like https://host:port, without a path", a)
	}
	client := gcp.NewAnonymousHTTPClient(guarded)
	if !anonymous {
		// Tokens are fetched for as long as the bucket is open.
		ctx := context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, &http.Client{Transport: guarded})
		credentials, err := gcp.DefaultCredentials(ctx)
		if err != nil {
			return herb.Wrap(herb.CodeInvalid, err,
				"there are no credentials for the object store %s; set GOOGLE_APPLICATION_CREDENTIALS to the file that has them", a)
		}
		if client, err = gcp.NewHTTPClient(guarded, gcp.CredentialsTokenSource(credentials)); err != nil {
			return err
		}
	}
	options := []option.ClientOption{option.WithHTTPClient(&client.Client)}
	if endpoint != nil {
		options = append(options, option.WithEndpoint(endpoint.JoinPath("storage/v1/").String()))
	}
	// Gocloud would make a client of its own for an emulator.
	c, err := storage.NewClient(ctx, options...)
	if err != nil {
		return herb.Wrap(herb.CodeInvalid, err, "the object store %s cannot be opened", a)
	}
	c.SetRetry(storage.WithMaxAttempts(maxAttempts), storage.WithPolicy(storage.RetryAlways))
	b.bucket, err = gcsblob.OpenBucket(ctx, nil, a.bucket, &gcsblob.Options{Client: c})
	return err
}

func (b *Bucket) openAzure(ctx context.Context, a address, guarded http.RoundTripper) error {
	account := cmp.Or(a.params.Get("storage_account"), os.Getenv("AZURE_STORAGE_ACCOUNT"))
	opener := &azureblob.URLOpener{
		ServiceURLOptions: *azureblob.NewDefaultServiceURLOptions(),
		MakeClient: func(service azureblob.ServiceURL, name azureblob.ContainerName) (*container.Client, error) {
			return azureClient(string(service), string(name), account, guarded)
		},
	}
	if opener.ServiceURLOptions.AccountName == "" && !a.params.Has("storage_account") {
		return herb.Invalidf("the storage account of the object store %s is not known; add ?storage_account=… or set "+
			"AZURE_STORAGE_ACCOUNT", a)
	}
	var err error
	if b.bucket, err = opener.OpenBucketURL(ctx, a.url()); err != nil {
		// The cause may show a connection string.
		return herb.Invalidf("the object store %s cannot be opened; check its parameters (domain=host, protocol=http or https, "+
			"cdn and localemu true or false) and the credentials in AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or "+
			"AZURE_STORAGE_CONNECTION_STRING", a)
	}
	return nil
}

// azureClient makes a client with the credentials that are in the environment, as gocloud does, which cannot be given a
// transport.
func azureClient(service, name, account string, guarded http.RoundTripper) (*container.Client, error) {
	common := azcore.ClientOptions{
		Transport: transporter{guarded},
		// Three more tries within about three seconds, like the clients of the others; by itself it would take three times that.
		Retry: policy.RetryOptions{RetryDelay: 300 * time.Millisecond},
	}
	opts := &container.ClientOptions{ClientOptions: common}
	at, err := url.JoinPath(service, name)
	if err != nil {
		return nil, err
	}
	key, connection := os.Getenv("AZURE_STORAGE_KEY"), os.Getenv("AZURE_STORAGE_CONNECTION_STRING")
	switch {
	case account != "" && key != "":
		shared, err := container.NewSharedKeyCredential(account, key)
		if err != nil {
			return nil, err
		}
		return container.NewClientWithSharedKeyCredential(at, shared, opts)
	case os.Getenv("AZURE_STORAGE_SAS_TOKEN") != "": // the address of the service has it already
		return container.NewClientWithNoCredential(at, opts)
	case connection != "":
		return container.NewClientFromConnectionString(connection, name, opts)
	}
	identity, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: common})
	if err != nil {
		return nil, err
	}
	return container.NewClient(at, identity, opts)
}

// transporter is a transport as Azure wants it. An http.Client would put the address into its errors, which may hold a
// signature.
type transporter struct{ http.RoundTripper }

func (t transporter) Do(r *http.Request) (*http.Response, error) { return t.RoundTrip(r) }

func (b *Bucket) openFolder(a address) error {
	folder := filepath.FromSlash("/" + a.path)
	create := false
	if s := a.params.Get("create_dir"); s != "" {
		var err error
		if create, err = strconv.ParseBool(s); err != nil {
			return herb.Invalidf("the parameter create_dir of the object store %s must be true or false", a)
		}
	}
	if create {
		err := os.Mkdir(folder, folderMode)
		if err == nil {
			err = syncFolder(filepath.Dir(folder))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return herb.Wrap(herb.CodeInvalid, err, "the folder of the object store %s cannot be created", a)
		}
	}
	info, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return herb.Invalidf("the folder of the object store %s does not exist; create it, or add ?create_dir=true", a)
	}
	if err != nil {
		return herb.Wrap(herb.CodeInvalid, err, "the folder of the object store %s cannot be read", a)
	}
	if !info.IsDir() {
		return herb.Invalidf("the object store %s is not a folder; name one", a)
	}
	b.folder = folder
	b.bucket, err = fileblob.OpenBucket(folder, &fileblob.Options{
		DirFileMode: folderMode,
		NoTempDir:   true, // beside what it becomes, or the last step would not be a rename
		Metadata:    fileblob.MetadataDontWrite,
	})
	return err
}

// plainly returns what is wrong, without the address that gocloud may put before it.
func plainly(err error, at *url.URL) string {
	return strings.TrimPrefix(err.Error(), "open bucket "+at.String()+": ")
}
