package ingest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/bitpacked"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	meta "github.com/parquet-go/parquet-go/format"
)

// parquetValue is one value of a leaf with its levels. data is nil for null, else the value in little-endian byte order; a
// boolean has one byte.
type parquetValue struct {
	rep, def uint8
	data     []byte
}

func (v parquetValue) isNull() bool   { return v.data == nil }
func (v parquetValue) uint32() uint32 { return binary.LittleEndian.Uint32(v.data) }
func (v parquetValue) uint64() uint64 { return binary.LittleEndian.Uint64(v.data) }

// physicalType is how the values of a leaf are stored.
type physicalType struct {
	kind  meta.Type
	width int // of a value in bytes; 0 for booleans and byte arrays
}

func physicalTypeOf(kind meta.Type, length int) (physicalType, error) {
	switch kind {
	case meta.Boolean, meta.ByteArray:
		return physicalType{kind, 0}, nil
	case meta.Int32, meta.Float:
		return physicalType{kind, 4}, nil
	case meta.Int64, meta.Double:
		return physicalType{kind, 8}, nil
	case meta.Int96:
		return physicalType{kind, 12}, nil
	case meta.FixedLenByteArray:
		if length > 0 {
			return physicalType{kind, length}, nil
		}
	}
	return physicalType{}, fmt.Errorf("unsupported physical type %s of length %d", kind, length)
}

// parquetValues are the decoded values of a page or a dictionary, without nulls.
type parquetValues struct {
	data   []byte
	width  int      // of each value; 0 if there are ends, or if data is a bitmap of booleans
	starts []uint32 // of byte arrays
	ends   []uint32
	count  int
}

// at returns a value. It is not nil.
func (v *parquetValues) at(i int) []byte {
	switch {
	case v.ends != nil:
		return v.data[v.starts[i]:v.ends[i]:v.ends[i]]
	case v.width > 0:
		return v.data[i*v.width : (i+1)*v.width : (i+1)*v.width]
	default:
		return booleanBytes[v.data[i/8]>>(i%8)&1][:]
	}
}

var booleanBytes = [2][1]byte{{0}, {1}}

// decodeValues decodes at most n values. A page may have fewer bytes than its header claims; the caller compares the counts.
func decodeValues(t physicalType, encoding meta.Encoding, src []byte, n int) (*parquetValues, error) {
	v := &parquetValues{data: src, width: t.width}
	switch {
	case encoding == meta.Plain && t.kind == meta.ByteArray:
		return v, v.splitPlain(n)
	case encoding == meta.Plain && t.kind == meta.Boolean:
		v.count = len(src) * 8
		return v, nil
	case encoding == meta.Plain:
		v.count = len(src) / t.width
		return v, nil
	case encoding == meta.RLE && t.kind == meta.Boolean:
		return v, v.decodeBooleans(src, n)
	case encoding == meta.ByteStreamSplit && t.width > 0:
		v.count = len(src) / t.width
		v.data = make([]byte, v.count*t.width)
		for i := range v.data {
			v.data[i] = src[i%t.width*v.count+i/t.width]
		}
		return v, nil
	case encoding == meta.DeltaBinaryPacked && (t.kind == meta.Int32 || t.kind == meta.Int64),
		encoding == meta.DeltaLengthByteArray && t.kind == meta.ByteArray,
		encoding == meta.DeltaByteArray && (t.kind == meta.ByteArray || t.kind == meta.FixedLenByteArray):
		if err := checkDelta(src, n); err != nil {
			return nil, err
		}
		return v, v.decodeDelta(t, encoding, src)
	}
	return nil, fmt.Errorf("unsupported encoding %s of %s", encoding, t.kind)
}

// splitPlain finds the byte arrays in data, each of which follows its length.
func (v *parquetValues) splitPlain(n int) error {
	v.starts, v.ends = make([]uint32, 0, min(n, len(v.data)/4)), make([]uint32, 0, min(n, len(v.data)/4))
	for at := 0; v.count < n && at < len(v.data); v.count++ {
		if len(v.data)-at < 4 {
			return io.ErrUnexpectedEOF
		}
		length := int64(binary.LittleEndian.Uint32(v.data[at:]))
		if at += 4; length > int64(len(v.data)-at) {
			return io.ErrUnexpectedEOF
		}
		v.starts = append(v.starts, uint32(at))
		at += int(length)
		v.ends = append(v.ends, uint32(at))
	}
	return nil
}

func (v *parquetValues) decodeBooleans(src []byte, n int) (err error) {
	if len(src) < 4 || int64(binary.LittleEndian.Uint32(src)) > int64(len(src)-4) {
		return io.ErrUnexpectedEOF
	}
	if err := checkRuns(src[4:][:binary.LittleEndian.Uint32(src)], 1, n); err != nil {
		return err
	}
	v.data, err = new(rle.Encoding).DecodeBoolean(nil, src)
	v.count = len(v.data) * 8
	return err
}

