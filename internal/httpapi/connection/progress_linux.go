package connection

import (
	"net"

	"golang.org/x/sys/unix"
)

// bytesAcknowledged returns how many bytes the peer of a TCP connection has acknowledged. The
// kernel of a client that does not read acknowledges nothing once its buffer is full.
func bytesAcknowledged(nc net.Conn) (n uint64, ok bool) {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return 0, false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0, false
	}
	var info *unix.TCPInfo
	if failed := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}); failed != nil || err != nil {
		return 0, false
	}
	return info.Bytes_acked, true
}
