package app

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"herbarium/internal/access"
	"herbarium/internal/fetch"
	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Config is the configuration of the program. Settings documents its fields.
type Config struct {
	Data           string
	Database       herb.Address
	Blobs          herb.Address
	CacheSize      int64
	Retention      time.Duration
	Addr           string
	AdminAddr      string
	PublicURL      string
	Access         herb.Access
	Catalog        herb.Access
	Plants         string
	MCP            string
	TrustedProxies []netip.Prefix
	FetchHosts     []string
	LogLevel       slog.Level
	LogFormat      string
	MaxInFlight    int
	MaxExpensive   int
	MaxExports     int
	MaxWrites      int
	MaxUpload      int64
	RequestTimeout time.Duration
	Memory         int64
	Paths          []string
	Watch          bool
	Keep           int
	KeepFor        time.Duration
	Drain          time.Duration
	Shutdown       time.Duration
	Token          herb.Secret
	Credentials    herb.Secret       // of hosts that files are fetched from
	Origins        map[string]string // the source of each value, by the key of its setting
}

// The environment variables without an equivalent in the configuration file.
const (
	ConfigEnv = "HERBARIUM_CONFIG"
	TokenEnv  = "HERBARIUM_TOKEN"
	KeyEnv    = "HERBARIUM_KEY" // of commands that use a server
	FetchEnv  = "HERBARIUM_FETCH_CREDENTIALS"
)

// DefaultConfigFile is read if it exists and no other file is named.
const DefaultConfigFile = "herbarium.yaml"

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	c := Config{Origins: map[string]string{}}
	for _, s := range c.Settings() {
		_ = s.set(s.fallback) // defaults are valid
		c.Origins[s.Key] = "default"
	}
	return c
}

// LoadConfig merges the settings: flags, by name, take precedence over the environment, the file
// and the defaults, in this order. file is the path that the user gave; if it is empty, ConfigEnv
// names the file, else DefaultConfigFile is read if it exists. It reports all errors at once.
func LoadConfig(file string, env func(string) (string, bool), flags map[string]string) (Config, error) {
	c := DefaultConfig()
	inEnv, _ := env(ConfigEnv)
	file, values, err := readConfigFile(cmp.Or(file, inEnv))
	errs := []error{err}
	apply := func(s Setting, value, origin string) {
		if err := s.set(value); err != nil {
			errs = append(errs, herb.Invalidf("%s: %s is %q: %v", origin, s.Key, herb.Address(value), err))
		}
		c.Origins[s.Key] = origin
	}
	for _, s := range c.Settings() {
		if v, ok := values[s.Key]; ok {
			apply(s, v, file)
		}
		if v, ok := env(s.Env()); ok && v != "" {
			apply(s, v, s.Env())
		}
		if v, ok := flags[s.Flag()]; ok && s.Flag() != "" {
			apply(s, v, "--"+s.Flag())
		}
	}
	for key := range values {
		if _, ok := c.Origins[key]; !ok {
			known := slices.Sorted(maps.Keys(c.Origins))
			errs = append(errs, herb.Invalidf("%s: unknown key %q%s valid keys: %s", file, key,
				text.Suggestion(key, known), strings.Join(known, ", ")))
		}
	}
	if v, ok := env(TokenEnv); ok {
		c.Token = herb.Secret(v)
		if err := access.CheckToken(v); v != "" && err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", TokenEnv, err))
		}
	}
	if v, ok := env(FetchEnv); ok {
		c.Credentials = herb.Secret(v)
		if _, err := fetch.ParseCredentials(c.Credentials); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", FetchEnv, err))
		}
	}
	if c.Database != "" && c.Blobs == "" {
		errs = append(errs, herb.Invalidf("nodes that share a database (%s) must share the published files as well; "+
			"set --blobs, for example to s3://bucket or file:///a/shared/folder", c.Origins["database"]))
	}
	return c, errors.Join(errs...)
}

