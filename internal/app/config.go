package app

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"herbarium/internal/access"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/library"
	"herbarium/internal/telemetry"
	"herbarium/internal/text"
)

// Config is the configuration of the program.
type Config struct {
	Data           string
	Database       Address
	Blobs          Address
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

// Setting is one setting of Config, with the same name in all sources.
type Setting struct {
	Key   string // in the file; the flag is the same with '-' for '.' and '_'
	Env   string
	Usage string
	get   func(*Config) string
	set   func(*Config, string) error
}

// Flag returns the name of the flag of the setting.
func (s Setting) Flag() string { return strings.NewReplacer(".", "-", "_", "-").Replace(s.Key) }

// Get returns the value of a setting.
func (c Config) Get(s Setting) string { return s.get(&c) }

// Settings returns all settings that can be set in the file, the environment and by flags.
func Settings() []Setting {
	return []Setting{
		{
			Key: "data", Env: "HERBARIUM_DATA", Usage: "`folder` that holds plants, keys and published datasets",
			get: func(c *Config) string { return c.Data },
			set: func(c *Config, s string) error { c.Data = s; return notEmpty(s) },
		}, {
			Key: "database", Env: "HERBARIUM_DATABASE",
			Usage: "`URL` of a PostgreSQL database that all nodes share; empty: SQLite in the data folder",
			get:   func(c *Config) string { return c.Database.String() },
			set:   func(c *Config, s string) error { c.Database = Address(s); return databaseAddress(s) },
		}, {
			Key: "blobs", Env: "HERBARIUM_BLOBS",
			Usage: "`URL` of the object store for published files: s3:// or file://; empty: the data folder",
			get:   func(c *Config) string { return c.Blobs.String() },
			set:   func(c *Config, s string) error { c.Blobs = Address(s); return blobsAddress(s) },
		}, {
			Key: "cache_size", Env: "HERBARIUM_CACHE_SIZE",
			Usage: "`size` that files fetched from the object store may take in the data folder, such as 20GiB; 0: any",
			get:   func(c *Config) string { return formatSize(c.CacheSize) },
			set:   func(c *Config, s string) (err error) { c.CacheSize, err = parseSize(s); return err },
		}, {
			Key: "retention", Env: "HERBARIUM_RETENTION",
			Usage: "`time` that unreferenced files are kept in the object store",
			get:   func(c *Config) string { return c.Retention.String() },
			set: func(c *Config, s string) (err error) {
				if c.Retention, err = duration(s); err == nil && c.Retention < minRetention {
					err = fmt.Errorf("nodes may still fetch them; choose %s or more", minRetention)
				}
				return err
			},
		}, {
			Key: "addr", Env: "HERBARIUM_ADDR", Usage: "`host:port` to listen on",
			get: func(c *Config) string { return c.Addr },
			set: func(c *Config, s string) error { c.Addr = s; return hostPort(s) },
		}, {
			Key: "admin_addr", Env: "HERBARIUM_ADMIN_ADDR",
			Usage: "private `host:port` for metrics and profiles; empty disables it",
			get:   func(c *Config) string { return c.AdminAddr },
			set: func(c *Config, s string) error {
				c.AdminAddr = s
				if s == "" {
					return nil
				}
				return hostPort(s)
			},
		}, {
			Key: "public_url", Env: "HERBARIUM_PUBLIC_URL",
			Usage: "external `URL` of the server, such as https://example.org/data; empty: taken from each request",
			get:   func(c *Config) string { return c.PublicURL },
			set:   func(c *Config, s string) error { c.PublicURL = s; return publicURL(s) },
		}, {
			Key: "log.level", Env: "HERBARIUM_LOG_LEVEL", Usage: "minimum log `level`: debug, info, warn or error",
			get: func(c *Config) string { return strings.ToLower(c.LogLevel.String()) },
			set: func(c *Config, s string) (err error) { c.LogLevel, err = telemetry.ParseLevel(s); return err },
		}, {
			Key: "log.format", Env: "HERBARIUM_LOG_FORMAT", Usage: "`format` of the log: human, json, or auto (human on a terminal)",
			get: func(c *Config) string { return c.LogFormat },
			set: func(c *Config, s string) error {
				c.LogFormat = s
				return oneOf(s, telemetry.FormatAuto, telemetry.FormatHuman, telemetry.FormatJSON)
			},
		}, {
			Key: "max_in_flight", Env: "HERBARIUM_MAX_IN_FLIGHT",
			Usage: "maximum `number` of concurrent cheap requests; others get 503",
			get:   func(c *Config) string { return strconv.Itoa(c.MaxInFlight) },
			set:   func(c *Config, s string) (err error) { c.MaxInFlight, err = positive(s); return err },
		}, {
			Key: "max_expensive", Env: "HERBARIUM_MAX_EXPENSIVE",
			Usage: "maximum `number` of concurrent expensive queries; 0: number of CPUs minus 1",
			get:   func(c *Config) string { return strconv.Itoa(c.MaxExpensive) },
			set:   func(c *Config, s string) (err error) { c.MaxExpensive, err = natural(s); return err },
		}, {
			Key: "max_exports", Env: "HERBARIUM_MAX_EXPORTS",
			Usage: "maximum `number` of concurrent exports; 0: 32 per CPU, fewer if memory is short",
			get:   func(c *Config) string { return strconv.Itoa(c.MaxExports) },
			set:   func(c *Config, s string) (err error) { c.MaxExports, err = natural(s); return err },
		}, {
			Key: "max_writes", Env: "HERBARIUM_MAX_WRITES", Usage: "maximum `number` of concurrent writes; 0: 256",
			get: func(c *Config) string { return strconv.Itoa(c.MaxWrites) },
			set: func(c *Config, s string) (err error) { c.MaxWrites, err = natural(s); return err },
		}, {
			Key: "request_timeout", Env: "HERBARIUM_REQUEST_TIMEOUT",
			Usage: "`time` limit of a request; an export must have started by then",
			get:   func(c *Config) string { return c.RequestTimeout.String() },
			set: func(c *Config, s string) (err error) {
				if c.RequestTimeout, err = duration(s); err == nil && c.RequestTimeout == 0 {
					err = errInvalidDuration
				}
				return err
			},
		}, {
			Key: "memory", Env: "HERBARIUM_MEMORY",
			Usage: "soft memory limit as a `size`, such as 2GiB; 0: half of the memory of the machine",
			get:   func(c *Config) string { return formatSize(c.Memory) },
			set: func(c *Config, s string) (err error) {
				if c.Memory, err = parseSize(s); err == nil && c.Memory != 0 && c.Memory < minMemory {
					err = fmt.Errorf("a server needs more; choose %s or more, or 0", formatSize(minMemory))
				}
				return err
			},
		}, {
			Key: "keep", Env: "HERBARIUM_KEEP", Usage: "`number` of versions to keep of each dataset, including the live one",
			get: func(c *Config) string { return strconv.Itoa(c.Keep) },
			set: func(c *Config, s string) (err error) { c.Keep, err = positive(s); return err },
		}, {
			Key: "drain", Env: "HERBARIUM_DRAIN",
			Usage: "`time` that a stopping server reports not ready before it stops accepting requests",
			get:   func(c *Config) string { return c.Drain.String() },
			set:   func(c *Config, s string) (err error) { c.Drain, err = duration(s); return err },
		}, {
			Key: "shutdown", Env: "HERBARIUM_SHUTDOWN", Usage: "`time` limit for accepted requests to finish when the server stops",
			get: func(c *Config) string { return c.Shutdown.String() },
			set: func(c *Config, s string) (err error) {
				if c.Shutdown, err = duration(s); err == nil && c.Shutdown == 0 {
					err = errInvalidDuration
				}
				return err
			},
		},
	}
}

// minRetention gives nodes time to fetch a version they have just seen, and to notice a newer one.
const minRetention = 10 * time.Minute

// minMemory is the minimum for a usable server.
const minMemory = 64 << 20

var errInvalidDuration = errors.New("write a duration, such as 10s or 1m30s")

func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, errInvalidDuration
	}
	return d, nil
}

