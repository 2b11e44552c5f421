package httpapi_test

import (
	"net"
	"syscall"
	"testing"

	"herbarium/internal/httpapi/connection"
)

// recorded records the connections that it accepts.
type recorded struct {
	net.Listener
	accepted chan *net.TCPConn
}

func (l *recorded) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.accepted <- c.(*net.TCPConn)
	}
	return c, err
}

// TestSendBuffer checks that the kernel buffers little for a slow client. The progress of a steady
// reader is detected when a third of the buffer is free: with a large buffer, it looks stalled.
func TestSendBuffer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	under := &recorded{l, make(chan *net.TCPConn, 1)}
	dial(t, l.Addr().String())
	if _, err := connection.Listener(under, 0).Accept(); err != nil {
		t.Fatal(err)
	}
	raw, err := (<-under.accepted).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	const largest = 1 << 20
	if err := raw.Control(func(fd uintptr) {
		size, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF)
		// 16 KiB is the initial size of an automatically sized buffer.
		if err != nil || size > largest || size <= 64<<10 {
			t.Errorf("the send buffer has %d bytes, %v; want a fixed size of at most %d", size, err, largest)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
