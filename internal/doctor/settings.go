package doctor

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"herbarium/internal/app"
	"herbarium/internal/herb"
)

// checkSettings reports settings that are valid but unsafe. Invalid ones fail before.
func (d *doctor) checkSettings(context.Context) {
	c, safe := d.Config, true
	warn := func(detail, remedy string) {
		safe = false
		d.warn(detail, remedy)
	}
	if c.AdminAddr != "" && !isLoopback(c.AdminAddr) {
		warn(fmt.Sprintf("admin_addr %s serves metrics and profiles without authentication to other machines", c.AdminAddr),
			"use 127.0.0.1, or restrict access with a firewall")
	}
	if hasPassword(c.Database) && strings.HasPrefix(d.Origins["database"], "--") {
		warn("the password of the database is on the command line, where all users of the machine can read it",
			"set it in PGPASSWORD or a passfile, or set "+envOf("database"))
	}
	if c.Keep == 1 {
		warn("keep is 1: no earlier version is stored, so a rollback is impossible", "set keep to 2 or more")
	}
	if strings.HasPrefix(c.PublicURL, "http://") {
		warn(fmt.Sprintf("public_url %s is not encrypted; keys can be intercepted", c.PublicURL), "serve HTTPS with a proxy and set https://")
	}
	if insecureStore(c.Blobs) {
		warn(fmt.Sprintf("the connection to the object store %s is not encrypted", c.Blobs), "use an endpoint with https://")
	}
	if safe {
		d.ok(fmt.Sprintf("%d settings, none of them unsafe", len(c.Settings())))
	}
}

// envOf returns the environment variable of a setting.
func envOf(key string) string {
	c := app.DefaultConfig()
	for _, s := range c.Settings() {
		if s.Key == key {
			return s.Env()
		}
	}
	return key
}

// isLoopback reports whether only this machine reaches an address.
func isLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// hasPassword reports whether an address contains a secret, which its String redacts.
func hasPassword(a herb.Address) bool { return a.String() != string(a) }

// insecureStore reports whether an object store on another machine is addressed without TLS.
func insecureStore(a herb.Address) bool {
	u, err := url.Parse(string(a))
	if err != nil {
		return false
	}
	endpoint, err := url.Parse(u.Query().Get("endpoint"))
	disabled := slices.Contains([]string{"true", "1"}, u.Query().Get("disable_https"))
	if err != nil || endpoint.Host == "" {
		return disabled
	}
	host := endpoint.Hostname()
	return endpoint.Scheme == "http" && !isLoopback(net.JoinHostPort(host, "0"))
}
