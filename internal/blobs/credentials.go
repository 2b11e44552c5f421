package blobs

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// metadataTimeout bounds a request to a credential service. The instance metadata service of a machine that is not in a
// cloud does not answer at all.
const metadataTimeout = 2 * time.Second

// newCredentials returns credentials that are retrieved when the first request is signed, and again when they expire.
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

// metadataEnabled reports whether to ask a credential service. AWS_EC2_METADATA_DISABLED turns off the one of EC2 only.
func metadataEnabled() bool {
	others := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") + os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") +
		os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	disabled, err := strconv.ParseBool(os.Getenv("AWS_EC2_METADATA_DISABLED"))
	return err != nil || !disabled || others != ""
}

// noCredentials is the error if no provider has credentials.
type noCredentials string

func (n noCredentials) Error() string { return string(n) }

// credentialChain asks several providers in turn. credentials.Chain would send unsigned requests when none has credentials,
// which stores answer with a misleading "access denied".
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

// profileRegion returns the region of a profile in the shared configuration files, empty if there is none.
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
