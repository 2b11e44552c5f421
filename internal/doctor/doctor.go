// Package doctor checks an installation and its environment: the data folder, the database, the object store, published
// files, addresses, limits and settings. The checks are safe while servers run: they write only probes that they delete.
package doctor

import (
	"context"
	"time"

	"herbarium/internal/app"
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
	Origins app.Origins
	Program string // version of the program
}

// timeout limits each check, so that a service that does not answer does not block the others.
const timeout = 30 * time.Second

// doctor runs the checks.
type doctor struct {
	Options
	report  func(Result)
	check   string // the current one
	live    []liveVersion
	newest  time.Time // publication time of the newest version
	known   bool      // live and newest have been read
	running bool      // a Herbarium server answers at the address of the settings
}

// Run runs all checks and calls report with each finding, as soon as it is known.
func Run(ctx context.Context, o Options, report func(Result)) {
	d := &doctor{Options: o, report: report}
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

func (d *doctor) ok(detail string)           { d.report(Result{OK, d.check, detail, ""}) }
func (d *doctor) warn(detail, remedy string) { d.report(Result{Warn, d.check, detail, remedy}) }
func (d *doctor) fail(detail, remedy string) { d.report(Result{Fail, d.check, detail, remedy}) }
