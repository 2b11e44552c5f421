package parquetrows

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	meta "github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"herbarium/internal/ingest/rows"
)

var errDecompressedSize = errors.New("a page does not have the size that its header declares")

// newZstd returns a decoder for the pages of a file.
func newZstd() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage))
}

// decompress writes a page into dst, which must not grow to more than size bytes.
func decompress(z *zstd.Decoder, codec meta.CompressionCodec, dst, packed []byte, size int) (out []byte, err error) {
	if size < 0 {
		return nil, errDecompressedSize
	}
	dst = dst[:0]
	err = rows.Guard("a page compressed with "+codec.String(), func() error {
		switch codec {
		case meta.Snappy:
			if n, err := snappy.DecodedLen(packed); err != nil || n > size {
				return errors.Join(err, errDecompressedSize)
			}
			out, err = snappy.Decode(dst[:cap(dst)], packed)
		case meta.Gzip:
			var r io.Reader
			if r, err = gzip.NewReader(bytes.NewReader(packed)); err == nil {
				out, err = readAtMost(dst, r, size+1)
			}
		case meta.Brotli:
			out, err = readAtMost(dst, brotli.NewReader(bytes.NewReader(packed)), size+1)
		case meta.Zstd:
			out, err = z.DecodeAll(packed, dst)
		case meta.Lz4:
			if out, err = decodeHadoopLZ4(dst, packed, size); err != nil {
				out, err = decodeLZ4(dst, packed, size) // some writers used this name for it
			}
		case meta.Lz4Raw:
			out, err = decodeLZ4(dst, packed, size)
		}
		return err
	})
	if err == nil && len(out) > size {
		err = errDecompressedSize
	}
	return out, err
}

func readAtMost(dst []byte, r io.Reader, size int) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	_, err := b.ReadFrom(io.LimitReader(r, int64(size)))
	return b.Bytes(), err
}

// decodeLZ4 appends a block of at most size bytes to dst.
func decodeLZ4(dst, packed []byte, size int) ([]byte, error) {
	const maxRatio = 255 // of the format
	size = min(size, maxRatio*(len(packed)+1))
	dst = slices.Grow(dst, size)
	n, err := lz4.UncompressBlock(packed, dst[len(dst):len(dst)+size])
	return dst[:len(dst)+max(n, 0)], err
}

// decodeHadoopLZ4 decodes the older LZ4 framing: blocks, each after its decompressed and its compressed size.
func decodeHadoopLZ4(dst, packed []byte, size int) ([]byte, error) {
	for len(packed) > 0 {
		if len(packed) < 8 {
			return nil, errDecompressedSize
		}
		n, m := binary.BigEndian.Uint32(packed), binary.BigEndian.Uint32(packed[4:])
		packed = packed[8:]
		if uint64(m) > uint64(len(packed)) || uint64(n) > uint64(size-len(dst)) {
			return nil, errDecompressedSize
		}
		out, err := decodeLZ4(dst, packed[:m], int(n))
		if err != nil || len(out) != len(dst)+int(n) {
			return nil, errors.Join(err, errDecompressedSize)
		}
		dst, packed = out, packed[m:]
	}
	return dst, nil
}
