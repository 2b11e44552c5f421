package response

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestBodyCache_limit(t *testing.T) {
	t.Parallel()
	c := newBodyCache(16 << 10)
	key := func(i int) bodyKey { return bodyKey{strconv.Itoa(i), codingGzip} }
	body := bytes.Repeat([]byte("x"), 1000)
	for i := range 100 {
		c.add(key(i), body)
		if c.get(key(0)) == nil { // keeps it the most recently used
			t.Fatalf("body 0 was evicted after %d others", i)
		}
		if n := c.bodies.Len() * cachedSize(body); n > c.limit || n != c.size {
			t.Fatalf("%d bodies have %d bytes, %d are counted", i+1, n, c.size)
		}
	}
	last := 100 - c.limit/cachedSize(body) + 1 // the least recently used one that is cached, besides body 0
	if c.get(key(last-1)) != nil || !bytes.Equal(c.get(key(last)), body) {
		t.Error("the cached bodies are not the most recently used ones")
	}
	body[0] = 'y'
	if c.get(key(99))[0] != 'x' {
		t.Error("the body is not a copy")
	}
	c.add(bodyKey{"large", codingGzip}, bytes.Repeat(body, 2))
	if c.get(bodyKey{"large", codingGzip}) != nil {
		t.Error("a large body was cached")
	}
}

// TestCompressor_chunks checks that a large write is compressed in chunks, because a client that
// stops reading is detected between two of them, and so that memory does not depend on the size of
// a record.
func TestCompressor_chunks(t *testing.T) {
	t.Parallel()
	large := make([]byte, 4<<20)
	for i := range large {
		large[i] = byte(rand.Uint32())
	}
	for _, to := range []coding{codingGzip, codingZstd} {
		sizes := &writeSizes{}
		out, _ := newCompressor().stream(to, sizes)
		if _, err := out.Write(large); err != nil || sizes.total < len(large)*9/10 || sizes.most > 2*StreamChunk {
			t.Errorf("%s: %v, %d bytes in writes of up to %d", to, err, sizes.total, sizes.most)
		}
	}
}

// writeSizes records the sizes of writes.
type writeSizes struct{ total, most int }

func (s *writeSizes) Write(p []byte) (int, error) {
	s.total += len(p)
	s.most = max(s.most, len(p))
	return len(p), nil
}
