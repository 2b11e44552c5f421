package app

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/blobs"
	"herbarium/internal/fetch"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/publish/receive"
	"herbarium/internal/telemetry"
	"herbarium/internal/versions"
)

// The values of a setting that is a switch.
const (
	on  = "on"
	off = "off"
)

// Setting is one setting of a Config, with the same name in all sources.
type Setting struct {
	Key      string // in the file; the flag is the same with '-' for '.' and '_'
	Usage    string
	fallback string // the default
	value
}

// value reads and writes one setting.
type value struct {
	get      func() string
	set      func(string) error
	isSwitch bool // it is true or false
}

// Value returns the value of the setting.
func (s Setting) Value() string { return s.get() }

// pathsKey is the key of the setting that has arguments instead of a flag.
const pathsKey = "paths"

// Flag returns the name of the flag of the setting; empty if arguments of a command set it.
func (s Setting) Flag() string {
	if s.Key == pathsKey {
		return ""
	}
	return strings.NewReplacer(".", "-", "_", "-").Replace(s.Key)
}

// IsSwitch reports whether the flag of the setting needs no value.
func (s Setting) IsSwitch() bool { return s.isSwitch }

// Env returns the name of the environment variable of the setting.
func (s Setting) Env() string {
	return "HERBARIUM_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
}

// Settings returns all settings that can be set in the file, the environment and by flags, with
// their defaults.
func (c *Config) Settings() []Setting {
	const minRetention = 10 * time.Minute // for nodes to fetch a version they have just seen, and to notice a newer one
	const minMemory = 64 << 20            // for a usable server
	return []Setting{
		{"data", "`folder` that holds plants, keys and published datasets", "herbarium-data",
			stringValue(&c.Data, notEmpty)},
		{"database", "`URL` of a PostgreSQL database that all nodes share; empty: SQLite in the data folder", "",
			stringValue(&c.Database, optional(databaseAddress))},
		{"blobs", "`URL` of the object store for published files: s3:// or file://; empty: the data folder", "",
			stringValue(&c.Blobs, optional(blobs.Check))},
		{"cache_size", "`size` that files fetched from the object store may take in the data folder, such as 20GiB; " +
			"0: any", "20GiB",
			sizeValue(&c.CacheSize, 0)},
		{"retention", "`time` that unreferenced files are kept in the object store", "24h",
			durationValue(&c.Retention, minRetention)},
		{"addr", "`host:port` to listen on", "127.0.0.1:8080", stringValue(&c.Addr, hostPort)},
		{"admin_addr", "private `host:port` for metrics and profiles; empty disables it", "",
			stringValue(&c.AdminAddr, optional(hostPort))},
		{"public_url", "external `URL` of the server, such as https://example.org/data; empty: taken from each request",
			"",
			stringValue(&c.PublicURL, optional(publicURL))},
		{"access", "default `access` to the records of datasets whose descriptor or folder says nothing: open or key",
			string(herb.AccessOpen),
			choiceValue(&c.Access, herb.AccessOpen, herb.AccessKey)},
		{"catalog", "`access` to names, titles, fields and counts of datasets that require a key: open or key",
			string(herb.AccessOpen),
			choiceValue(&c.Catalog, herb.AccessOpen, herb.AccessKey)},
		{"plants", "plant store: `on or off`", on, choiceValue(&c.Plants, on, off)},
		{"mcp", "tools for language models at /mcp: `on or off`", on, choiceValue(&c.MCP, on, off)},
		{"trusted_proxies", "`addresses` and networks of reverse proxies, separated by commas, whose X-Forwarded-For " +
			"or Forwarded header names the client", "",
			prefixesValue(&c.TrustedProxies)},
		{"fetch_hosts", "`hosts` from which files may be fetched, separated by commas: data.example.org, *.gov.uk, " +
			"s3://bucket, and addresses that are not public, such as 10.0.0.0/8; empty: none", "",
			hostsValue(&c.FetchHosts)},
		{"log.level", "minimum log `level`: debug, info, warn or error", "info", levelValue(&c.LogLevel)},
		{"log.format", "`format` of the log: human, json, or auto (human on a terminal)", telemetry.FormatAuto,
			stringValue(&c.LogFormat, logFormat)},
		{"max_in_flight", "maximum `number` of concurrent cheap requests; others get 503", "1024",
			intValue(&c.MaxInFlight, 1)},
		{"max_expensive", "maximum `number` of concurrent expensive queries; 0: number of CPUs minus 1", "0",
			intValue(&c.MaxExpensive, 0)},
		{"max_exports", "maximum `number` of concurrent exports and large listings; 0: 32 per CPU, fewer if memory " +
			"is short", "0", intValue(&c.MaxExports, 0)},
		{"max_writes", "maximum `number` of concurrent writes; 0: 256", "0", intValue(&c.MaxWrites, 0)},
		{"max_upload", "maximum `size` of a file that is published over HTTP, such as 2GiB; 0: publishing over HTTP " +
			"is off", formatSize(receive.DefaultMaxSize),
			sizeValue(&c.MaxUpload, 1)},
		{"request_timeout", "`time` limit of a request; an export must have started by then",
			httpapi.DefaultRequestTimeout.String(),
			durationValue(&c.RequestTimeout, 1)},
		{"memory", "soft memory limit as a `size`, such as 2GiB; 0: half of the memory of the machine", "0",
			sizeValue(&c.Memory, minMemory)},
		{pathsKey, "files and folders that 'herbarium serve' publishes if it has no arguments, separated like those " +
			"of PATH, or a list", "",
			pathsValue(&c.Paths)},
		{"watch", "publish files again when they change", "false", boolValue(&c.Watch)},
		{"keep", "`number` of versions to keep of each dataset, including the live one",
			strconv.Itoa(versions.DefaultKeep),
			intValue(&c.Keep, 1)},
		{"keep_for", "`time` to keep versions beyond that number, such as 90d; 0: no longer", "0",
			periodValue(&c.KeepFor)},
		{"drain", "`time` that a stopping server reports not ready before it stops accepting requests", "0s",
			durationValue(&c.Drain, 0)},
		{"shutdown", "`time` limit for accepted requests to finish when the server stops", "15s",
			durationValue(&c.Shutdown, 1)},
	}
}

