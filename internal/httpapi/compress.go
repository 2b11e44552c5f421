package httpapi

import (
	"errors"
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
	identity coding = iota
	codingGzip
	codingZstd
	codings // number of codings
)

// String returns the value of Content-Encoding.
func (c coding) String() string { return [...]string{"identity", "gzip", "zstd"}[c] }

// compressor pools encoders, which are expensive to create.
type compressor struct{ pools [codings]sync.Pool } // of streamEncoder

// streamEncoder compresses a stream with constant memory.
type streamEncoder interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// stream returns a writer that compresses to w. Close ends the stream and returns the encoder to the pool.
func (c *compressor) stream(to coding, w io.Writer) (io.WriteCloser, error) {
	if to == identity {
		return uncompressed{w}, nil
	}
	encoder, ok := c.pools[to].Get().(streamEncoder)
	if !ok {
		var err error
		if encoder, err = newStreamEncoder(to); err != nil {
			return nil, err
		}
	}
	encoder.Reset(w)
	return &pooledStream{encoder, &c.pools[to]}, nil
}

// zstdWindow is small to limit the memory of encoders; bodies are rarely larger.
const zstdWindow = 256 << 10

// newStreamEncoder returns an encoder at the fastest level that halves the size of a page.
func newStreamEncoder(to coding) (streamEncoder, error) {
	if to == codingZstd {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstdWindow),
			zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
	}
	return gzip.NewWriterLevel(nil, gzip.BestSpeed)
}

func (c *compressor) encode(w io.Writer, to coding, body []byte) error {
	out, err := c.stream(to, w)
	if err != nil {
		return err
	}
	_, err = out.Write(body)
	return errors.Join(err, out.Close())
}

// pooledStream returns its encoder to the pool when closed.
type pooledStream struct {
	streamEncoder
	pool *sync.Pool
}

// Close ends the stream.
func (s *pooledStream) Close() error {
	err := s.streamEncoder.Close()
	s.Reset(nil) // do not retain the response
	s.pool.Put(s.streamEncoder)
	return err
}

// uncompressed is the writer without compression.
type uncompressed struct{ io.Writer }

func (uncompressed) Close() error { return nil }

// bodyCacheSize is the maximum size of all cached bodies. A compressed page of 25 records has about 3 KiB.
const bodyCacheSize = 16 << 20

// bodyKey identifies a compressed body.
type bodyKey struct {
	tag    string // entity tag that determines the content
	coding coding
}

// bodyCache caches the compressed bodies that were used last, up to a number of bytes. It is safe for concurrent use.
type bodyCache struct {
	limit int // in bytes

	mu     sync.Mutex
	bodies *lru.Cache
	size   int // in bytes
}

func newBodyCache(limit int) *bodyCache {
	c := &bodyCache{limit: limit, bodies: lru.New(0)} // eviction is by bytes, not by number
	c.bodies.OnEvicted = func(_ lru.Key, body any) { c.size -= cachedSize(body.([]byte)) }
	return c
}

// cachedSize returns the size of a cached body with its key and its elements of the list and the map.
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
	if _, ok := c.bodies.Get(key); ok || len(body) > c.limit/16 { // another request has added it
		return
	}
	c.bodies.Add(key, slices.Clone(body))
	for c.size += cachedSize(body); c.size > c.limit; {
		c.bodies.RemoveOldest()
	}
}
