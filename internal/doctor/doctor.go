// Package doctor checks an installation and its environment: the data folder, the database, the
// object store, published files, addresses, limits and settings. The checks are safe while servers
// run: they write only probes that they delete.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"herbarium/internal/app"
	"herbarium/internal/fetch"
	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
)

// Status is the result of a check.
type Status string

// The results of a check.
const (
	OK   Status = "ok"
	Warn Status = "warn" // works, but should be changed
	Fail Status = "fail" // does not work
)

// Sources is the check of the sources that servers publish.
const Sources = "sources"

// Result is one finding of a check.
type Result struct {
	Status Status `json:"status"`
	Check  string `json:"check"`
	Detail string `json:"detail"`           // what was found
	Remedy string `json:"remedy,omitempty"` // what to do; empty if nothing
}

// timeout limits each check, so that a service that does not answer does not block the others.
const timeout = 30 * time.Second

type doctor struct {
	app.Config
	program string // its version
	host
	report  func(Result)
	check   string // the current one
	live    []herb.LiveVersion
	sources []herb.SourceError
	fetches map[herb.Ref]fetch.State
	known   bool // live and sources have been read
	running bool // a Herbarium server answers at the address of the settings
}

// host is the machine that the checks run on. Tests replace it.
type host struct {
	now       func() time.Time
	diskSpace func(folder string) (free, total uint64, ok bool)
	openFiles func() int // limit; 0 if unknown
	memMaps   func() int // limit; 0 if unknown
}

// Run runs all checks and calls report with each finding, as soon as it is known. program is the
// version of the program.
func Run(ctx context.Context, c app.Config, program string, report func(Result)) {
	d := &doctor{Config: c, program: program, report: report,
		host: host{time.Now, filesystem.DiskSpace, app.MaxDescriptors, maxMapCount}}
	for _, c := range []struct {
		name string
		run  func(context.Context)
	}{
		{"settings", d.checkSettings},
		{"data folder", d.checkFolder},
		{"disk space", d.checkSpace},
		{"database", d.checkDatabase},
		{"catalogue", d.checkCatalogue},
		{"published files", d.checkFiles},
		{Sources, d.checkSources},
		{"freshness", d.checkFreshness},
		{"object store", d.checkObjectStore},
		{"address", d.checkAddress},
		{"admin address", d.checkAdminAddress},
		{"clock", d.checkClock},
		{"open files", d.checkOpenFiles},
		{"memory maps", d.checkMaps},
		{"version", d.checkVersion},
	} {
		if ctx.Err() != nil {
			return
		}
		d.check = c.name
		limited, cancel := context.WithTimeout(ctx, timeout)
		c.run(limited)
		cancel()
	}
}

func (d *doctor) ok(format string, args ...any) {
	d.report(Result{OK, d.check, fmt.Sprintf(format, args...), ""})
}

func (d *doctor) warn(remedy, format string, args ...any) {
	d.report(Result{Warn, d.check, fmt.Sprintf(format, args...), remedy})
}

func (d *doctor) fail(remedy, format string, args ...any) {
	d.report(Result{Fail, d.check, fmt.Sprintf(format, args...), remedy})
}

// checkSettings reports settings that are valid but unsafe. Invalid ones fail before.
func (d *doctor) checkSettings(context.Context) {
	c := d.Config
	settings := c.Settings()
	env := settings[slices.IndexFunc(settings, func(s app.Setting) bool { return s.Key == "database" })].Env()
	safe := true
	for _, s := range []struct {
		unsafe         bool
		remedy, detail string
	}{
		{c.AdminAddr != "" && !isLoopback(c.AdminAddr), "use 127.0.0.1, or restrict access with a firewall",
			fmt.Sprintf("admin_addr %s serves metrics and profiles without authentication to other machines",
				c.AdminAddr)},
		// String redacts a secret.
		{c.Database.String() != string(c.Database) && strings.HasPrefix(c.Origins["database"], "--"),
			"set it in PGPASSWORD or a passfile, or set " + env,
			"the password of the database is on the command line, where all users of the machine can read it"},
		{c.Keep == 1 && c.KeepFor == 0, "set keep to 2 or more",
			"keep is 1: no earlier version is stored, so a rollback is impossible"},
		{strings.HasPrefix(c.PublicURL, "http://"), "serve HTTPS with a proxy and set https://",
			fmt.Sprintf("public_url %s is not encrypted; keys can be intercepted", c.PublicURL)},
		{insecureStore(c.Blobs), "use an endpoint with https://",
			fmt.Sprintf("the connection to the object store %s is not encrypted", c.Blobs)},
	} {
		if s.unsafe {
			safe = false
			d.warn(s.remedy, "%s", s.detail)
		}
	}
	if safe {
		d.ok("%d settings, none of them unsafe", len(settings))
	}
}

// isLoopback reports whether only this machine reaches an address.
func isLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// insecureStore reports whether an object store on another machine is addressed without TLS.
func insecureStore(a herb.Address) bool {
	u, err := url.Parse(string(a))
	if err != nil {
		return false
	}
	endpoint, err := url.Parse(u.Query().Get("endpoint"))
	if err != nil || endpoint.Host == "" {
		return slices.Contains([]string{"true", "1"}, u.Query().Get("disable_https"))
	}
	return endpoint.Scheme == "http" && !isLoopback(net.JoinHostPort(endpoint.Hostname(), "0"))
}

// checkFolder checks that the data folder exists, is private and can be written.
func (d *doctor) checkFolder(context.Context) {
	folder, err := filepath.Abs(d.Config.Data)
	if err != nil { // the working directory is gone
		folder = d.Config.Data
	}
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.Config.Database != "":
		d.warn("set --data to the folder of the node", "%s does not exist; it is the cache of a node, which creates it",
			folder)
		return
	case errors.Is(err, fs.ErrNotExist):
		d.fail(app.NoDataRemedy, "%s does not exist", folder)
		return
	case err != nil:
		d.fail("check the permissions of the folders above it", "%v", err)
		return
	case !info.IsDir():
		d.fail("set --data to the folder of the server", "%s is not a folder", folder)
		return
	}
	exists, err := d.Config.HasData()
	if err == nil && !exists {
		d.fail(app.NoDataRemedy, "%s is not a data folder", folder)
		return
	}
	var probe *os.File
	if err == nil {
		probe, err = os.CreateTemp(folder, "doctor-*.tmp")
	}
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	uid, known := owner(info)
	mode := info.Mode().Perm()
	switch {
	case err != nil:
		d.fail("run the command as the user of the server, or fix owner and permissions", "cannot access it: %v", err)
	case known && uid != os.Geteuid():
		d.warn("run commands as the user of the server",
			"%s belongs to user %d and this command runs as %d: files that it creates may not be readable for the "+
				"server", folder, uid, os.Geteuid())
	case mode&0o077 != 0 && filepath.Separator == '/': // other systems have no such permissions
		d.warn("chmod 700 "+folder, "%s has mode %04o: other users of the machine can access it", folder, mode)
	default:
		d.ok("%s exists, is private and can be written", folder)
	}
}
