//go:build linux && (amd64 || arm64)

package deploy_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// sandboxEnv names the file with the rules of a sandbox. If it is set, this program is a launcher:
// it restricts itself and then executes the program that its arguments name.
const sandboxEnv = "DEPLOY_TEST_SANDBOX"

// rules are the restrictions of a unit.
type rules struct {
	Calls    []uint32 // numbers of system calls
	Families []uint32 // of addresses
	User     int      // to switch to; 0 keeps the current one
}

func TestMain(m *testing.M) {
	if file := os.Getenv(sandboxEnv); file != "" {
		fmt.Fprintln(os.Stderr, "the sandbox:", lockIn(file, os.Args[1:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// lockIn restricts this process as systemd restricts a service, and then executes a program. It
// returns only after an error.
func lockIn(file string, args []string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r rules
	if err := json.Unmarshal(content, &r); err != nil {
		return err
	}
	runtime.LockOSThread() // filters belong to a thread, and the program inherits those of this one
	if r.User != 0 {
		if err := syscall.Setgroups(nil); err != nil {
			return err
		}
		if err := syscall.Setgid(r.User); err != nil {
			return err
		}
		if err := syscall.Setuid(r.User); err != nil { // this drops the capabilities
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	guarded := unix.Prctl(unix.PR_SET_MDWE, unix.PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0)
	if guarded != nil && guarded != unix.EINVAL { // older kernels do not support it
		return guarded
	}
	filter := r.filter()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0,
		0); err != nil {
		return err
	}
	// Without these checks, the test would pass in a sandbox that restricts nothing.
	var processors unix.CPUSet
	if err := unix.SchedGetaffinity(0, &processors); err != nil {
		return err
	}
	if err := unix.SchedSetaffinity(0, &processors); err != unix.EPERM {
		return fmt.Errorf("choosing processors: %v; want %v", err, unix.EPERM)
	}
	if _, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, 0); err != unix.EAFNOSUPPORT {
		return fmt.Errorf("a netlink socket: %v; want %v", err, unix.EAFNOSUPPORT)
	}
	_, err = unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
	if guarded == nil && err != unix.EACCES {
		return fmt.Errorf("code that can be written: %v; want %v", err, unix.EACCES)
	}
	return syscall.Exec(args[0], args, os.Environ())
}

// filter returns the rules as a seccomp filter program.
func (r rules) filter() []unix.SockFilter {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equals = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		answer = unix.BPF_RET | unix.BPF_K
	)
	const number, arch, firstArgument = 0, 4, 16 // offsets in struct seccomp_data
	allow := unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW}
	refuse := func(err unix.Errno) unix.SockFilter {
		return unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(err)}
	}
	native := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	out := []unix.SockFilter{
		{Code: load, K: arch}, {Code: equals, K: native, Jt: 1}, refuse(unix.EPERM),
		{Code: load, K: number}, {Code: equals, K: unix.SYS_SOCKET, Jf: uint8(2*len(r.Families) + 2)},
		{Code: load, K: firstArgument},
	}
	for _, family := range r.Families {
		out = append(out, unix.SockFilter{Code: equals, K: family, Jf: 1}, allow)
	}
	out = append(out, refuse(unix.EAFNOSUPPORT))
	for _, call := range r.Calls {
		out = append(out, unix.SockFilter{Code: equals, K: call, Jf: 1}, allow)
	}
	return append(out, refuse(unix.EPERM))
}

// unitRules reads the rules of the unit as systemd interprets them.
func unitRules(t *testing.T) rules {
	t.Helper()
	u := unit(t, unitFile)
	allowed := map[string]bool{}
	expand(t, "@default", allowed, true) // always allowed
	for _, line := range u["SystemCallFilter"] {
		line, deny := strings.CutPrefix(line, "~")
		for _, group := range strings.Fields(line) {
			expand(t, group, allowed, !deny)
		}
	}
	numbers := systemCalls(t)
	r := rules{User: 65532}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if n, ok := numbers[name]; ok { // others belong to other architectures
			r.Calls = append(r.Calls, n)
		}
	}
	if len(r.Calls) < 100 {
		t.Fatalf("the unit allows %d system calls; is it parsed correctly?", len(r.Calls))
	}
	families := map[string]uint32{"AF_UNIX": unix.AF_UNIX, "AF_INET": unix.AF_INET, "AF_INET6": unix.AF_INET6}
	for _, name := range strings.Fields(u["RestrictAddressFamilies"][0]) {
		if families[name] == 0 {
			t.Fatalf("%s is unknown here", name)
		}
		r.Families = append(r.Families, families[name])
	}
	if os.Getuid() != 0 {
		r.User = 0
	}
	return r
}

// expand adds the system calls of a group, and of the groups in it, to a set, or removes them.
func expand(t *testing.T, group string, into map[string]bool, in bool) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), programtest.LookPath(t, "systemd-analyze"), "syscall-filter",
		group).Output()
	if err != nil {
		t.Fatalf("systemd-analyze syscall-filter %s: %v", group, err)
	}
	for line := range strings.Lines(string(out)) {
		name := strings.TrimSpace(line)
		switch {
		case name == "" || name == group || strings.HasPrefix(name, "#"):
		case strings.HasPrefix(name, "@"):
			expand(t, name, into, in)
		case in:
			into[name] = true
		default:
			delete(into, name)
		}
	}
}

