package blobs

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestStallConn reads from a peer that sends a byte whenever it receives one. The time is that of
// synctest.
func TestStallConn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, peer := net.Pipe()
		defer client.Close()
		defer peer.Close()
		conn := &stallConn{client, time.Second}
		echo := func() {
			b := make([]byte, 1)
			if _, err := peer.Read(b); err != nil {
				t.Error(err)
			}
			if _, err := peer.Write(b); err != nil {
				t.Error(err)
			}
		}
		b := make([]byte, 1)
		for range 2 {
			go echo()
			if _, err := conn.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute) // a slow consumer is not a stall
			if _, err := conn.Read(b); err != nil {
				t.Fatal(err)
			}
		}

		// A write extends the read that waits for the response.
		start := time.Now()
		go func() {
			time.Sleep(900 * time.Millisecond)
			go func() {
				if _, err := peer.Read(make([]byte, 1)); err != nil {
					t.Error(err)
				}
			}()
			if _, err := conn.Write([]byte("x")); err != nil {
				t.Error(err)
			}
		}()
		_, err := conn.Read(b)
		if took := time.Since(start); !errors.Is(err, os.ErrDeadlineExceeded) || took != 1900*time.Millisecond {
			t.Errorf("reading from a silent peer: %v after %s", err, took)
		}
	})
}
