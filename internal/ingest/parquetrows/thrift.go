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
	check := thriftCheck{src: b}
	if err := check.value(thrift.STRUCT, 0); err != nil {
		return 0, err
	}
	n = len(b) - len(check.src)
	return n, rows.Guard("the metadata of the Parquet file", func() error {
		protocol := thrift.CompactProtocol{}
		return thrift.NewDecoder(protocol.NewReaderFromBytes(b[:n])).Decode(v)
	})
}

// thriftCheck reads values in the compact protocol without decoding them.
type thriftCheck struct {
	src      []byte // what has not been read
	elements uint64
}

func (c *thriftCheck) skip(n uint64) error {
	if n > uint64(len(c.src)) {
		return io.ErrUnexpectedEOF
	}
	c.src = c.src[n:]
	return nil
}

func (c *thriftCheck) varint() (uint64, error) {
	v, n := binary.Uvarint(c.src)
	if n <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	c.src = c.src[n:]
	return v, nil
}

// types reads a byte with two numbers of four bits, which are types or small sizes.
func (c *thriftCheck) types() (first, second thrift.Type, err error) {
	if len(c.src) == 0 {
		return 0, 0, io.ErrUnexpectedEOF
	}
	b := c.src[0]
	c.src = c.src[1:]
	return thrift.Type(b >> 4), thrift.Type(b & 15), nil
}

// value reads a value of a type.
func (c *thriftCheck) value(t thrift.Type, depth int) error {
	if depth > maxMetadataDepth {
		return errors.New("structures are nested too deeply")
	}
	switch t {
	case thrift.TRUE, thrift.FALSE, thrift.I8:
		return c.skip(1)
	case thrift.I16, thrift.I32, thrift.I64:
		_, err := c.varint()
		return err
	case thrift.DOUBLE:
		return c.skip(8)
	case thrift.UUID:
		return c.skip(16)
	case thrift.BINARY:
		n, err := c.varint()
		if err != nil {
			return err
		}
		return c.skip(n)
	case thrift.STRUCT:
		return c.fields(depth)
	case thrift.LIST, thrift.SET:
		size, element, err := c.types()
		n := uint64(size)
		if n == 15 && err == nil {
			n, err = c.varint()
		}
		if err != nil {
			return err
		}
		return c.items(n, depth, element)
	case thrift.MAP:
		n, err := c.varint()
		if n == 0 || err != nil {
			return err
		}
		key, element, err := c.types()
		if err != nil {
			return err
		}
		return c.items(n, depth, key, element)
	}
	return errors.New("a value has an unknown type")
}

// fields reads the fields of a structure.
func (c *thriftCheck) fields(depth int) error {
	for {
		delta, t, err := c.types()
		if err != nil || t == thrift.STOP {
			return err
		}
		if delta == 0 { // the number of the field follows
			if _, err := c.varint(); err != nil {
				return err
			}
		}
		if t == thrift.TRUE || t == thrift.FALSE {
			continue // the type is the value
		}
		if err := c.value(t, depth+1); err != nil {
			return err
		}
	}
}

// items reads n items of a list, set or map.
func (c *thriftCheck) items(n uint64, depth int, types ...thrift.Type) error {
	if c.elements += min(n, maxMetadataElements+1); c.elements > maxMetadataElements {
		return errors.New("there are too many elements in lists")
	}
	for range n {
		for _, t := range types {
			if err := c.value(t, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
