package httpapi

import (
	"bytes"
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
		if c.size > c.limit || len(c.elements) != c.order.Len() {
			t.Fatalf("%d bytes, %d and %d elements", c.size, len(c.elements), c.order.Len())
		}
	}
	if c.get(key(1)) != nil || !bytes.Equal(c.get(key(99)), body) || len(c.elements) != c.limit/entrySize(body) {
		t.Errorf("%d elements, not the most recently used ones", len(c.elements))
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
