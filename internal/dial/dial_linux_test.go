package dial_test

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"herbarium/internal/dial"
	"herbarium/internal/must"
)

// TestNew reads the options of a connection: the sum of the probes is the time after which
// unacknowledged data ends a connection.
func TestNew(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	must.CloseAfter(t, l)
	conn, err := dial.New(0).DialContext(t.Context(), "tcp", l.Addr().String())
	must.NoError(t, err)
	must.CloseAfter(t, conn)
	raw, err := conn.(*net.TCPConn).SyscallConn()
	must.NoError(t, err)
	for name, option := range map[string]struct{ option, want int }{
		"TCP_KEEPIDLE":     {unix.TCP_KEEPIDLE, 5},
		"TCP_KEEPINTVL":    {unix.TCP_KEEPINTVL, 1},
		"TCP_KEEPCNT":      {unix.TCP_KEEPCNT, 5},
		"TCP_USER_TIMEOUT": {unix.TCP_USER_TIMEOUT, 10_000},
	} {
		must.NoError(t, raw.Control(func(fd uintptr) {
			if got, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option.option); err != nil ||
				got != option.want {
				t.Errorf("%s is %d, %v; want %d", name, got, err, option.want)
			}
		}))
	}
}
