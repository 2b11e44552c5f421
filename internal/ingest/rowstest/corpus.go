package rowstest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"herbarium/internal/ingest/rows"
)

// UnusualFile is a file that is read although it is unusual.
type UnusualFile struct {
	Name    string // of the case
	File    string // name of the file
	Content string
	Want    [][]string // header and records; nil: not compared
	Warning string     // part of the only one; empty if there is none
}

// UnreadableFile is a file that cannot be read without guessing or losing data.
type UnreadableFile struct {
	Name    string // of the case
	File    string // name of the file
	Content string
	Want    string // start of the error, after the name of the file
}

// utf16Of writes a text in UTF-16.
func utf16Of(order binary.AppendByteOrder, s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// noise returns text that does not compress, so that its compressed form can be truncated.
func noise(n int) string {
	var b strings.Builder
	for x := uint32(1); b.Len() < n; x = x*1664525 + 1013904223 {
		fmt.Fprintf(&b, "%08x,%d\n", x, x>>7)
	}
	return b.String()
}

// longNames returns 1100 names of 1,000 bytes.
func longNames() string {
	var b strings.Builder
	for i := range 1100 {
		fmt.Fprintf(&b, "%s%04d,", strings.Repeat("x", 995), i)
	}
	return b.String()
}

// Gzip compresses a text.
func Gzip(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s)) // a buffer does not fail
	_ = w.Close()
	return b.String()
}

// Zstd compresses a text.
func Zstd(s string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err) // the options are valid
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(s), nil))
}

