package export

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"io"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// ChunkSize is the number of bytes per write, except for the last one.
const ChunkSize = 64 << 10

// Summary describes what was written.
type Summary struct {
	Rows   int // records, without the header
	Bytes  int64
	Digest string // of the bytes, in the format of Digest
}

// Digest formats a SHA-256 hash as in the digest fields of RFC 9530.
func Digest(h hash.Hash) string {
	return "sha-256=:" + base64.StdEncoding.EncodeToString(h.Sum(nil)) + ":"
}

// Write writes all records of a stream. It fails if their number differs from the total of the stream, so that a
// truncated result is never taken for a complete one.
func Write(w io.Writer, f Format, fields []herb.Field, s query.Stream) (Summary, error) {
	out := &sink{w: w, buf: make([]byte, 0, ChunkSize), hash: sha256.New()}
	var record func(rec []byte) error
	finish := func() error { return nil }
	switch f {
	case CSV:
		c := csvWriter{out: out, decoder: herb.NewRecordDecoder(fields), fields: len(fields)}
		c.header(fields)
		record = c.record
	case NDJSON:
		record = out.line
	case XLSX:
		sheet, err := newSheetWriter(out, fields)
		if err != nil {
			return Summary{}, err
		}
		record, finish = sheet.record, sheet.close
	default:
		return Summary{}, fmt.Errorf("export: unknown format %q", f)
	}
	rows := 0
	for rec, err := range s.Records {
		if err == nil && rows == s.Total {
			err = fmt.Errorf("export: stream has more than the announced %d records", s.Total)
		}
		if err == nil {
			err = record(rec)
		}
		if err == nil {
			err = out.err
		}
		if err != nil {
			return Summary{}, err
		}
		rows++
	}
	if rows < s.Total {
		return Summary{}, fmt.Errorf("export: stream ended after %d of %d records", rows, s.Total)
	}
	if err := finish(); err != nil {
		return Summary{}, err
	}
	if out.flush(); out.err != nil {
		return Summary{}, out.err
	}
	return Summary{Rows: rows, Bytes: out.bytes, Digest: Digest(out.hash)}, nil
}

// sink buffers writes into chunks. After an error it discards everything.
type sink struct {
	w     io.Writer
	buf   []byte
	hash  hash.Hash
	bytes int64
	err   error
}

// Write implements io.Writer.
func (s *sink) Write(p []byte) (int, error) {
	s.write(p)
	return len(p), s.err
}

func (s *sink) write(p []byte) {
	for {
		n := copy(s.buf[len(s.buf):cap(s.buf)], p)
		s.buf = s.buf[:len(s.buf)+n]
		if p = p[n:]; len(p) == 0 {
			return
		}
		s.flush()
	}
}

func (s *sink) byte(b byte) {
	if len(s.buf) == cap(s.buf) {
		s.flush()
	}
	s.buf = append(s.buf, b)
}

// line writes a record as an NDJSON line.
func (s *sink) line(rec []byte) error {
	s.write(rec)
	s.byte('\n')
	return nil
}

func (s *sink) flush() {
	if s.err == nil && len(s.buf) > 0 {
		s.hash.Write(s.buf)
		s.bytes += int64(len(s.buf))
		_, s.err = s.w.Write(s.buf)
	}
	s.buf = s.buf[:0]
}
