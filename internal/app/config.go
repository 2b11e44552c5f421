package app

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"herbarium/internal/access"
	"herbarium/internal/blobs"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/library"
	"herbarium/internal/telemetry"
	"herbarium/internal/text"
)

// Config is the configuration of the program.
type Config struct {
	Data           string
	Database       herb.Address
	Blobs          herb.Address
	CacheSize      int64
	Retention      time.Duration
	Addr           string
	AdminAddr      string
	PublicURL      string
	LogLevel       slog.Level
	LogFormat      string
	MaxInFlight    int
	MaxExpensive   int
	MaxExports     int
	MaxWrites      int
	RequestTimeout time.Duration
	Memory         int64
	Keep           int
	Drain          time.Duration
	Shutdown       time.Duration
	Token          Secret
}

// Secret is a string that is redacted when it is printed or logged.
type Secret string

// String returns whether the secret is set.
func (s Secret) String() string {
	if s == "" {
		return "(none)"
	}
	return "(hidden)"
}

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// The environment variables without an equivalent in the configuration file.
const (
	ConfigEnv = "HERBARIUM_CONFIG"
	TokenEnv  = "HERBARIUM_TOKEN"
)

// DefaultConfigFile is read if it exists and no other file is named.
const DefaultConfigFile = "herbarium.yaml"

// Setting is one setting of a Config, with the same name in all sources.
type Setting struct {
	Key   string // in the file; the flag is the same with '-' for '.' and '_'
	Usage string
	value
}

// value reads and writes one setting.
type value struct {
	get func() string
	set func(string) error
}

// Value returns the value of the setting.
func (s Setting) Value() string { return s.get() }

// Flag returns the name of the flag of the setting.
func (s Setting) Flag() string { return strings.NewReplacer(".", "-", "_", "-").Replace(s.Key) }

// Env returns the name of the environment variable of the setting.
func (s Setting) Env() string {
	return "HERBARIUM_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// Settings returns all settings that can be set in the file, the environment and by flags.
func (c *Config) Settings() []Setting {
	return []Setting{
		{"data", "`folder` that holds plants, keys and published datasets", stringValue(&c.Data, notEmpty)},
		{"database", "`URL` of a PostgreSQL database that all nodes share; empty: SQLite in the data folder",
			stringValue(&c.Database, optional(databaseAddress))},
		{"blobs", "`URL` of the object store for published files: s3:// or file://; empty: the data folder",
			stringValue(&c.Blobs, optional(blobs.Check))},
		{"cache_size", "`size` that files fetched from the object store may take in the data folder, such as 20GiB; 0: any",
			sizeValue(&c.CacheSize, 0)},
		{"retention", "`time` that unreferenced files are kept in the object store", durationValue(&c.Retention, minRetention)},
		{"addr", "`host:port` to listen on", stringValue(&c.Addr, hostPort)},
		{"admin_addr", "private `host:port` for metrics and profiles; empty disables it", stringValue(&c.AdminAddr, optional(hostPort))},
		{"public_url", "external `URL` of the server, such as https://example.org/data; empty: taken from each request",
			stringValue(&c.PublicURL, optional(publicURL))},
		{"log.level", "minimum log `level`: debug, info, warn or error", levelValue(&c.LogLevel)},
		{"log.format", "`format` of the log: human, json, or auto (human on a terminal)", stringValue(&c.LogFormat, logFormat)},
		{"max_in_flight", "maximum `number` of concurrent cheap requests; others get 503", intValue(&c.MaxInFlight, 1)},
		{"max_expensive", "maximum `number` of concurrent expensive queries; 0: number of CPUs minus 1", intValue(&c.MaxExpensive, 0)},
		{"max_exports", "maximum `number` of concurrent exports; 0: 32 per CPU, fewer if memory is short", intValue(&c.MaxExports, 0)},
		{"max_writes", "maximum `number` of concurrent writes; 0: 256", intValue(&c.MaxWrites, 0)},
		{"request_timeout", "`time` limit of a request; an export must have started by then", durationValue(&c.RequestTimeout, 1)},
		{"memory", "soft memory limit as a `size`, such as 2GiB; 0: half of the memory of the machine", sizeValue(&c.Memory, minMemory)},
		{"keep", "`number` of versions to keep of each dataset, including the live one", intValue(&c.Keep, 1)},
		{"drain", "`time` that a stopping server reports not ready before it stops accepting requests", durationValue(&c.Drain, 0)},
		{"shutdown", "`time` limit for accepted requests to finish when the server stops", durationValue(&c.Shutdown, 1)},
	}
}

// minRetention gives nodes time to fetch a version they have just seen, and to notice a newer one.
const minRetention = 10 * time.Minute

// minMemory is the minimum for a usable server.
const minMemory = 64 << 20

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	return Config{
		Data:           "herbarium-data",
		Addr:           "127.0.0.1:8080",
		LogLevel:       slog.LevelInfo,
		LogFormat:      telemetry.FormatAuto,
		MaxInFlight:    1024,
		RequestTimeout: httpapi.DefaultRequestTimeout,
		Keep:           library.DefaultKeep,
		CacheSize:      20 << 30,
		Retention:      24 * time.Hour,
		Shutdown:       15 * time.Second,
	}
}

