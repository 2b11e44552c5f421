package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// checkAddress checks that the address of the server is free, or that a Herbarium server answers there.
func (d *doctor) checkAddress(ctx context.Context) {
	addr := d.Config.Addr
	if free, err := canListen(ctx, addr); free {
		d.ok(addr + " is free; no server is running there")
		return
	} else if !errors.Is(err, syscall.EADDRINUSE) {
		d.failListen(addr, err)
		return
	}
	state, ok := readiness(ctx, addr)
	switch {
	case !ok:
		d.fail(addr+" is in use by another program", "stop that program, or set another --addr")
	case state == "ready":
		d.running = true
		d.ok("a server is running on " + addr + " and is ready")
	default:
		d.running = true
		d.warn(fmt.Sprintf("a server is running on %s and reports %q", addr, state), "request /readyz and read the log of the server")
	}
}

// checkAdminAddress checks that the address of metrics and profiles is free unless a server is running.
func (d *doctor) checkAdminAddress(ctx context.Context) {
	addr := d.Config.AdminAddr
	if addr == "" {
		d.ok("not used")
		return
	}
	switch free, err := canListen(ctx, addr); {
	case free:
		d.ok(addr + " is free")
	case !errors.Is(err, syscall.EADDRINUSE):
		d.failListen(addr, err)
	case d.running:
		d.ok(addr + " is in use while the server is running")
	default:
		d.fail(addr+" is in use by another program", "stop that program, or set another --admin-addr")
	}
}

func (d *doctor) failListen(addr string, err error) {
	remedy := "set an address of this machine"
	if errors.Is(err, fs.ErrPermission) {
		remedy = "use a port from 1024, or grant CAP_NET_BIND_SERVICE"
	}
	d.fail(fmt.Sprintf("cannot listen on %s: %v", addr, err), remedy)
}

// canListen reports whether an address is free.
func canListen(ctx context.Context, addr string) (bool, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return false, err
	}
	return true, l.Close()
}

// readiness returns the status that the server at an address reports; ok is false if it is not Herbarium.
func readiness(ctx context.Context, addr string) (status string, ok bool) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", false
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return "", false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", false
	}
	defer res.Body.Close()
	var body struct {
		Status string `json:"status"`
	}
	err = json.NewDecoder(http.MaxBytesReader(nil, res.Body, 64<<10)).Decode(&body)
	return body.Status, err == nil && body.Status != ""
}

// checkClock compares the local clock with the newest version, which was published in the past.
func (d *doctor) checkClock(context.Context) {
	now := time.Now()
	if ahead := d.newest.Sub(now); ahead > maxOffset {
		d.warn(fmt.Sprintf("%s; the newest version was published %s later", now.UTC().Format(time.RFC3339), ahead.Round(time.Second)),
			"synchronize the clock with NTP; keys and idempotency keys expire by it")
		return
	}
	d.ok(now.UTC().Format(time.RFC3339))
}

// minOpenFiles is enough for a thousand connections and the files of a thousand datasets.
const minOpenFiles = 4096

// checkOpenFiles checks the limit of open files and connections.
func (d *doctor) checkOpenFiles(context.Context) {
	limit, ok := openFileLimit()
	switch {
	case !ok:
		d.ok("the limit is unknown on " + runtime.GOOS)
	case limit < minOpenFiles:
		d.warn(fmt.Sprintf("the limit is %d", limit), fmt.Sprintf("raise it to %d or more, with LimitNOFILE of systemd or ulimit -n", minOpenFiles))
	default:
		d.ok(fmt.Sprintf("the limit is %d", limit))
	}
}

// checkMaps checks the limit of memory maps: each open segment needs one, and the Go runtime some hundred.
func (d *doctor) checkMaps(context.Context) {
	content, err := os.ReadFile("/proc/sys/vm/max_map_count")
	limit, parseErr := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil || parseErr != nil {
		d.ok("the limit is unknown on " + runtime.GOOS)
		return
	}
	if need := 2*len(d.live) + 1000; limit < need {
		d.warn(fmt.Sprintf("vm.max_map_count is %s for %s datasets", herb.Count(limit), herb.Count(len(d.live))),
			fmt.Sprintf("sysctl vm.max_map_count=%d", 2*need))
		return
	}
	d.ok(fmt.Sprintf("vm.max_map_count is %s", herb.Count(limit)))
}

// checkVersion reports the versions of the program and of the formats that it reads.
func (d *doctor) checkVersion(context.Context) {
	d.ok(fmt.Sprintf("herbarium %s, %s, segment format %d", d.Program, runtime.Version(), segment.FormatVersion))
}
