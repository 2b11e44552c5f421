package file

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"slices"

	"github.com/ulikunitz/xz/lzma"

	"herbarium/internal/herb"
)

const (
	// dictionaryPerByte is the number of bytes that the dictionaries of all xz blocks may have
	// together for each stored byte.
	dictionaryPerByte = 500
	freeDictionaries  = 1 << 30
)

// xzReader decodes xz data (https://tukaani.org/xz/xz-file-format.txt): streams of blocks that are
// compressed with LZMA2. An index of the blocks ends a stream.
//
// The xz decoder of the library allocates what the header of a block declares, up to 4 GiB. So the
// headers are read here, and the library decodes only LZMA2, with a dictionary of known size.
type xzReader struct {
	in    *xzInput
	file  *File
	used  int64    // bytes of all dictionaries, each of which is allocated and cleared
	flags []byte   // of the current stream; nil: a stream header follows
	block *xzBlock // nil: the header of a block or the index follows

	blocks uint64    // of the current stream that were decoded
	sizes  hash.Hash // of their sizes, as the index lists them
}

// xzBlock is a block that is decoded.
type xzBlock struct {
	decoder     io.Reader
	start, data int64     // positions of its header and of its compressed data
	declared    [2]uint64 // sizes of the compressed data and of the content; noSize: not declared
	content     uint64    // bytes that were decoded
	check       hash.Hash // of them
}

const noSize = 1<<64 - 1

func newXZReader(in *bufio.Reader, f *File) *xzReader {
	return &xzReader{in: &xzInput{in: in, crc: crc32.NewIEEE()}, file: f}
}

func (x *xzReader) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil && len(p) > 0 {
		switch {
		case x.flags == nil:
			err = x.readStreamHeader()
		case x.block == nil:
			err = x.readBlockHeader()
		default:
			n, err = x.block.decoder.Read(p)
			x.block.content += uint64(n)
			x.block.check.Write(p[:n])
			if err == io.EOF {
				err = x.endBlock()
			}
		}
	}
	return n, err
}

// readStreamHeader reads the header of a stream, or four bytes of padding between streams. The
// error is io.EOF after the last stream.
func (x *xzReader) readStreamHeader() error {
	if _, err := x.in.in.Peek(1); err != nil {
		return err
	}
	magic := x.in.take(4)
	if x.in.position > 4 && string(magic) == "\x00\x00\x00\x00" {
		return x.in.err
	}
	magic = append(magic, x.in.take(2)...)
	x.in.begin()
	flags := x.in.take(2)
	if !x.in.endsWithSum() || string(magic) != "\xFD7zXZ\x00" || flags[0] != 0 || newCheck(flags) == nil {
		return x.in.invalid("stream header")
	}
	x.flags, x.blocks, x.sizes = flags, 0, sha256.New()
	return nil
}

// newCheck returns the checksum of blocks that the flags of a stream declare, nil if it is unknown.
func newCheck(flags []byte) hash.Hash {
	switch flags[1] {
	case 0:
		return noCheck{crc32.NewIEEE()}
	case 1:
		return crc32.NewIEEE()
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA))
	case 10:
		return sha256.New()
	}
	return nil
}

// noCheck is the checksum of a stream without checksums.
type noCheck struct{ hash.Hash }

func (noCheck) Sum(b []byte) []byte { return b }

// readBlockHeader reads the header of a block and creates its decoder. If a zero follows instead of
// the size of a header, it reads the index.
func (x *xzReader) readBlockHeader() error {
	b := &xzBlock{start: x.in.begin(), declared: [2]uint64{noSize, noSize}, check: newCheck(x.flags)}
	size := x.in.take(1)[0]
	if size == 0 {
		return x.readIndex(b.start)
	}
	header := x.in.take(4*int(size) - 1)
	if !x.in.endsWithSum() {
		return x.in.invalid("block header")
	}
	flags, filter := header[0], header[1:]
	for i := range b.declared {
		if flags&(0x40<<i) != 0 {
			value, n := binary.Uvarint(filter)
			b.declared[i], filter = value, filter[max(n, 0):]
		}
	}
	properties, isLZMA2 := bytes.CutPrefix(filter, []byte{0x21, 1}) // the number of the filter, and the size of its properties
	if flags&0x3F != 0 || !isLZMA2 || len(properties) == 0 {
		return x.in.invalid("filter; LZMA2 alone is supported")
	}
	dictionary, err := lzma.DecodeDictCap(properties[0])
	if err != nil {
		return err
	}
	if err := x.allocate(dictionary); err != nil {
		return err
	}
	b.data, x.block = x.in.position, b
	b.decoder, err = lzma.Reader2Config{DictCap: int(dictionary)}.NewReader2(x.in)
	return err
}

