// Package doctor checks an installation and its environment: the data folder, the database, the object store, published
// files, addresses, limits and settings. The checks are safe while servers run: they write only probes that they delete.
package doctor

import (
	"context"
	"fmt"
	"time"

	"herbarium/internal/app"
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

// Result is one finding of a check.
type Result struct {
	Status Status `json:"status"`
	Check  string `json:"check"`
	Detail string `json:"detail"`           // what was found
	Remedy string `json:"remedy,omitempty"` // what to do; empty if nothing
}

// Options configure the checks.
type Options struct {
	Config  app.Config
	Program string // version of the program
}

// timeout limits each check, so that a service that does not answer does not block the others.
const timeout = 30 * time.Second

// doctor runs the checks.
type doctor struct {
	Options
	host
	report  func(Result)
	check   string // the current one
	live    []herb.LiveVersion
	known   bool // live has been read
	running bool // a Herbarium server answers at the address of the settings
}

// host is the machine that the checks run on. Tests replace it.
type host struct {
	now       func() time.Time
	diskSpace func(folder string) (free, total uint64, ok bool)
	openFiles func() int // limit; 0: unknown
	memMaps   func() int // limit; 0: unknown
}

// Run runs all checks and calls report with each finding, as soon as it is known.
func Run(ctx context.Context, o Options, report func(Result)) {
	d := &doctor{Options: o, report: report, host: host{time.Now, diskSpace, app.MaxDescriptors, maxMapCount}}
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
