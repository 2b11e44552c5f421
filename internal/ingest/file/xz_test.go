package file_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
)

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

// xzOf is the letter a as the program xz compresses it with --lzma2=dict=4KiB, by the checksum.
func xzOf(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"none":   decode(t, "/Td6WFoAAAD/EtlBAgAhAQAAAAA3J5fWAQAAYQAAAAAAAREBraZYBAZynnoBAAAAAABZWg=="),
		"crc32":  decode(t, "/Td6WFoAAAFpIt42AgAhAQAAAAA3J5fWAQAAYQAAAABDvrfoAAEVAaljNGCQQpkNAQAAAAABWVo="),
		"crc64":  decode(t, "/Td6WFoAAATm1rRGAgAhAQAAAAA3J5fWAQAAYQAAAAAFK2Uud4QCMwABGQGlLIHMH7bzfQEAAAAABFla"),
		"sha256": decode(t, "/Td6WFoAAArh+wyhAgAhAQAAAAA3J5fWAQAAYQAAAADKl4ESyhu9yvrCMbOaI9xNp4bv+BR8TnK5gHeFr+5IuwABMQEPgtyRGJtLmgEAAAAAClla"),
	}
}

// xzLong returns "0123456789abcdef\n", 40,000 times, compressed with xz.
func xzLong(t *testing.T) string {
	t.Helper()
	return decode(t, "/Td6WFoAAATm1rRGAgAhAQgAAADYDyMT6mA/ALhdABgMQpJqZ7wO0TMs5MxCKcCbUyPxvAghiQKZtRgjBdNcw7qFUk0vv/gh5fZr/qIEE2R+yxxHgmd1AY9f"+
		"IugT2ZHePIwC0S1iCrTxwHmP7CtpAmbCzkdzMVrr5/OOSihyoXz3+Goa7HDZJ2kQbELLiD9cAI/QTq8mKJRxHz2PJOFwnqcjX+woy4XRlZiKfiqR8id19xnABphN"+
		"mP3Yr9WQD8QlU/j1kTYxBaWw7m/BcE1HDNGQu1k50gAA5l7IbskEYdEAAdQBwMApAPlEPtSxxGf7AgAAAAAEWVo=")
}

func decode(t *testing.T, s string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestXZ(t *testing.T) {
	t.Parallel()
	check := func(name, stored, want string) {
		got, err := decompress(t, stored)
		if err != nil || got != want {
			t.Errorf("%s: got %d bytes, error %v", name, len(got), err)
		}
	}
	check("blocks", xzBlocks, "abcdefgh01234567abcdefgh")
	check("no content", decode(t, "/Td6WFoAAATm1rRGAAAAABzfRCEftvN9AQAAAAAEWVo="), "")
	check("streams", xzBlocks+xzLong(t)+xzBlocks, "abcdefgh01234567abcdefgh"+
		strings.Repeat("0123456789abcdef\n", 40_000)+"abcdefgh01234567abcdefgh")
	for name, stored := range xzOf(t) {
		check(name, stored, "a")
		check(name+", padded streams", strings.Repeat(stored+"\x00\x00\x00\x00\x00\x00\x00\x00", 3), "aaa")
	}
}

// TestXZ_memory declares dictionaries from 4 KiB to 4 GiB, and many of 64 MiB, and measures how
// much memory is allocated: that of one dictionary, each time the file is opened. It does not run
// in parallel, because the other tests allocate memory too.
func TestXZ_memory(t *testing.T) {
	const limit, others, opened = 64 << 20, 4 << 20, 2
	single := xzOf(t)["crc64"]
	for _, encoded := range []byte{0, 1, 24, 28, 29, 30, 39, 40, 41} {
		size := uint64(2|encoded&1) << (encoded/2 + 11)
		large := declareDictionary(t, single, 0, encoded)
		for name, stored := range map[string]string{
			"first block": large, "last block": declareDictionary(t, xzBlocks, 2, encoded), "second stream": single +
				large, "many streams": strings.Repeat(large, 100),
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := decompress(t, stored)
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			switch isLarge := err != nil && strings.Contains(err.Error(), "a dictionary of more than 64 MiB"); {
			case encoded == 41 && (herb.CodeOf(err) != herb.CodeInvalid || isLarge), encoded < 41 &&
				isLarge != (size > limit), size <= limit && err != nil:
				t.Errorf("%s, %d (%d bytes): got error %v", name, encoded, size, err)
			case size > limit && allocated > others || size <= limit && allocated > opened*size+others:
				t.Errorf("%s, %d (%d bytes): %d bytes allocated", name, encoded, size, allocated)
			}
		}
	}
}

// TestXZ_damaged cuts a file at every byte, and changes every byte.
func TestXZ_damaged(t *testing.T) {
	t.Parallel()
	stored := xzBlocks
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

// FuzzXZ decodes damaged data.
func FuzzXZ(f *testing.F) {
	f.Add([]byte(xzBlocks))
	f.Fuzz(func(t *testing.T, stored []byte) {
		if _, err := decompress(t, string(stored)); err != nil && herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("got error %v", err)
		}
	})
}
