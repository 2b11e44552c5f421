package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// Free space below which a publish is likely to fail, and below which writes are.
const (
	warnFree = 1 << 30
	failFree = 64 << 20
)

func (d *doctor) checkSpace(context.Context) {
	const remedy = "free space, or move the data folder to a larger disk"
	free, total, ok := d.diskSpace(d.Config.Data)
	detail := fmt.Sprintf("%s of %s free", herb.FormatBytes(int64(free)), herb.FormatBytes(int64(total)))
	switch {
	case !ok:
		d.warn("check it with the tools of the system", "the free space is unknown")
	case free < failFree:
		d.fail(remedy, "%s; writes will fail", detail)
	case free < warnFree:
		d.warn(remedy, "%s; a publish needs several times the size of its file", detail)
	default:
		d.ok("%s", detail)
	}
}

// checkAddress checks that the address of the server is free, or that a Herbarium server answers
// there.
func (d *doctor) checkAddress(ctx context.Context) {
	addr := d.Config.Addr
	d.checkListen(ctx, addr, "--addr", "; no server is running there", func() bool {
		state := readiness(ctx, addr)
		d.running = state != ""
		if state == "ready" {
			d.ok("a server is running on %s and is ready", addr)
		} else if d.running {
			d.warn("request /readyz and read the log of the server", "a server is running on %s and reports %q", addr, state)
		}
		return d.running
	})
}

// checkAdminAddress checks that the address of metrics and profiles is free unless a server is
// running.
func (d *doctor) checkAdminAddress(ctx context.Context) {
	addr := d.Config.AdminAddr
	if addr == "" {
		d.ok("not used")
		return
	}
	d.checkListen(ctx, addr, "--admin-addr", "", func() bool {
		if d.running {
			d.ok("%s is in use while the server is running", addr)
		}
		return d.running
	})
}

// checkListen checks that a server could listen on an address, or that reportOwn reports it as in
// use by Herbarium.
func (d *doctor) checkListen(ctx context.Context, addr, flag, free string, reportOwn func() bool) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
		_ = l.Close() // it was not used
		d.ok("%s is free%s", addr, free)
	case errors.Is(err, syscall.EADDRINUSE):
		if !reportOwn() {
			d.fail("stop that program, or set another "+flag, "%s is in use by another program", addr)
		}
	case errors.Is(err, fs.ErrPermission):
		d.fail("use a port from 1024, or grant CAP_NET_BIND_SERVICE", "cannot listen on %s: %v", addr, err)
	default:
		d.fail("set an address of this machine", "cannot listen on %s: %v", addr, err)
	}
}

// readiness returns the status that the server at an address reports; empty if it is not Herbarium.
func readiness(ctx context.Context, addr string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+app.Reachable(addr)+"/readyz", nil)
	if err != nil {
		return ""
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	var body struct{ Status string }
	_ = json.NewDecoder(io.LimitReader(res.Body, 64<<10)).Decode(&body) // another program answers otherwise
	return body.Status
}

// checkClock compares the local clock with the newest version, which was published in the past.
func (d *doctor) checkClock(context.Context) {
	now := d.now()
	ahead := time.Duration(0)
	for _, v := range d.live {
		ahead = max(ahead, v.Published.Sub(now))
	}
	if ahead > maxOffset {
		d.warn("synchronize the clock with NTP; keys and idempotency keys expire by it",
			"%s; the newest version was published %s later", now.UTC().Format(time.RFC3339), ahead.Round(time.Second))
		return
	}
	d.ok("%s", now.UTC().Format(time.RFC3339))
}

// minOpenFiles is enough for a thousand connections and the files of a thousand datasets.
const minOpenFiles = 4096

// checkOpenFiles checks the limit of open files and connections.
func (d *doctor) checkOpenFiles(context.Context) {
	switch limit := d.openFiles(); {
	case limit == 0:
		d.ok("the limit is unknown on %s", runtime.GOOS)
	case limit < minOpenFiles:
		d.warn(fmt.Sprintf("raise it to %d or more, with LimitNOFILE of systemd or ulimit -n", minOpenFiles), "the limit is %d", limit)
	default:
		d.ok("the limit is %d", limit)
	}
}

// checkMaps checks the limit of memory maps: each open segment needs one, and the Go runtime some
// hundred.
func (d *doctor) checkMaps(context.Context) {
	need := 2*len(d.live) + 1000
	switch limit := d.memMaps(); {
	case limit == 0:
		d.ok("the limit is unknown on %s", runtime.GOOS)
	case limit < need:
		d.warn(fmt.Sprintf("sysctl vm.max_map_count=%d", 2*need), "vm.max_map_count is %s for %s datasets", herb.Count(limit), herb.Count(len(d.live)))
	default:
		d.ok("vm.max_map_count is %s", herb.Count(limit))
	}
}

// maxMapCount returns the limit of memory maps of Linux.
func maxMapCount() int {
	content, _ := os.ReadFile("/proc/sys/vm/max_map_count") // there is none on other systems
	limit, _ := strconv.Atoi(strings.TrimSpace(string(content)))
	return limit
}

// checkVersion reports the versions of the program and of the formats that it reads.
func (d *doctor) checkVersion(context.Context) {
	d.ok("herbarium %s, %s, segment format %d", d.program, runtime.Version(), segment.FormatVersion)
}
