package httpapi

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// counted counts how often the deadline below is moved.
type counted struct {
	net.Conn
	moves int
}

func (c *counted) SetReadDeadline(t time.Time) error {
	c.moves++
	return c.Conn.SetReadDeadline(t)
}

// inBubble runs f with reads on one end of a pipe, on a clock of their own.
func inBubble(t *testing.T, f func(t *testing.T, r *reads, below *counted, peer net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ours, peer := net.Pipe()
		defer ours.Close()
		defer peer.Close()
		below := &counted{Conn: ours}
		f(t, &reads{Conn: below, begun: time.Now()}, below, peer)
	})
}

func deadline(t *testing.T, r *reads, at time.Time) {
	t.Helper()
	if err := r.SetReadDeadline(at); err != nil {
		t.Fatal(err)
	}
}

// outcome is what became of a read, and when.
type outcome struct {
	n     int
	err   error
	after time.Duration
}

func read(r *reads) outcome {
	start := time.Now()
	n, err := r.Read(make([]byte, 8))
	return outcome{n, err, time.Since(start)}
}

// TestReads_likeNetHTTP asks for the deadlines of requests one after the other, of which only the first is set.
func TestReads_likeNetHTTP(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *reads, below *counted, peer net.Conn) {
		for range 5 {
			deadline(t, r, time.Now().Add(2*time.Minute))
			go func() { _, _ = peer.Write([]byte("request")) }()
			if got := read(r); got.n != 7 || got.err != nil {
				t.Fatalf("got %+v; want what was written", got)
			}
			deadline(t, r, time.Now().Add(10*time.Second))
			deadline(t, r, time.Now().Add(30*time.Second))
			deadline(t, r, time.Time{})
			deadline(t, r, time.Unix(1, 0))
			if got := read(r); !errors.Is(got.err, os.ErrDeadlineExceeded) {
				t.Fatalf("got %+v; want a read that is too late", got)
			}
			deadline(t, r, time.Time{})
			time.Sleep(time.Second)
		}
		if below.moves != 1 {
			t.Errorf("the deadline was moved %d times; want once", below.moves)
		}
	})
}

// TestReads_deadlineThatHolds sees that a read ends at the deadline that was asked for last, whatever came before.
func TestReads_deadlineThatHolds(t *testing.T) {
	t.Parallel()
	const never = 0
	for _, tt := range []struct {
		name         string
		before, then time.Duration // never: none
		want         time.Duration
	}{
		{"none, then some", never, time.Minute, time.Minute},
		{"later", time.Second, time.Minute, time.Minute},
		{"earlier", time.Minute, time.Second, time.Second},
		{"the same", time.Minute, time.Minute, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *reads, _ *counted, peer net.Conn) {
				start := time.Now()
				if tt.before != never {
					deadline(t, r, start.Add(tt.before))
				}
				go func() { _, _ = peer.Write([]byte("x")) }()
				read(r)
				deadline(t, r, start.Add(tt.then))
				if got := read(r); !errors.Is(got.err, os.ErrDeadlineExceeded) || got.after != tt.want {
					t.Errorf("got %+v; want a deadline after %s", got, tt.want)
				}
			})
		})
	}
}

// TestReads_underWay moves the deadline of a read that waits already.
func TestReads_underWay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		to   func(time.Time) time.Time
		want outcome
	}{
		{"at once", func(time.Time) time.Time { return time.Unix(1, 0) }, outcome{0, os.ErrDeadlineExceeded, time.Second}},
		{"sooner", func(now time.Time) time.Time { return now.Add(time.Second) }, outcome{0, os.ErrDeadlineExceeded, 2 * time.Second}},
		{"later", func(now time.Time) time.Time { return now.Add(time.Hour) }, outcome{0, os.ErrDeadlineExceeded, time.Hour + time.Second}},
		{"never", func(time.Time) time.Time { return time.Time{} }, outcome{4, nil, 2 * time.Hour}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, r *reads, _ *counted, peer net.Conn) {
				deadline(t, r, time.Now().Add(time.Minute))
				done := make(chan outcome)
				go func() { done <- read(r) }()
				time.Sleep(time.Second)
				deadline(t, r, tt.to(time.Now()))
				if tt.want.err == nil {
					time.Sleep(tt.want.after - time.Second)
					if _, err := peer.Write([]byte("late")); err != nil {
						t.Fatal(err)
					}
				}
				got := <-done
				if got.n != tt.want.n || got.after != tt.want.after || !errors.Is(got.err, tt.want.err) {
					t.Errorf("got %+v; want %+v", got, tt.want)
				}
				deadline(t, r, time.Time{}) // and the next read is as good as the first
				go func() { _, _ = peer.Write([]byte("more")) }()
				if got := read(r); got.n != 4 || got.err != nil {
					t.Errorf("got %+v; want what was written then", got)
				}
			})
		})
	}
}

// TestReads_closed sees that a connection that ended is not read for ever.
func TestReads_closed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, r *reads, _ *counted, peer net.Conn) {
		deadline(t, r, time.Now().Add(time.Minute))
		peer.Close()
		if got := read(r); got.err == nil || got.after != 0 {
			t.Errorf("got %+v; want the end", got)
		}
	})
}