// setting reads and writes a value with a format.
func setting[T any](at *T, format func(T) string, parse func(string) (T, error)) value {
	return value{
		get: func() string { return format(*at) },
		set: func(s string) (err error) {
			*at, err = parse(s)
			return err
		},
	}
}

// stringValue is a setting of text.
func stringValue[T ~string](at *T, check func(string) error) value {
	return setting(at, func(v T) string { return fmt.Sprint(v) }, // an address is redacted
		func(s string) (T, error) { return T(s), check(s) })
}

// intValue is a setting that is a whole number, at least minimum.
func intValue(at *int, minimum int) value {
	return setting(at, strconv.Itoa, func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < minimum {
			return n, fmt.Errorf("write a whole number from %d", minimum)
		}
		return n, nil
	})
}

// durationValue is a setting that is a duration, at least minimum.
func durationValue(at *time.Duration, minimum time.Duration) value {
	return setting(at, time.Duration.String, func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		switch {
		case err != nil || d < min(minimum, 1):
			return d, errors.New("write a duration, such as 10s or 1m30s")
		case d < minimum:
			return d, fmt.Errorf("choose %s or more", minimum)
		}
		return d, nil
	})
}

// periodValue is a setting that is a period in days, hours or other units, or 0.
func periodValue(at *time.Duration) value {
	format := func(d time.Duration) string {
		if d == 0 {
			return "0"
		}
		return herb.FormatPeriod(d)
	}
	return setting(at, format, func(s string) (time.Duration, error) {
		d, ok := herb.ParsePeriod(s)
		if !ok && s != "0" {
			return 0, errors.New("write a number with a unit, such as 90d, 8w or 12h, or 0")
		}
		return d, nil
	})
}

// sizeUnits are the units of sizes, largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// sizeValue is a setting that is a number of bytes, with or without a unit: 0, or at least minimum.
func sizeValue(at *int64, minimum int64) value {
	return setting(at, formatSize, func(s string) (int64, error) {
		number, unit := s, int64(1)
		for _, u := range sizeUnits {
			if n, ok := strings.CutSuffix(s, u.name); ok {
				number, unit = strings.TrimSpace(n), u.bytes
			}
		}
		n, err := strconv.ParseInt(number, 10, 64)
		switch {
		case err != nil || n < 0 || n > math.MaxInt64/unit:
			return 0, errors.New("write a size, such as 20GiB or 500MiB")
		case n != 0 && n*unit < minimum:
			return n * unit, fmt.Errorf("choose %s or more, or 0", formatSize(minimum))
		}
		return n * unit, nil
	})
}