// systemCalls returns the numbers of system calls on this machine, from the source of x/sys.
func systemCalls(t *testing.T) map[string]uint32 {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "golang.org/x/sys/unix").Output()
	must.NoError(t, err)
	file := filepath.Join(strings.TrimSpace(string(dir)), "zsysnum_linux_"+runtime.GOARCH+".go")
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	must.NoError(t, err)
	out := map[string]uint32{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		value, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		number, err := strconv.ParseUint(value.Value, 10, 32)
		must.NoError(t, err)
		out[strings.ToLower(strings.TrimPrefix(spec.Names[0].Name, "SYS_"))] = uint32(number)
		return true
	})
	return out
}

// TestSystemd_sandbox serves, creates a plant, publishes and stops under the filters of the unit.
func TestSystemd_sandbox(t *testing.T) {
	t.Parallel()
	r := unitRules(t)
	dir := t.TempDir()
	must.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // the user must have access
	data := filepath.Join(dir, "data")
	binary, err := programtest.Install(t.Context(), dir)
	must.NoError(t, err)
	content, err := json.Marshal(r)
	must.NoError(t, err)
	file := filepath.Join(dir, "rules.json")
	must.NoError(t, os.WriteFile(file, content, 0o644))
	must.NoError(t, os.Mkdir(data, 0o700))
	if r.User != 0 {
		must.NoError(t, os.Chown(data, r.User, r.User))
	}
	self, err := os.Executable()
	must.NoError(t, err)
	c := container{launcher: self, binary: binary, root: dir, env: []string{
		sandboxEnv + "=" + file, "HERBARIUM_DATA=" + data, "HERBARIUM_ADDR=127.0.0.1:0",
		"HERBARIUM_ADMIN_ADDR=127.0.0.1:0",
		"HERBARIUM_TOKEN=a-key-for-this-test-alone-0123456789",
	}}
	shop := filepath.Join(dir, "shop")
	must.NoError(t, os.Mkdir(shop, 0o755))
	must.NoError(t, os.WriteFile(filepath.Join(shop, "prices.csv"), []byte("id,price\n1,2.50\n"), 0o644))
	url := c.serve(t, []string{"serve", "--watch", shop})
	resp, err := programtest.Send(t.Context(), http.DefaultClient, http.MethodPost, url+"/plants",
		`{"id":1,"name":"Rose"}`,
		"Authorization", "Bearer a-key-for-this-test-alone-0123456789", "Content-Type", "application/json")
	if err != nil || resp.Status != http.StatusOK {
		t.Errorf("POST /plants: %d %s, %v", resp.Status, resp.Body, err)
	}
	c.publish(t, "data")
	for _, path := range []string{
		"/api/v1/garden/catalog/data?search=rose", "/api/v1/shop/prices/data", "/api/v1/store/plants/data",
	} {
		if body := get(t, url+path); !strings.Contains(body, `"total":1`) {
			t.Errorf("GET %s: %s", path, body)
		}
	}
}
