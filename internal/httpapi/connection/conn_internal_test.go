package connection

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"herbarium/internal/must"
)

// recordingConn records what is written to it.
type recordingConn struct {
	net.Conn
	writes []string
}

func (c *recordingConn) Write(p []byte) (int, error) {
	c.writes = append(c.writes, string(p))
	return len(p), nil
}

// TestWriteBody checks when the header of a response waits for its body, and that nothing is lost
// or sent in another order.
func TestWriteBody(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("b", 3*writeBuffer)
	for _, tt := range []struct {
		name   string
		size   int
		writes []string
		before int // writes to the connection before the last one
	}{
		{"small body", 10, []string{"header", "body"}, 1},
		{"large body", len(large), []string{"header and start", large}, 0},
		{"large body that is written at once", len(large), []string{large}, 0},
		{"large body in pieces", len(large), []string{"header", large, "end"}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			to := &recordingConn{}
			c := &Conn{Conn: to, listener: &listener{}}
			ctx := withConn(context.Background(), c)
			before := 0
			for range 2 { // requests of a connection
				to.writes = nil
				must.NoError(t, WriteBody(ctx, tt.size, func() error {
					for _, p := range tt.writes {
						before = len(to.writes)
						p := []byte(p)
						n, err := c.Write(p)
						if n != len(p) || err != nil {
							t.Errorf("wrote %d of %d bytes, %v", n, len(p), err)
						}
						clear(p) // net/http uses the buffer again
					}
					return nil
				}))
				if got := strings.Join(to.writes, ""); got != strings.Join(tt.writes, "") || before != tt.before {
					t.Errorf("%d bytes were written, %d writes before the last", len(got), before)
				}
			}
		})
	}
}

// TestWriteBody_tcp checks that both parts arrive over TCP.
func TestWriteBody_tcp(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	wrapped := Listener(l, 1)
	defer wrapped.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	must.NoError(t, err)
	defer client.Close()
	c, err := wrapped.Accept()
	must.NoError(t, err)
	header, body := []byte("header"), bytes.Repeat([]byte("b"), 2*writeBuffer)
	must.NoError(t, WriteBody(withConn(t.Context(), c), len(body), func() error {
		_, err := c.Write(header)
		if err == nil {
			_, err = c.Write(body)
		}
		return err
	}))
	must.NoError(t, c.Close())
	got, err := io.ReadAll(client)
	if want := append(header, body...); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived, want %d: %v", len(got), len(want), err)
	}
}
