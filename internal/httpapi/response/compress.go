package response

import (
	"io"
	"slices"
	"sync"

	"github.com/golang/groupcache/lru"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// minCompress is the minimum size of a body to compress.
const minCompress = 128

// coding is a content coding, in ascending order of preference.
type coding int

const (
	Identity coding = iota
	codingGzip
	codingZstd
	codings // number of codings
)

// String returns the value of Content-Encoding.
func (c coding) String() string { return [...]string{"identity", "gzip", "zstd"}[c] }

// encoderSize returns the memory of an encoder in bytes, as measured.
func (c coding) encoderSize() int64 { return [...]int64{0, 800 << 10, 1700 << 10}[c] }

// compressor pools encoders, which are expensive to create.
type compressor struct{ pools [codings]sync.Pool } // of streamEncoder

// streamEncoder compresses a stream with constant memory.
type streamEncoder interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// zstdWindow is small to limit the memory of encoders; bodies are rarely larger.
const zstdWindow = 256 << 10

// newCompressor returns a compressor at the fastest level that halves the size of a page. Creating
// an encoder fails only with invalid options.
func newCompressor() *compressor {
	c := &compressor{}
	c.pools[codingGzip].New = func() any {
		encoder, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		return encoder
	}
	c.pools[codingZstd].New = func() any {
		encoder, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstdWindow),
			zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
		return encoder
	}
	return c
}

// stream returns a writer that compresses to w. finish ends the stream and returns the encoder to
// the pool.
func (c *compressor) stream(to coding, w io.Writer) (out io.Writer, finish func() error) {
	if to == Identity {
		return w, func() error { return nil }
	}
	encoder := c.pools[to].Get().(streamEncoder)
	encoder.Reset(w)
	return encoder, func() error {
		err := encoder.Close()
		encoder.Reset(nil) // do not retain the response
		c.pools[to].Put(encoder)
		return err
	}
}

// bodyCacheSize is the maximum size of all cached bodies. A compressed page of 25 records has about
// 3 KiB.
const bodyCacheSize = 16 << 20

// bodyKey identifies a compressed body.
type bodyKey struct {
	tag    string // entity tag that determines the content
	coding coding
}

// bodyCache caches the compressed bodies that were used last, up to a number of bytes. It is safe
// for concurrent use.
type bodyCache struct {
	limit      int // in bytes
	entryLimit int // of a body, in bytes

	mu     sync.Mutex
	bodies *lru.Cache
	size   int // in bytes
}

func newBodyCache(limit int) *bodyCache {
	c := &bodyCache{limit: limit, entryLimit: limit / 16, bodies: lru.New(0)} // eviction is by bytes, not by number
	c.bodies.OnEvicted = func(_ lru.Key, body any) { c.size -= cachedSize(body.([]byte)) }
	return c
}

// cachedSize returns the size of a cached body with its key and its elements of the list and the
// map.
func cachedSize(body []byte) int { return len(body) + 256 }

// get returns a cached body, or nil if there is none. The caller must not modify it.
func (c *bodyCache) get(key bodyKey) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, _ := c.bodies.Get(key)
	cached, _ := body.([]byte)
	return cached
}

// add adds a copy of a body, unless it is too large.
func (c *bodyCache) add(key bodyKey, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.bodies.Get(key); ok || len(body) > c.entryLimit { // another request has added it
		return
	}
	c.bodies.Add(key, slices.Clone(body))
	for c.size += cachedSize(body); c.size > c.limit; {
		c.bodies.RemoveOldest()
	}
}

// CachedBody returns the body with an entity tag that CacheBody added; nil if there is none.
func (w *Writer) CachedBody(tag string) []byte { return w.shared.bodies.get(bodyKey{tag, Identity}) }

// CacheBody adds a body that takes long to make, such as an image, to the cache of bodies. A body
// with the same entity tag never differs.
func (w *Writer) CacheBody(tag string, body []byte) {
	w.shared.bodies.add(bodyKey{tag, Identity}, body)
}