func hostPort(s string) error {
	if _, _, err := net.SplitHostPort(s); err != nil {
		return errors.New("write host:port, such as 127.0.0.1:8080 or :8080")
	}
	return nil
}

// publicURL validates the base of links.
func publicURL(s string) error {
	if s == "" {
		return nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("write http:// or https://, a host and perhaps a path, such as https://example.org/data")
	}
	return nil
}

func notEmpty(s string) error {
	if s == "" {
		return errors.New("it must not be empty")
	}
	return nil
}

func oneOf(s string, choices ...string) error {
	if !slices.Contains(choices, s) {
		return fmt.Errorf("choose from %s", strings.Join(choices, ", "))
	}
	return nil
}

func positive(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, errors.New("write a whole number from 1")
	}
	return n, nil
}

func natural(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, errors.New("write a whole number from 0")
	}
	return n, nil
}

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
		if err := s.set(&c, value); err != nil {
			errs = append(errs, herb.Invalidf("%s: %s is %q: %v", origin, s.Key, Address(value), err))
		}
		origins[s.Key] = origin
	}
	file, values, err := readConfigFile(from)
	errs = append(errs, err)
	for _, s := range Settings() {
		origins[s.Key] = "default"
		if v, ok := values[s.Key]; ok {
			apply(s, v, file)
		}
		if v, ok := from.Env(s.Env); ok && v != "" {
			apply(s, v, s.Env)
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
func readConfigFile(from ConfigSources) (name string, values map[string]string, err error) {
	name = from.File
	if name == "" {
		name, _ = from.Env(ConfigEnv)
	}
	named := name != ""
	if !named {
		name = DefaultConfigFile
	}
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !named {
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
	return name, values, flatten(tree, "", name, values)
}

// flatten converts nested maps to dotted keys and rejects unknown keys.
func flatten(tree map[string]any, prefix, file string, into map[string]string) error {
	var errs []error
	for k, v := range tree {
		key := prefix + k
		if inner, ok := v.(map[string]any); ok {
			errs = append(errs, flatten(inner, key+".", file, into))
			continue
		}
		if !slices.ContainsFunc(Settings(), func(s Setting) bool { return s.Key == key }) {
			errs = append(errs, unknownKey(key, file))
			continue
		}
		into[key] = fmt.Sprint(v)
	}
	return errors.Join(errs...)
}

func unknownKey(key, file string) error {
	var known []string
	for _, s := range Settings() {
		known = append(known, s.Key)
	}
	slices.Sort(known)
	guess := ""
	if c, ok := text.Closest(key, known); ok {
		guess = fmt.Sprintf("; did you mean %q?", c)
	}
	return herb.Invalidf("%s: unknown key %q%s keys: %s", file, key, cmp.Or(guess, ";"), strings.Join(known, ", "))
}

// YAML formats the configuration as a configuration file, with the source of each value as a comment.
func (c Config) YAML(origins Origins) string {
	var b strings.Builder
	group := ""
	for _, s := range Settings() {
		key := s.Key
		if g, k, ok := strings.Cut(key, "."); ok {
			if g != group {
				fmt.Fprintf(&b, "%s:\n", g)
			}
			group, key = g, "  "+k
		}
		fmt.Fprintf(&b, "%-40s # %s\n", key+": "+scalar(c.Get(s)), origins[s.Key])
	}
	fmt.Fprintf(&b, "# token: %s, from the environment variable %s alone\n", c.Token, TokenEnv)
	return b.String()
}

// scalar formats a value as YAML, numbers without quotes.
func scalar(s string) string {
	if _, err := strconv.Atoi(s); err == nil {
		return s
	}
	b, err := yaml.Marshal(s)
	if err != nil { // cannot happen for a string
		panic(err)
	}
	return strings.TrimSpace(string(b))
}