// UnusualFiles returns files in all encodings, delimiters and compressions.
func UnusualFiles() []UnusualFile {
	const odd = "id;name\n1;\"a\r\nb\"\n2;\"say \"\"é植🌱\"\"\"\n"
	oddRows := [][]string{{"id", "name"}, {"1", "a\r\nb"}, {"2", `say "é植🌱"`}}
	late := strings.Repeat("0123456789,abcdefghij\n", 40_000)
	return []UnusualFile{
		{"utf-16 little-endian with a mark", "a.csv", "\xFF\xFE" + utf16Of(binary.LittleEndian, odd), oddRows, ""},
		{"utf-16 big-endian with a mark", "a.csv", "\xFE\xFF" + utf16Of(binary.BigEndian, odd), oddRows, ""},
		{"utf-16 little-endian", "a.csv", utf16Of(binary.LittleEndian, odd), oddRows, ""},
		{"utf-16 big-endian", "a.csv", utf16Of(binary.BigEndian, odd), oddRows, ""},
		{"utf-16 of few latin letters", "a.csv", utf16Of(binary.LittleEndian, "番号,名前\n一,植物園の木\n二,庭の花\n"),
			[][]string{{"番号", "名前"}, {"一", "植物園の木"}, {"二", "庭の花"}}, ""},
		{"utf-16 JSON", "a.json", "\xFF\xFE" + utf16Of(binary.LittleEndian, `[{"a":"é植"}]`),
			[][]string{{"a"}, {"é植"}}, ""},
		{"utf-32", "a.csv", "\xFF\xFE\x00\x00a\x00\x00\x00\n\x00\x00\x00\x31\xF3\x01\x00",
			[][]string{{"a"}, {"\U0001F331"}}, ""},
		{"windows-1252", "a.csv", "name,price\ncaf\xE9,\x80 5\n\x93x\x94,\xA31\n",
			[][]string{{"name", "price"}, {"café", "€ 5"}, {"“x”", "£1"}},
			"the file is not UTF-8 and was read as Windows-1252"},
		{"windows-1252 that begins late", "a.csv", "a,b\n" + late + "caf\xE9,x\n", nil, "was read as Windows-1252"},
		{"windows-1252 JSON", "a.json", "[{\"a\":\"\xE9\"}]", [][]string{{"a"}, {"é"}}, "was read as Windows-1252"},
		{"zero bytes", "a.csv", "a,b\nx\x00y,\x00\nplain,text\nmore,text\n",
			[][]string{{"a", "b"}, {"x\x00y", "\x00"}, {"plain", "text"}, {"more", "text"}}, ""},
		{"a mark before quotes", "a.csv", "\xEF\xBB\xBF\"a\",\"b\"\n\"1\",\"2\"\n",
			[][]string{{"a", "b"}, {"1", "2"}}, ""},
		{"mixed line ends", "a.csv", "a,b\r1,2\r\n3,4\n5,\"6\r7\n8\"\r\r\n\n9,10",
			[][]string{{"a", "b"}, {"1", "2"}, {"3", "4"}, {"5", "6\r7\n8"}, {"9", "10"}}, ""},
		{"decimal commas", "a.csv", "name;price;note\nfern;1,50;x, y\nmoss;2,25;\n",
			[][]string{{"name", "price", "note"}, {"fern", "1,50", "x, y"}, {"moss", "2,25", ""}}, ""},
		{"decimal commas and a comma in a name", "a.csv", "id;name, first;price\n1;x;1,5\n2;y;2,5\n",
			[][]string{{"id", "name, first", "price"}, {"1", "x", "1,5"}, {"2", "y", "2,5"}}, ""},
		{"commas in quoted names", "a.csv", "\"a,b\";\"c,d\"\n1;2\n", [][]string{{"a,b", "c,d"}, {"1", "2"}}, ""},
		{"separator line", "a.csv", "sep=;\r\na,b;c\r\n1,5;2\r\n", [][]string{{"a,b", "c"}, {"1,5", "2"}}, ""},
		{"separator line in quotes with a tab", "a.csv", "\"SEP=\t\"\na\tb\n1,2\t3\n",
			[][]string{{"a", "b"}, {"1,2", "3"}}, ""},
		{"tabs in a CSV", "a.csv", "a\tb, c\n1\tx, y\n2\tz\n",
			[][]string{{"a", "b, c"}, {"1", "x, y"}, {"2", "z"}}, ""},
		{"bars", "a.txt", "a|b\n1,2|3;4\n5|6\n", [][]string{{"a", "b"}, {"1,2", "3;4"}, {"5", "6"}}, ""},
		{"one column of addresses", "a.csv", "address\n1 Main St, Springfield\n2 High St, Flat 3, York\nNowhere\n",
			[][]string{{"address"}, {"1 Main St, Springfield"}, {"2 High St, Flat 3, York"}, {"Nowhere"}}, ""},
		{"one column of addresses under a name with a comma", "a.csv",
			"Street, city\nA, B, C\nD, E, F\nG\nH, I, J, K\n",
			[][]string{{"Street, city"}, {"A, B, C"}, {"D, E, F"}, {"G"}, {"H, I, J, K"}}, ""},
		{"one column of sentences with the same commas", "a.csv", "city\nBerlin, Germany\nParis, France\n",
			[][]string{{"city"}, {"Berlin, Germany"}, {"Paris, France"}}, ""},
		{"one column", "a.csv", "a\n1\n\n2\n", [][]string{{"a"}, {"1"}, {"2"}}, ""},
		{"apostrophes", "a.csv", "a,b\n'tis,it's\n'n/a',x\n'n/a',y\n",
			[][]string{{"a", "b"}, {"'tis", "it's"}, {"'n/a'", "x"}, {"'n/a'", "y"}}, ""},
		{"surplus delimiters", "a.csv", "a,b\n1,2,\n3,4,,\n5\n",
			[][]string{{"a", "b"}, {"1", "2"}, {"3", "4"}, {"5", ""}},
			"in 2 records, the first in line 2, there are more values than columns"},
		{"lone quotes", "a.csv", "a,b\n5\" pot,say \"x\"\n", [][]string{{"a", "b"}, {`5" pot`, `say "x"`}}, ""},
		{"header alone", "a.csv", "a;b", [][]string{{"a", "b"}}, ""},
		{"gzip", "a.csv.gz", Gzip("a,b\n1,2\n"), [][]string{{"a", "b"}, {"1", "2"}}, ""},
		{"gzip in two members", "a.csv.gz", Gzip("a,b\n1,") + Gzip("2\n3,4\n"),
			[][]string{{"a", "b"}, {"1", "2"}, {"3", "4"}}, ""},
		{"gzip by content", "a.csv", Gzip("a,b\n1,2\n"), [][]string{{"a", "b"}, {"1", "2"}}, ""},
		{"gzipped JSON", "a.json.gz", Gzip(`{"data":[{"a":1}]}`), [][]string{{"a"}, {"1"}}, ""},
		{"gzipped windows-1252", "a.tsv.gz", Gzip("a\tb\n\xE9\t1\n"), [][]string{{"a", "b"}, {"é", "1"}},
			"was read as Windows-1252"},
		{"zstd", "a.csv.zst", Zstd("a,b\n1,2\n"), [][]string{{"a", "b"}, {"1", "2"}}, ""},
		{"zstd in two frames behind one to be skipped", "a.ndjson.zstd", "\x50\x2A\x4D\x18\x02\x00\x00\x00xx" +
			Zstd("{\"a\":1}\n") + Zstd("{\"a\":2}"), [][]string{{"a"}, {"1"}, {"2"}}, ""},
		{"JSON called CSV", "a.csv", `[{"a":"x, y"}]`, [][]string{{"a"}, {"x, y"}}, "the content is json, not csv"},
		{"a header in brackets", "a.csv", "[a],{b}\n1,2\n", [][]string{{"[a]", "{b}"}, {"1", "2"}}, ""},
		{"unknown extension, JSON", "a.dat", "{\"a\":1}\n{\"a\":2}", [][]string{{"a"}, {"1"}, {"2"}}, ""},
		{"members beside the records", "a.json", `{"count":1,"data":[{"a":1}]}`, [][]string{{"a"}, {"1"}},
			`the records are in "data"; other members are not part of this dataset: count`},
		{"no records", "a.json", "[]", [][]string{nil}, ""},
	}
}