// ConfigSources are the sources of a configuration, lowest precedence first.
type ConfigSources struct {
	File  string // path given by the user; empty: ConfigEnv, else DefaultConfigFile if it exists
	Env   func(string) (string, bool)
	Flags map[string]string // by flag name, only those given
}

// Origins maps the key of a setting to the source of its value.
type Origins map[string]string

// LoadConfig merges flags over environment over file over defaults. It reports all errors at once.
func LoadConfig(from ConfigSources) (Config, Origins, error) {
	c, origins := DefaultConfig(), Origins{}
	var errs []error
	apply := func(s Setting, value, origin string) {
		if err := s.set(value); err != nil {
			errs = append(errs, herb.Invalidf("%s: %s is %q: %v", origin, s.Key, herb.Address(value), err))
		}
		origins[s.Key] = origin
	}
	settings := c.Settings()
	known := make([]string, len(settings))
	for i, s := range settings {
		known[i] = s.Key
	}
	file, values, err := readConfigFile(from, known)
	errs = append(errs, err)
	for _, s := range settings {
		origins[s.Key] = "default"
		if v, ok := values[s.Key]; ok {
			apply(s, v, file)
		}
		if v, ok := from.Env(s.Env()); ok && v != "" {
			apply(s, v, s.Env())
		}
		if v, ok := from.Flags[s.Flag()]; ok {
			apply(s, v, "--"+s.Flag())
		}
	}
	if v, ok := from.Env(TokenEnv); ok {
		c.Token = Secret(v)
		if err := access.CheckToken(v); v != "" && err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", TokenEnv, err))
		}
	}
	if c.Database != "" && c.Blobs == "" {
		errs = append(errs, herb.Invalidf("nodes that share a database (%s) must share the published files as well; "+
			"set --blobs, for example to s3://bucket or file:///a/shared/folder", origins["database"]))
	}
	return c, origins, errors.Join(errs...)
}

// readConfigFile returns the path of the file that was read, if any, and its settings by key.
func readConfigFile(from ConfigSources, known []string) (name string, values map[string]string, err error) {
	inEnv, _ := from.Env(ConfigEnv)
	name = cmp.Or(from.File, inEnv, DefaultConfigFile)
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && from.File+inEnv == "" {
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
	return name, values, flatten(tree, "", name, known, values)
}

// flatten converts nested maps to dotted keys and rejects unknown keys.
func flatten(tree map[string]any, prefix, file string, known []string, into map[string]string) error {
	var errs []error
	for k, v := range tree {
		key := prefix + k
		if inner, ok := v.(map[string]any); ok {
			errs = append(errs, flatten(inner, key+".", file, known, into))
		} else if slices.Contains(known, key) {
			into[key] = fmt.Sprint(v)
		} else {
			errs = append(errs, herb.Invalidf("%s: unknown key %q%s keys: %s", file, key, text.Suggestion(key, known), strings.Join(slices.Sorted(slices.Values(known)), ", ")))
		}
	}
	return errors.Join(errs...)
}

// YAML formats the configuration as a configuration file, with the source of each value as a comment.
func (c Config) YAML(origins Origins) string {
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
		fmt.Fprintf(&b, "%-40s # %s\n", key+": "+scalar(s.Value()), origins[s.Key])
	}
	fmt.Fprintf(&b, "# token: %s, from the environment variable %s alone\n", c.Token, TokenEnv)
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
