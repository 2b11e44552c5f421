package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
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

// remedy returns what to do about an error of the system, such as a missing permission, also if
// only opening one of the files shows it. otherwise is what to do about other errors.
func (d *doctor) remedy(err error, otherwise string, files ...string) string {
	for _, path := range files {
		f, failed := os.OpenFile(path, os.O_RDWR, 0)
		if failed == nil {
			failed = f.Close()
		}
		if !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	is := func(causes ...error) bool {
		return slices.ContainsFunc(causes, func(e error) bool { return errors.Is(err, e) })
	}
	free, _, known := d.diskSpace(d.Config.Data)
	switch {
	case is(fs.ErrPermission):
		return "run the command as the user of the server, or fix owner and permissions of the file"
	case is(syscall.EROFS):
		return "mount the disk writable"
	case is(syscall.EMFILE, syscall.ENFILE):
		return "raise the limit of open files"
	case is(syscall.ENOSPC, syscall.EDQUOT), known && free < failFree:
		return "free space, or move the data folder to a larger disk"
	case is(syscall.EIO):
		return "check the disk: the log of the system has its errors"
	}
	return otherwise
}

// checkAddress checks that the address of the server is free, or that a Herbarium server answers
// there.
func (d *doctor) checkAddress(ctx context.Context) {
	addr := d.Config.Addr
	d.checkListen(ctx, addr, "--addr", "; no server is running there", func() bool {
		var state readiness
		state, d.running = readReadiness(ctx, addr)
		if d.running {
			d.reportReadiness(addr, state)
		}
		return d.running
	})
}

// readiness is the body of /readyz.
type readiness struct {
	Status  string            // ready or degraded; empty if the server is not ready
	Parts   map[string]string // "ok", or what is wrong
	Error   int               // 503 if the server is not ready
	Message string            // why it is not
}

// reportReadiness reports the state of a running server with its reasons. Sources and indexes have
// findings of their own.
func (d *doctor) reportReadiness(addr string, state readiness) {
	var reasons, down []string
	for _, name := range slices.Sorted(maps.Keys(state.Parts)) {
		if reason := state.Parts[name]; reason != "ok" {
			reasons = append(reasons, name+": "+reason)
			if name != "sources" && name != "indexes" {
				down = append(down, name)
			}
		}
	}
	const remedy = "read the log of the server, which has the details"
	switch {
	case state.Status == "ready":
		d.ok("a server is running on %s and is ready", addr)
	case state.Status == "":
		d.warn("wait, or "+remedy, "a server is running on %s: %s", addr, state.Message)
	case len(down) > 0:
		d.fail(remedy, "a server is running on %s and is %s: %s", addr, state.Status, strings.Join(reasons, "; "))
	default:
		d.warn(remedy, "a server is running on %s and is %s: %s", addr, state.Status, strings.Join(reasons, "; "))
	}
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

// readReadiness returns what the server at an address reports; ok is false if it is not Herbarium.
func readReadiness(ctx context.Context, addr string) (state readiness, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+app.Reachable(addr)+"/readyz", nil)
	if err != nil {
		return state, false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return state, false
	}
	defer res.Body.Close()
	_ = json.NewDecoder(io.LimitReader(res.Body, 64<<10)).Decode(&state) // another program answers otherwise
	return state, state.Status != "" || state.Error == http.StatusServiceUnavailable
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
		d.warn(fmt.Sprintf("raise it to %d or more, with LimitNOFILE of systemd or ulimit -n", minOpenFiles),
			"the limit is %d", limit)
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
		d.warn(fmt.Sprintf("sysctl vm.max_map_count=%d", 2*need), "vm.max_map_count is %s for %s datasets",
			herb.Count(limit), herb.Count(len(d.live)))
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
