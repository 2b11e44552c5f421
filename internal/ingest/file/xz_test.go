package file_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
)

// compressXZ compresses a text with the encoder of the library.
func compressXZ(t *testing.T, content string, c xz.WriterConfig) string {
	t.Helper()
	var b bytes.Buffer
	w, err := c.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// decompress returns the content of a compressed file.
func decompress(t *testing.T, stored string) (string, error) {
	t.Helper()
	f, err := file.Open(t.Context(), "x", file.Options{Content: section(stored), Formats: formats})
	if err != nil {
		return "", err
	}
	defer f.Close()
	in, err := f.Open()
	if err != nil {
		return "", err
	}
	defer in.Close()
	content, err := io.ReadAll(in)
	return string(content), err
}

// declareDictionary changes the dictionary size that the n-th block of xz data declares, and the
// checksum of its header.
func declareDictionary(t *testing.T, stored string, n int, encoded byte) string {
	t.Helper()
	b, at := []byte(stored), -1
	for ; n >= 0; n-- {
		next := bytes.Index(b[at+1:], []byte{0x21, 1})
		if next < 0 {
			t.Fatal("no such block")
		}
		at += 1 + next
	}
	b[at+2] = encoded
	for start := at - 2; start > 0; start-- { // the header begins with its size
		if size := 4 * int(b[start]); start%4 == 0 && start+size > at && start+size+4 <= len(b) {
			binary.LittleEndian.PutUint32(b[start+size:], crc32.ChecksumIEEE(b[start:start+size]))
			return string(b)
		}
	}
	t.Fatal("no header")
	return ""
}

// xzBlocks is abcdefgh01234567abcdefgh as the program xz compresses it with --block-size=8
// --check=sha256 --lzma2=dict=4KiB.
const xzBlocks = "\xfd7zXZ\x00\x00\x0a\xe1\xfb\x0c\xa1\x02\x00!\x01\x00\x00\x00\x007'\x97\xd6\x01\x00\x07abcdefgh\x00\x9cV\xccQ\xb3t\xc3" +
	"\xba\x18\x92\x10\xd5\xb6\xd4\xbfWy\x0d5\x1c\x96\xc4|\x02\x19\x0e\xcf\x1eC\x065\xab\x02\x00!\x01\x00\x00\x00\x007'\x97" +
	"\xd6\x01\x00\x0701234567\x00\x92E\x92\xb9\xb1\x03\xf1O\x83?\xaa\xfbg\xf4\x80i\x1f\x01\x98\x8a\xa4W\xc0\x06\x17i\xf5" +
	"\x8c\xd4s\x11\xbc\x02\x00!\x01\x00\x00\x00\x007'\x97\xd6\x01\x00\x07abcdefgh\x00\x9cV\xccQ\xb3t\xc3\xba\x18\x92\x10" +
	"\xd5\xb6\xd4\xbfWy\x0d5\x1c\x96\xc4|\x02\x19\x0e\xcf\x1eC\x065\xab\x00\x038\x088\x088\x08\xca\xbe[\xae\xb6\xe9\xdf\x1c" +
	"\x02\x00\x00\x00\x00\x0aYZ"

func TestXZ(t *testing.T) {
	t.Parallel()
	if got, err := decompress(t, xzBlocks); err != nil || got != "abcdefgh01234567abcdefgh" {
		t.Errorf("got %q, error %v", got, err)
	}
	long := strings.Repeat("0123456789abcdef\n", 5_000)
	for _, c := range []xz.WriterConfig{
		{DictCap: 4 << 10}, {DictCap: 1<<16 + 1}, {DictCap: 16 << 20, CheckSum: xz.CRC32}, {DictCap: 1 << 16, CheckSum: xz.SHA256, BlockSize: 1 << 14},
		{DictCap: 1 << 16, NoCheckSum: true, BlockSize: 20_001}, {DictCap: 8 << 10, CheckSum: xz.CRC64, BlockSize: 4096},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Parallel()
			for name, part := range map[string]string{"long": long, "short": "a", "empty": ""} {
				stored := compressXZ(t, part, c)
				for count, padding := range map[int]string{1: "", 2: "", 3: "\x00\x00\x00\x00\x00\x00\x00\x00"} {
					got, err := decompress(t, strings.Repeat(stored+padding, count))
					if err != nil || got != strings.Repeat(part, count) {
						t.Errorf("%s, %d streams: got %d bytes, error %v", name, count, len(got), err)
					}
				}
			}
		})
	}
}

// TestXZ_dictionary declares dictionaries from 4 KiB to 4 GiB and measures how much memory is
// allocated. It does not run in parallel, because the other tests allocate memory too.
func TestXZ_dictionary(t *testing.T) {
	const limit = 64 << 20
	single := compressXZ(t, "a", xz.WriterConfig{DictCap: 4 << 10})
	for _, encoded := range []byte{0, 1, 24, 28, 29, 30, 39, 40, 41} {
		size := uint64(2|encoded&1) << (encoded/2 + 11)
		for name, stored := range map[string]string{
			"first block": declareDictionary(t, single, 0, encoded), "last block": declareDictionary(t, xzBlocks, 2, encoded),
			"second stream": single + declareDictionary(t, single, 0, encoded),
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := decompress(t, stored)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			switch isLarge := err != nil && strings.Contains(err.Error(), "a dictionary of more than 64 MiB"); {
			case encoded == 41 && (herb.CodeOf(err) != herb.CodeInvalid || isLarge), encoded < 41 && isLarge != (size > limit), size <= limit && err != nil:
				t.Errorf("%s, %d (%d bytes): got error %v", name, encoded, size, err)
			case size > limit && allocated > 4<<20:
				t.Errorf("%s, %d (%d bytes): %d bytes allocated", name, encoded, size, allocated)
			}
		}
	}
}

// TestXZ_damaged cuts a file at every byte, and changes every byte.
func TestXZ_damaged(t *testing.T) {
	t.Parallel()
	stored := compressXZ(t, "0123456789abcdef", xz.WriterConfig{BlockSize: 8, DictCap: 4 << 10})
	for i := range len(stored) {
		if got, err := decompress(t, stored[:i]); err == nil && i > 6 {
			t.Errorf("cut after %d bytes: got %q", i, got)
		}
		damaged := []byte(stored)
		damaged[i] ^= 1 << (i % 8)
		if got, err := decompress(t, string(damaged)); err == nil && i > 6 {
			t.Errorf("another byte %d: got %q", i, got)
		}
	}
}
