package parquetrows

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"

	"herbarium/internal/ingest/rows"
)

const (
	maxMetadataDepth    = 32      // levels of nested structures; those of the format have 8
	maxMetadataElements = 1 << 20 // of all lists together, which may have a byte each in the file and 200 in memory
)

// decodeThrift decodes a value and returns the number of bytes that it has. The library recurses for every level of nesting
// and allocates the elements of a list before it reads them, so the structure is checked first.
func decodeThrift(b []byte, v any) (n int, err error) {
	c := thriftCheck{src: b}
	if c.skip(thrift.STRUCT, 0); c.err != nil {
		return 0, c.err
	}
	n = len(b) - len(c.src)
	return n, rows.Guard("the metadata of the Parquet file", func() error {
		protocol := thrift.CompactProtocol{}
		return thrift.NewDecoder(protocol.NewReaderFromBytes(b[:n])).Decode(v)
	})
}

// thriftCheck skips values in the compact protocol.
type thriftCheck struct {
	src      []byte // what has not been read
	elements uint64
	err      error
}

// next returns the next n bytes, or none and sets an error.
func (c *thriftCheck) next(n uint64) (b []byte) {
	if n > uint64(len(c.src)) {
		c.err, c.src, n = io.ErrUnexpectedEOF, nil, 0
	}
	b, c.src = c.src[:n], c.src[n:]
	return b
}

func (c *thriftCheck) varint() uint64 {
	v, n := binary.Uvarint(c.src)
	if n <= 0 {
		n = len(c.src) + 1
	}
	c.next(uint64(n))
	return v
}

// pair reads a byte of two numbers, which are types or small sizes.
func (c *thriftCheck) pair() (first, second thrift.Type) {
	if b := c.next(1); len(b) > 0 {
		first, second = thrift.Type(b[0]>>4), thrift.Type(b[0]&15)
	}
	return first, second
}

// skip skips a value of a type.
func (c *thriftCheck) skip(t thrift.Type, depth int) {
	if depth > maxMetadataDepth {
		c.err = errors.New("structures are nested too deeply")
	}
	if c.err != nil {
		return
	}
	switch t {
	case thrift.TRUE, thrift.FALSE, thrift.I8:
		c.next(1)
	case thrift.I16, thrift.I32, thrift.I64:
		c.varint()
	case thrift.DOUBLE:
		c.next(8)
	case thrift.UUID:
		c.next(16)
	case thrift.BINARY:
		c.next(c.varint())
	case thrift.STRUCT:
		for {
			delta, field := c.pair()
			if delta == 0 && field != thrift.STOP { // the number of the field follows
				c.varint()
			}
			if c.err != nil || field == thrift.STOP {
				return
			}
			if field != thrift.TRUE && field != thrift.FALSE { // which are values themselves
				c.skip(field, depth+1)
			}
		}
	case thrift.LIST, thrift.SET:
		size, element := c.pair()
		n := uint64(size)
		if n == 15 {
			n = c.varint()
		}
		c.skipItems(n, depth, element)
	case thrift.MAP:
		if n := c.varint(); n > 0 {
			key, element := c.pair()
			c.skipItems(n, depth, key, element)
		}
	default:
		c.err = errors.New("a value has an unknown type")
	}
}

// skipItems skips n items of a list, set or map.
func (c *thriftCheck) skipItems(n uint64, depth int, types ...thrift.Type) {
	if c.elements += min(n, maxMetadataElements+1); c.elements > maxMetadataElements {
		c.err = errors.New("there are too many elements in lists")
	}
	for i := uint64(0); i < n && c.err == nil; i++ {
		for _, t := range types {
			c.skip(t, depth+1)
		}
	}
}
