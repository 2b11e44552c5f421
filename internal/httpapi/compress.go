package httpapi

import (
	"errors"
	"io"
	"slices"
	"sync"

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

// bodyCache caches compressed bodies in two generations: when the recent one is full, it becomes the old one, whose bodies
// are evicted with it unless they are used. It is safe for concurrent use.
type bodyCache struct {
	limit int // of both generations, in bytes

	mu          sync.Mutex
	recent, old map[bodyKey][]byte
	size        int // of recent, in bytes
}

// get returns a cached body, or nil if there is none. The caller must not modify it.
func (c *bodyCache) get(key bodyKey) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, ok := c.recent[key]
	if !ok {
		if body, ok = c.old[key]; ok {
			c.insert(key, body)
		}
	}
	return body
}

// add adds a copy of a body that get has not returned, unless it is too large.
func (c *bodyCache) add(key bodyKey, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, cached := c.recent[key] // by another request
	if !cached && len(body) <= c.limit/16 {
		c.insert(key, slices.Clone(body))
	}
}

// insert adds a body to the recent generation. The lock must be held.
func (c *bodyCache) insert(key bodyKey, body []byte) {
	entry := len(body) + 256 // with its key and the elements of the maps
	if c.size += entry; c.recent == nil || c.size > c.limit/2 {
		c.old, c.recent, c.size = c.recent, map[bodyKey][]byte{}, entry
	}
	c.recent[key] = body
}