// CheckEnv rejects variables that begin like those of settings and are none. environ has the form
// of os.Environ.
func CheckEnv(environ []string) error {
	const prefix = "HERBARIUM_"
	c := DefaultConfig()
	// without the prefix, which would make all names similar
	known := []string{ConfigEnv[len(prefix):], TokenEnv[len(prefix):], KeyEnv[len(prefix):],
		FetchEnv[len(prefix):]}
	for _, s := range c.Settings() {
		known = append(known, s.Env()[len(prefix):])
	}
	slices.Sort(known)
	var errs []error
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		name, ok := strings.CutPrefix(name, prefix)
		if !ok || slices.Contains(known, name) || isForeign(name, value) {
			continue
		}
		hint := "; valid variables: " + prefix + strings.Join(known, ", "+prefix)
		if closest, ok := text.Closest(name, known); ok {
			hint = "; did you mean " + prefix + closest + "?"
		}
		errs = append(errs, herb.Invalidf("unknown environment variable %s%s%s", prefix, name, hint))
	}
	return errors.Join(errs...)
}

// isForeign reports whether a variable, without its prefix, is one of other programs: of tests, of
// the shell completion, of scripts that call the API as the documentation shows, or of Kubernetes,
// which adds some for a service called herbarium.
func isForeign(name, value string) bool {
	switch name {
	case "URL", "ACTIVE_HELP", "COMPLETION_DESCRIPTIONS":
		return true
	case "PORT":
		return strings.Contains(value, "://")
	}
	return slices.ContainsFunc([]string{"TEST_", "BENCH_", "SERVICE_", "PORT_"},
		func(p string) bool { return strings.HasPrefix(name, p) })
}

// readConfigFile returns the path of the file that was read, if any, and its values by dotted key.
func readConfigFile(given string) (name string, values map[string]string, err error) {
	name = cmp.Or(given, DefaultConfigFile)
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && given == "" {
		return "", nil, nil
	}
	if err != nil {
		return name, nil, herb.Wrap(herb.CodeInvalid, err, "cannot read the configuration file")
	}
	var tree map[string]any
	if err := yaml.Unmarshal(content, &tree); err != nil {
		return name, nil, herb.Wrap(herb.CodeInvalid, err, "%s is not a configuration file", name)
	}
	values = map[string]string{}
	flatten(tree, "", values)
	return name, values, nil
}

// flatten converts nested maps to dotted keys. A key without a value has an empty one; the elements
// of a list are separated by lines, which splitList recognizes.
func flatten(tree map[string]any, prefix string, into map[string]string) {
	for k, v := range tree {
		switch v := v.(type) {
		case map[string]any:
			flatten(v, prefix+k+".", into)
		case []any:
			items := make([]string, len(v))
			for i := range v {
				items[i] = fmt.Sprint(v[i])
			}
			into[prefix+k] = strings.Join(items, "\n")
		case nil:
			into[prefix+k] = ""
		default:
			into[prefix+k] = fmt.Sprint(v)
		}
	}
}

// YAML formats the configuration as a configuration file, with the source of each value as a
// comment.
func (c Config) YAML() string {
	var b strings.Builder
	group := ""
	for _, s := range c.Settings() {
		key := s.Key
		if g, k, ok := strings.Cut(key, "."); ok {
			if g != group {
				fmt.Fprintf(&b, "%s:\n", g)
			}
			group, key = g, "  "+k
		}
		fmt.Fprintf(&b, "%-40s # %s\n", key+": "+scalar(s.Value()), c.Origins[s.Key])
	}
	fmt.Fprintf(&b, "# token: %s, from the environment variable %s alone\n", c.Token, TokenEnv)
	fmt.Fprintf(&b, "# credentials of fetch_hosts: %s, from the environment variable %s alone\n", c.Credentials,
		FetchEnv)
	return b.String()
}

// scalar formats a value as YAML, numbers without quotes.
func scalar(s string) string {
	if _, err := strconv.Atoi(s); err == nil {
		return s
	}
	b, _ := yaml.Marshal(s) // a string can always be encoded
	return strings.TrimSpace(string(b))
}