// UnreadableFiles returns truncated, damaged and ambiguous files.
func UnreadableFiles() []UnreadableFile {
	late := strings.Repeat("0123456789,abcdefghij\n", 40_000) // 880,000 bytes
	gz, zst := Gzip(noise(100_000)), Zstd(noise(100_000))
	damaged := []byte(gz)
	damaged[len(damaged)/2] ^= 0xFF
	return []UnreadableFile{
		{"mixed encodings", "a.csv", "a,b\né,1\n\xE9,2\n",
			"line 3: byte 9 is not UTF-8, but byte 4 (line 2) begins a UTF-8 character: the file mixes encodings"},
		{"mixed encodings, late", "a.csv", "a,b\né,1\n" + late + "x,\xE9\n",
			"line 40003: byte 880011 is not UTF-8, but byte 4 (line 2) begins a UTF-8 character"},
		{"mixed encodings, the other way", "a.csv", "a,b\r\xE9,1\r\n" + late + "x,é\n",
			"line 2: byte 4 is not UTF-8, but byte 880011 (line 40003) begins a UTF-8 character"},
		{"byte without a character", "a.csv", "a,b\n\xE9,1\nx,\x81\n",
			"line 2: byte 4 is not UTF-8, and the file does not tell its encoding"},
		{"a zero byte in what is not UTF-8", "a.csv", "a,b\n\xE9,1\nx,\x00\n",
			"line 2: byte 4 is not UTF-8, and the file does not tell its encoding"},
		{"cut within a character", "a.csv", "a,b\né,植\nx,\xE6\xA4",
			"line 3: the text ends in the middle of a character at byte 13, read as UTF-8; is the file cut off?"},
		{"cut within the only character", "a.csv", "a,b\nx,\xE6\xA4",
			"line 2: the text ends in the middle of a character at byte 6"},
		{"not UTF-8 behind its mark", "a.csv", "\xEF\xBB\xBFa,b\nx,\xE9\n", "line 2: byte 9 cannot be read as UTF-8"},
		{"half a pair in utf-16", "a.csv", "\xFF\xFEa\x00\n\x00\x3C\xD8x\x00",
			"line 2: byte 6 cannot be read as UTF-16LE"},
		{"odd utf-16", "a.csv", "\xFF\xFEa\x00\n\x00x", "line 2: byte 6 cannot be read as UTF-16LE"},
		{"gzip cut off", "a.csv.gz", gz[:len(gz)/2], "the gzip data ends too early, after "},
		{"gzip header cut off", "a.csv.gz", gz[:5], "the gzip data ends too early, after 5 bytes"},
		{"gzip without its end", "a.csv.gz", gz[:len(gz)-2], "the gzip data ends too early"},
		{"gzip cut off in its second member", "a.csv.gz", Gzip("a,b\n1,2\n") + gz[:len(gz)/2],
			"the gzip data ends too early"},
		{"gzip damaged", "a.csv.gz", string(damaged), "the gzip data is damaged somewhere before byte "},
		{"something behind gzip", "a.csv.gz", Gzip("a\n1\n") + "what is this?",
			"the gzip data is damaged somewhere before byte "},
		{"zstd cut off", "a.csv.zst", zst[:len(zst)/2], "the zstd data ends too early, after "},
		{"zstd damaged", "a.csv.zst", zst[:200] + "damaged" + zst[207:],
			"the zstd data is damaged somewhere before byte "},
		{"compressed twice", "a.csv.gz", Gzip(Zstd("a\n1\n")),
			"the file is compressed twice, with zstd inside gzip; unpack it once"},
		{"JSON cut off", "a.json", `[{"a":1},{"a":"x`, "record 2, line 1: a quote is not closed"},
		{"lines cut off", "a.ndjson", "{\"a\":1}\n{\"a\":", `record 2, line 2: the member "a" has no value`},
		{"cut off within quotes", "a.csv", "a,b\n1,2\n3,\"x\ny",
			"line 3: the quote opened here is never closed; end the value with a quote"},
		{"broken quotes", "a.csv", "a,b\n1,\"abc\"def\n",
			`line 2: text follows the closing quote of a value; write a quote inside a value twice ("")`},
		{"nothing", "a.csv", "", "the file is empty; its first line must name the columns"},
		{"nothing, compressed", "a.json.gz", Gzip(""),
			"line 1: the file is empty; write an array of objects, or one object per line"},
		{"a web page", "a.csv", "\n<!DOCTYPE html>\n<html>",
			"the file is a web page; download the data that the page links to"},
		{"an archive", "a.csv", "PK\x03\x04" + strings.Repeat("\x00", 22) + "\x05\x00\x00\x00a.csv",
			"the zip archive is damaged"},
		{"other compression", "a.csv.bz2", "BZh91AY&SY", "the bzip2 data ends too early"},
		{"no text", "a.csv", "a,b\n" + strings.Repeat("\x00\x02\x03x", 100),
			"line 2: the file is not text: it has many control characters, the first at byte 4"},
		{"a long name", "a.csv", "a," + strings.Repeat("x", rows.MaxName+1) + "\n1,2\n", `the name of column 2, "xxx`},
		{"long names", "a.csv", longNames() + "\n" + strings.Repeat(strings.Repeat("1,", 1100)+"\n", 3),
			"the names of the columns are longer than 1 MiB"},
		{"a long line", "a.csv", "a,b\n" + strings.Repeat("x", rows.MaxRecord+1),
			"line 2: the record is longer than 8 MiB"},
	}
}

// ExpandingFiles returns small files that expand without end. Want is a part of the error.
func ExpandingFiles() []UnreadableFile {
	var wrapped strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&wrapped, `"k%d":[1],`, i)
	}
	const tooMany = "values, including missing ones"
	return []UnreadableFile{
		{"rows in zstd", "x.csv.zst", Zstd("a\n" + strings.Repeat("x\n", 3<<20)), tooMany},
		{"objects in zstd", "x.ndjson.zst", Zstd(strings.Repeat("{\"a\":1}\n", 3<<20)), tooMany},
		{"text in zstd", "x.csv.zst", Zstd("a\n" + strings.Repeat(strings.Repeat("x", 1<<20)+"\n", 100)),
			"unpacked bytes"},
		{"short rows of many columns", "x.csv", strings.Repeat("c,", 5_000) + "c\n" +
			strings.Repeat("x\n", 5_000), tooMany},
		{"arrays in an object", "x.json", "{" + strings.TrimSuffix(wrapped.String(), ",") + "}",
			"there are more than 10000 columns"},
	}
}
