package httpapi

import (
	"bytes"
	"io"
	"strconv"
	"strings"
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

// header returns the value of Content-Encoding.
func (c coding) header() string {
	if c == codingZstd {
		return "zstd"
	}
	return "gzip"
}

// chooseCoding returns the coding with the highest weight in Accept-Encoding, and zstd before gzip if the weights are
// equal. Identity is always acceptable unless excluded, but never preferred by default.
func chooseCoding(headers []string) coding { return weigh(headers).best() }

// codingWeights is the weight of each coding in thousandths.
type codingWeights [codings]int

func (w codingWeights) best() coding {
	best := identity
	for c := codingGzip; c < codings; c++ {
		if w[c] > 0 && w[c] >= w[best] {
			best = c
		}
	}
	return best
}

// weigh parses Accept-Encoding.
func weigh(headers []string) codingWeights {
	const unsaid = -1
	weights := codingWeights{unsaid, unsaid, unsaid}
	rest := unsaid // the weight of *
	for _, header := range headers {
		for header != "" {
			var item string
			item, header, _ = strings.Cut(header, ",")
			name, params, _ := strings.Cut(item, ";")
			weight := parseWeight(params)
			switch strings.ToLower(strings.Trim(name, " \t")) {
			case "zstd":
				weights[codingZstd] = weight
			case "gzip", "x-gzip":
				weights[codingGzip] = weight
			case "identity":
				weights[identity] = weight
			case "*":
				rest = weight
			}
		}
	}
	for c := range weights {
		if weights[c] == unsaid {
			weights[c] = max(rest, 0)
		}
	}
	return weights
}

// parseWeight parses the parameters of a coding. It returns the weight in thousandths: 1000 if none is given, 0 if it
// is invalid.
func parseWeight(params string) int {
	name, value, ok := strings.Cut(strings.Trim(params, " \t"), "=")
	if !ok || !strings.EqualFold(name, "q") {
		return 1000
	}
	q, err := strconv.ParseFloat(value, 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return int(q * 1000)
}

// compressor pools encoders, which are expensive to create.
type compressor struct {
	zstd *zstd.Encoder // its EncodeAll is safe for concurrent use
	gzip sync.Pool
	// streams pools stream encoders, by coding.
	streams [codings]sync.Pool
}

// zstdWindow is small to limit the memory of encoders; bodies are rarely larger.
const zstdWindow = 256 << 10

func newCompressor() (*compressor, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstdWindow))
	if err != nil {
		return nil, err
	}
	return &compressor{zstd: z}, nil
}

// gzipEncoder is a reusable encoder and its output buffer.
type gzipEncoder struct {
	out bytes.Buffer
	gz  *gzip.Writer
}

// append appends the compressed body to dst. Writing to memory cannot fail.
func (c *compressor) append(dst []byte, to coding, body []byte) []byte {
	if to == codingZstd {
		return c.zstd.EncodeAll(body, dst)
	}
	e, ok := c.gzip.Get().(*gzipEncoder)
	if !ok {
		e = &gzipEncoder{}
		e.gz, _ = gzip.NewWriterLevel(&e.out, gzip.BestSpeed)
	}
	e.out.Reset()
	e.gz.Reset(&e.out)
	_, _ = e.gz.Write(body)
	_ = e.gz.Close()
	dst = append(dst, e.out.Bytes()...)
	if e.out.Cap() <= maxKeptBuffer {
		c.gzip.Put(e)
	}
	return dst
}

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
	encoder, ok := c.streams[to].Get().(streamEncoder)
	if !ok {
		var err error
		if encoder, err = newStreamEncoder(to); err != nil {
			return nil, err
		}
	}
	encoder.Reset(w)
	return &pooledStream{encoder, &c.streams[to]}, nil
}

func newStreamEncoder(to coding) (streamEncoder, error) {
	if to == codingZstd {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstdWindow),
			zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
	}
	return gzip.NewWriterLevel(nil, gzip.BestSpeed)
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