// allocate fails if a dictionary is too large, or all dictionaries so far are together.
func (x *xzReader) allocate(dictionary int64) error {
	switch x.used += dictionary; {
	case dictionary > maxWindow:
		x.file.failed = herb.Invalidf("the xz data needs a dictionary of more than %s; compress it again with xz -9 or lower",
			herb.FormatBytes(maxWindow))
	case x.used > max(freeDictionaries, dictionaryPerByte*x.file.Size()):
		x.file.failed = herb.Invalidf("the xz data has too many blocks or streams for its size of %s; compress it again as a whole", herb.FormatBytes(x.file.Size()))
	}
	return x.file.failed
}

// endBlock reads what follows the compressed data of a block: padding, and the checksum of its
// content.
func (x *xzReader) endBlock() error {
	b, data := x.block, uint64(x.in.position-x.block.data)
	x.block = nil
	for i, size := range [2]uint64{data, b.content} {
		if b.declared[i] != noSize && b.declared[i] != size {
			return x.in.invalid("size of a block")
		}
	}
	isPadded := x.in.endsWithPadding(b.data)
	want := b.check.Sum(nil)
	if b.check.Size() <= 8 {
		slices.Reverse(want) // a CRC is written with the least significant byte first
	}
	if check := x.in.take(len(want)); !isPadded || !bytes.Equal(check, want) {
		return x.in.invalid("checksum of a block")
	}
	unpadded := uint64(b.data-b.start) + data + uint64(len(want))
	x.sizes.Write(binary.AppendUvarint(binary.AppendUvarint(nil, unpadded), b.content))
	x.blocks++
	return nil
}

// readIndex reads the rest of the index, which lists the sizes of the blocks, and the footer of the
// stream.
func (x *xzReader) readIndex(start int64) error {
	blocks, sizes := x.in.number(), sha256.New()
	for range 2 * min(blocks, x.blocks) {
		sizes.Write(binary.AppendUvarint(nil, x.in.number()))
	}
	isEqual := blocks == x.blocks && bytes.Equal(sizes.Sum(nil), x.sizes.Sum(nil))
	if !x.in.endsWithPadding(start) || !x.in.endsWithSum() || !isEqual {
		return x.in.invalid("index")
	}
	index := x.in.position - start
	sum := x.in.take(4)
	x.in.begin()
	footer := x.in.take(6)
	isValid := binary.LittleEndian.Uint32(sum) == x.in.crc.Sum32() && int64(binary.LittleEndian.Uint32(footer))*4+4 == index
	if magic := x.in.take(2); !isValid || !bytes.Equal(footer[4:], x.flags) || string(magic) != "YZ" {
		return x.in.invalid("stream footer")
	}
	x.flags = nil
	return nil
}

// xzInput reads the structures of xz data. Its error is sticky: after it, values are zero.
type xzInput struct {
	in       *bufio.Reader
	position int64       // bytes that were read
	crc      hash.Hash32 // of the current structure
	err      error
}

// Read reads compressed data, without regard to structures.
func (in *xzInput) Read(p []byte) (int, error) {
	n, err := in.in.Read(p)
	in.position += int64(n)
	return n, err
}

// begin starts a structure and returns its position.
func (in *xzInput) begin() int64 {
	in.crc.Reset()
	return in.position
}

// take reads a number of bytes.
func (in *xzInput) take(size int) []byte {
	b := make([]byte, size)
	if in.err == nil {
		_, in.err = io.ReadFull(in, b)
	}
	if in.err == io.EOF {
		in.err = io.ErrUnexpectedEOF
	}
	if in.err != nil {
		clear(b)
	}
	in.crc.Write(b)
	return b
}

// number reads an encoded number.
func (in *xzInput) number() uint64 {
	var encoded []byte
	for len(encoded) < binary.MaxVarintLen64 {
		if encoded = append(encoded, in.take(1)...); encoded[len(encoded)-1] < 0x80 {
			break
		}
	}
	n, _ := binary.Uvarint(encoded)
	return n
}

// endsWithPadding reads zeros up to a multiple of four bytes from a position on. It reports whether
// they are zero.
func (in *xzInput) endsWithPadding(start int64) bool {
	size := (start - in.position) & 3
	return bytes.Count(in.take(int(size)), []byte{0}) == int(size)
}

// endsWithSum reads the checksum of a structure and reports whether it is right.
func (in *xzInput) endsWithSum() bool {
	want := in.crc.Sum32()
	return binary.LittleEndian.Uint32(in.take(4)) == want && in.err == nil
}

// invalid returns the error of a structure.
func (in *xzInput) invalid(structure string) error {
	return cmp.Or(in.err, errors.New("invalid "+structure))
}
