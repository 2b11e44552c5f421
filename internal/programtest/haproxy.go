//go:build unix

package programtest

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// StartHAProxy runs HAProxy with a configuration in front of nodes, given by host and port, and
// returns its URL. It inherits an open listener, so that no other process can take its port.
func StartHAProxy(t testing.TB, config string, nodes ...string) (proxy *Process, url string) {
	t.Helper()
	haproxy := LookPath(t, "haproxy")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	inherited, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer inherited.Close()
	cmd := exec.Command(haproxy, "-db", "-f", config)
	cmd.Env, cmd.ExtraFiles = []string{"BIND=fd@3"}, []*os.File{inherited}
	for i, n := range nodes {
		cmd.Env = append(cmd.Env, "NODE"+strconv.Itoa(i+1)+"="+n)
	}
	proxy, err = StartProcess(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		proxy.Kill()
		if t.Failed() {
			t.Logf("output of HAProxy:\n%s", proxy.Output())
		}
	})
	return proxy, "http://" + listener.Addr().String()
}