func (v *parquetValues) decodeDelta(t physicalType, encoding meta.Encoding, src []byte) (err error) {
	v.data = nil
	switch {
	case t.kind == meta.Int32:
		var ints []int32
		ints, err = new(delta.BinaryPackedEncoding).DecodeInt32(nil, src)
		for _, i := range ints {
			v.data = binary.LittleEndian.AppendUint32(v.data, uint32(i))
		}
		v.count = len(ints)
	case t.kind == meta.Int64:
		var ints []int64
		ints, err = new(delta.BinaryPackedEncoding).DecodeInt64(nil, src)
		for _, i := range ints {
			v.data = binary.LittleEndian.AppendUint64(v.data, uint64(i))
		}
		v.count = len(ints)
	case t.kind == meta.FixedLenByteArray:
		v.data, err = new(delta.ByteArrayEncoding).DecodeFixedLenByteArray(nil, src, t.width)
		v.count = len(v.data) / t.width
	default:
		var offsets []uint32
		if encoding == meta.DeltaByteArray {
			v.data, offsets, err = new(delta.ByteArrayEncoding).DecodeByteArray(nil, src, nil)
		} else {
			v.data, offsets, err = new(delta.LengthByteArrayEncoding).DecodeByteArray(nil, src, nil)
		}
		if len(offsets) == 0 {
			offsets = []uint32{0}
		}
		v.starts, v.ends, v.count = offsets[:len(offsets)-1], offsets[1:], len(offsets)-1
	}
	return err
}

// errTooMany says that encoded data would expand to more values than the header of its page announces. The library
// allocates memory for whatever the data claims.
var errTooMany = errors.New("a page has more values than it announces")

// checkDelta reads the number of values from the header of delta-encoded data.
func checkDelta(src []byte, n int) error {
	for range 2 { // the size of a block and its number of parts
		_, size := binary.Uvarint(src)
		if size <= 0 {
			return io.ErrUnexpectedEOF
		}
		src = src[size:]
	}
	count, size := binary.Uvarint(src)
	if size <= 0 {
		return io.ErrUnexpectedEOF
	}
	if count > uint64(n) {
		return errTooMany
	}
	return nil
}

// checkRuns checks that run-length encoded data does not expand to more than n values and the padding of the last run.
func checkRuns(src []byte, width, n int) error {
	total := uint64(0)
	for len(src) > 0 {
		header, size := binary.Uvarint(src)
		if size <= 0 {
			return io.ErrUnexpectedEOF
		}
		src = src[size:]
		count, bytes := header>>1, uint64(width+7)/8
		if header&1 != 0 { // groups of eight packed values
			count, bytes = min(count, uint64(n))*8, min(count, uint64(n))*uint64(width)
		}
		if total += count; total > uint64(n)+7 {
			return errTooMany
		}
		src = src[min(bytes, uint64(len(src))):]
	}
	return nil
}

// decodeLevels decodes n levels up to limit.
func decodeLevels(encoding meta.Encoding, src []byte, limit uint8, n int) (levels []uint8, err error) {
	width := bits.Len8(limit)
	switch encoding {
	case meta.RLE:
		if err := checkRuns(src, width, n); err != nil {
			return nil, err
		}
		levels, err = (&rle.Encoding{BitWidth: width}).DecodeLevels(nil, src)
	case meta.BitPacked:
		levels, err = (&bitpacked.Encoding{BitWidth: width}).DecodeLevels(nil, src)
	default:
		return nil, fmt.Errorf("unsupported encoding %s of levels", encoding)
	}
	if err != nil {
		return nil, err
	}
	if len(levels) < n {
		return nil, io.ErrUnexpectedEOF
	}
	levels = levels[:n]
	for _, l := range levels {
		if l > limit {
			return nil, errLevels
		}
	}
	return levels, nil
}

// decodeIndexes decodes n indexes into a dictionary.
func decodeIndexes(src []byte, n, size int) ([]int32, error) {
	if n == 0 {
		return nil, nil
	}
	if len(src) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	width := int(src[0])
	if width > 32 {
		return nil, fmt.Errorf("indexes of %d bits", width)
	}
	if err := checkRuns(src[1:], width, n); err != nil {
		return nil, err
	}
	indexes, err := (&rle.Encoding{BitWidth: width}).DecodeInt32(nil, src[1:])
	if err != nil {
		return nil, err
	}
	if len(indexes) < n {
		return nil, io.ErrUnexpectedEOF
	}
	indexes = indexes[:n]
	for _, i := range indexes {
		if i < 0 || int(i) >= size {
			return nil, errors.New("an index is outside the dictionary")
		}
	}
	return indexes, nil
}
