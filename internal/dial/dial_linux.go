package dial

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged sets how long sent data may go unacknowledged. Without it, Linux retransmits
// for a quarter of an hour. Keep-alive probes do not help, because they are sent only if all data
// is acknowledged.
func limitUnacknowledged(network, _ string, conn syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var set error
	err := conn.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(dead.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return set
}
