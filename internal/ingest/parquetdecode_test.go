package ingest

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"

	meta "github.com/parquet-go/parquet-go/format"
)

// TestParquetDecode_bounds decodes small pages that claim to hold very many values. Decoding must not allocate memory for them.
func TestParquetDecode_bounds(t *testing.T) {
	t.Parallel()
	run := append(binary.AppendUvarint(nil, 1<<31), 1)      // one value, repeated 2^30 times
	packed := append(binary.AppendUvarint(nil, 1<<31|1), 1) // 2^30 groups of eight values
	deltas := []byte{128, 1, 4}                             // blocks of 128 values in four parts
	deltas = append(binary.AppendUvarint(deltas, 1<<30), 0)
	prefixed := append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
	bytes := physicalType{kind: meta.ByteArray}
	for _, c := range []struct {
		name   string
		decode func() error
		want   error
	}{
		{"levels", func() error { _, err := decodeLevels(meta.RLE, run, 1, 10); return err }, errTooMany},
		{"packed levels", func() error { _, err := decodeLevels(meta.RLE, packed, 1, 10); return err }, errTooMany},
		{"too few levels", func() error { _, err := decodeLevels(meta.RLE, nil, 1, 10); return err }, io.ErrUnexpectedEOF},
		{"level above the limit", func() error { _, err := decodeLevels(meta.RLE, []byte{2 << 1, 3}, 2, 2); return err }, errLevels},
		{"indexes", func() error { _, err := decodeIndexes(append([]byte{8}, run...), 10, 5); return err }, errTooMany},
		{"no indexes", func() error { _, err := decodeIndexes(nil, 10, 5); return err }, io.ErrUnexpectedEOF},
		{"booleans", func() error {
			_, err := decodeValues(physicalType{kind: meta.Boolean}, meta.RLE, prefixed, 10)
			return err
		}, errTooMany},
		{"delta", func() error {
			_, err := decodeValues(physicalType{meta.Int64, 8}, meta.DeltaBinaryPacked, deltas, 10)
			return err
		}, errTooMany},
		{"delta lengths", func() error { _, err := decodeValues(bytes, meta.DeltaLengthByteArray, deltas, 10); return err }, errTooMany},
		{"delta texts", func() error { _, err := decodeValues(bytes, meta.DeltaByteArray, deltas, 10); return err }, errTooMany},
		{"text longer than the page", func() error {
			_, err := decodeValues(bytes, meta.Plain, []byte{255, 255, 255, 255, 'a'}, 1)
			return err
		}, io.ErrUnexpectedEOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := c.decode(); !errors.Is(err, c.want) {
				t.Errorf("the error is %v, want %v", err, c.want)
			}
		})
	}
}