// formatSize formats a size in the largest unit that divides it.
func formatSize(n int64) string {
	for _, u := range sizeUnits {
		if n > 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// choiceValue is a setting that has one of some values.
func choiceValue[T ~string](at *T, choices ...T) value {
	return stringValue(at, func(s string) error {
		if slices.Contains(choices, T(s)) {
			return nil
		}
		names := make([]string, len(choices))
		for i, c := range choices {
			names[i] = string(c)
		}
		return fmt.Errorf("choose %s", strings.Join(names, " or "))
	})
}

// prefixesValue is a setting that is a list of IP addresses and networks.
func prefixesValue(at *[]netip.Prefix) value {
	format := func(list []netip.Prefix) string {
		var names []string
		for _, p := range list {
			if p.IsSingleIP() {
				names = append(names, p.Addr().String())
			} else {
				names = append(names, p.String())
			}
		}
		return strings.Join(names, ",")
	}
	return setting(at, format, func(s string) (list []netip.Prefix, err error) {
		for _, item := range splitList(s, ',') {
			item = strings.TrimSpace(item)
			if item == "" {
				continue
			}
			prefix, err := netip.ParsePrefix(item)
			if address, e := netip.ParseAddr(item); e == nil {
				prefix, err = netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()), nil
			}
			if err != nil || prefix.Addr().Is4In6() {
				return nil, fmt.Errorf("%q is neither an IP address nor a network; write them as in "+
					"10.0.0.0/8,192.0.2.7,2001:db8::/32", item)
			}
			list = append(list, prefix.Masked())
		}
		return list, nil
	})
}

// hostsValue is a setting that is a list of hosts to fetch from.
func hostsValue(at *[]string) value {
	return setting(at, func(list []string) string { return strings.Join(list, ",") },
		func(s string) (list []string, err error) {
			list = splitList(s, ',')
			_, err = fetch.ParseHosts(list)
			return list, err
		})
}

// splitList returns the elements of a list, as a configuration file has it, or with a separator
// between them, as in the environment.
func splitList(s string, separator rune) []string {
	if strings.Contains(s, "\n") {
		separator = '\n'
	}
	if s == "" {
		return nil
	}
	return strings.Split(s, string(separator))
}

// boolValue is a setting that is true or false.
func boolValue(at *bool) value {
	v := setting(at, strconv.FormatBool, func(s string) (bool, error) {
		b, err := strconv.ParseBool(s)
		if err != nil {
			return b, errors.New("write true or false")
		}
		return b, nil
	})
	v.isSwitch = true
	return v
}

// pathsValue is a setting that is a list of paths, in the syntax of the variable PATH.
func pathsValue(at *[]string) value {
	const separator = string(filepath.ListSeparator)
	return setting(at, func(paths []string) string { return strings.Join(paths, separator) },
		func(s string) (paths []string, err error) {
			for _, p := range splitList(s, filepath.ListSeparator) {
				if p == "" {
					return nil, fmt.Errorf("a path is empty; separate paths by one %q", separator)
				}
				paths = append(paths, p)
			}
			return paths, nil
		})
}

func levelValue(at *slog.Level) value {
	return setting(at, func(l slog.Level) string { return strings.ToLower(l.String()) }, telemetry.ParseLevel)
}

// optional accepts the empty value.
func optional(check func(string) error) func(string) error {
	return func(s string) error {
		if s == "" {
			return nil
		}
		return check(s)
	}
}

func notEmpty(s string) error {
	if s == "" {
		return errors.New("it must not be empty")
	}
	return nil
}

func databaseAddress(s string) error {
	if !herb.Address(s).IsPostgres() {
		return errors.New("write postgres://user@host:5432/database; the password may come from PGPASSWORD or a " +
			"passfile")
	}
	return nil
}

func hostPort(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return errors.New("write host:port, such as 127.0.0.1:8080 or :8080")
	}
	return nil
}

// publicURL validates the base of links.
func publicURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return errors.New("write http:// or https://, a host and perhaps a path, such as https://example.org/data")
	}
	return nil
}

func logFormat(s string) error {
	formats := []string{telemetry.FormatAuto, telemetry.FormatHuman, telemetry.FormatJSON}
	if !slices.Contains(formats, s) {
		return fmt.Errorf("valid formats: %s", strings.Join(formats, ", "))
	}
	return nil
}
