package blobs

import (
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

const (
	s3Scheme   = "s3"
	fileScheme = "file"

	forms = "s3://bucket/prefix or file:///folder"
)

// address is a checked address.
type address struct {
	scheme string
	bucket string
	path   string // without leading and trailing slashes
	params url.Values
	flags  map[string]bool // those of params that are true
}

// String returns the address without its parameters.
func (a address) String() string {
	return strings.TrimSuffix(a.scheme+"://"+a.bucket+"/"+a.path, "/")
}

// parameters are the valid query parameters of each scheme: those that are true or false, and
// others.
var parameters = map[string]struct{ flags, others []string }{
	s3Scheme: {
		[]string{"accelerate", "anonymous", "disable_https", "dualstack", "fips", "use_path_style"},
		[]string{"endpoint", "kmskeyid", "profile", "region", "ssetype"},
	},
	fileScheme: {flags: []string{"create_dir"}},
}

// Check reports what is wrong with an address, as far as that is known without opening it.
func Check(at string) error {
	_, err := parse(at)
	return err
}

// parse checks an address. A user may have put a secret in the wrong place, so errors quote as
// little of it as possible and never include the errors of the parsers.
func parse(at string) (address, error) {
	u, err := url.Parse(at)
	if err != nil {
		return address{}, herb.Invalidf("invalid address of the object store; write %s", forms)
	}
	valid, known := parameters[u.Scheme]
	for _, check := range []struct {
		failed  bool
		message string
	}{
		{u.Scheme == "", "the address of the object store has no scheme; write " + forms},
		{u.Scheme == "gs", "gs:// is not supported; use the S3-compatible API of Google Cloud Storage with an HMAC key: " +
			"s3://bucket/prefix?endpoint=https://storage.googleapis.com"},
		{u.Scheme == "azblob", "azblob:// is not supported; Azure Blob Storage does not speak the S3 protocol, run " +
			"an S3 gateway in " +
			"front of it: s3://bucket/prefix?endpoint=https://gateway.example.org"},
		{!known, "unknown object store " + strconv.Quote(u.Scheme+"://") + "; write " + forms},
		{u.User != nil, "the address of the object store contains credentials; remove them and set AWS_ACCESS_KEY_ID and " +
			"AWS_SECRET_ACCESS_KEY in the environment"},
		{u.Fragment != "", "the address of the object store has a fragment (#…); write " + forms},
		{u.Scheme == fileScheme && (u.Host != "" || u.Path == ""),
			"the address of the object store needs an absolute path: file:///folder"},
		{u.Scheme != fileScheme && u.Host == "", "the address of the object store has no bucket; write " + forms},
	} {
		if check.failed {
			return address{}, herb.Invalidf("%s", check.message)
		}
	}
	a := address{scheme: u.Scheme, bucket: u.Host, path: strings.Trim(u.Path, "/"), flags: map[string]bool{}}
	if a.path != "" && !fs.ValidPath(a.path) {
		return address{}, herb.Invalidf("the path of the object store has an empty element, . or ..; write %s", forms)
	}
	a.params, err = url.ParseQuery(u.RawQuery)
	if err != nil {
		return address{}, herb.Invalidf("invalid parameters of the object store %s; write ?name=value&name=value", a)
	}
	for name, values := range a.params {
		isFlag := slices.Contains(valid.flags, name)
		if isFlag && values[0] != "" {
			a.flags[name], err = strconv.ParseBool(values[0])
		}
		switch {
		case !isFlag && !slices.Contains(valid.others, name):
			return address{}, herb.Invalidf("unknown parameter %q of the object store %s; valid parameters: %s", name,
				a,
				strings.Join(slices.Concat(valid.flags, valid.others), ", "))
		case len(values) > 1:
			return address{}, herb.Invalidf("parameter %q of the object store %s is given twice; give it once", name, a)
		case err != nil:
			return address{}, herb.Invalidf("parameter %q of the object store %s must be true or false", name, a)
		}
	}
	return a, nil
}
