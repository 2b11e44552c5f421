package app

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/telemetry"
)

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

// intValue is a setting that is a whole number of at least least.
func intValue(at *int, least int) value {
	return setting(at, strconv.Itoa, func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least {
			return n, fmt.Errorf("write a whole number from %d", least)
		}
		return n, nil
	})
}

// durationValue is a setting that is a duration of at least least.
func durationValue(at *time.Duration, least time.Duration) value {
	return setting(at, time.Duration.String, func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		switch {
		case err != nil || d < min(least, 1):
			return d, errors.New("write a duration, such as 10s or 1m30s")
		case d < least:
			return d, fmt.Errorf("choose %s or more", least)
		}
		return d, nil
	})
}

// sizeUnits are the units of sizes, largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// sizeValue is a setting that is a number of bytes, with or without a unit: 0, or at least least.
func sizeValue(at *int64, least int64) value {
	return setting(at, formatSize, func(s string) (int64, error) {
		n, err := parseSize(s)
		if err == nil && n != 0 && n < least {
			err = fmt.Errorf("choose %s or more, or 0", formatSize(least))
		}
		return n, err
	})
}

func parseSize(s string) (int64, error) {
	number, unit := s, int64(1)
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			number, unit = strings.TrimSpace(n), u.bytes
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, errors.New("write a size, such as 20GiB or 500MiB")
	}
	return n * unit, nil
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
		return errors.New("write postgres://user@host:5432/database; the password may come from PGPASSWORD or a passfile")
	}
	return nil
}

func hostPort(s string) error {
	if _, _, err := net.SplitHostPort(s); err != nil {
		return errors.New("write host:port, such as 127.0.0.1:8080 or :8080")
	}
	return nil
}

// publicURL validates the base of links.
func publicURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("write http:// or https://, a host and perhaps a path, such as https://example.org/data")
	}
	return nil
}

func logFormat(s string) error {
	formats := []string{telemetry.FormatAuto, telemetry.FormatHuman, telemetry.FormatJSON}
	if !slices.Contains(formats, s) {
		return fmt.Errorf("choose from %s", strings.Join(formats, ", "))
	}
	return nil
}
