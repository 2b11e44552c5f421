package ingest

import (
	"bytes"
	"fmt"
	"strings"

	"herbarium/internal/herb"
)

// headBytes is how much of the content of a file is looked at to tell what it is.
const headBytes = 64 << 10

// randomAccess reports whether a format is read from any place of its file, not from the beginning to the end.
func randomAccess(f Format) bool { return f == FormatParquet || f == FormatXLSX || f == FormatSQLite }

// DetectFormat tells the format of a file by the beginning of its (unpacked) content. It is a table in delimited text if
// nothing says otherwise. The error is about content that cannot be a table.
func DetectFormat(head []byte) (Format, error) {
	if f := magicFormat(head); f != "" {
		return f, nil
	}
	if err := foreign(head); err != nil {
		return "", err
	}
	if s := bytes.TrimLeft(asciiOf(head), " \t\r\n"); len(s) > 0 && (s[0] == '{' || s[0] == '[') {
		return FormatJSON, nil
	}
	return FormatCSV, nil
}

// settleFormat decides between what a file is said to be and what its content says, and tells when they differ. An
// extension or a setting loses only against what is unmistakable.
func settleFormat(said Format, head []byte) (f Format, note string, err error) {
	if said == "" {
		f, err = DetectFormat(head)
		return f, "", err
	}
	found := magicFormat(head)
	if found == "" && (said == FormatCSV || said == FormatTSV) && beginsLikeJSON(head) {
		found = FormatJSON
	}
	if found == "" && !randomAccess(said) {
		err = foreign(head)
	}
	if found == "" || found == said {
		return said, "", err
	}
	return found, fmt.Sprintf("the content is %s, not %s; it was read as what it is", found, said), nil
}

// magicFormat tells the formats with an unmistakable beginning.
func magicFormat(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")):
		return FormatParquet
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return FormatSQLite
	case isWorkbook(head):
		return FormatXLSX
	}
	return ""
}

// isWorkbook tells a workbook from other archives by the name of the first file in it.
func isWorkbook(head []byte) bool {
	const nameAt = 30
	if !bytes.HasPrefix(head, []byte("PK\x03\x04")) || len(head) < nameAt {
		return false
	}
	name := string(head[nameAt:min(len(head), nameAt+int(head[26])+int(head[27])<<8)])
	for _, prefix := range []string{"[Content_Types].xml", "_rels/", "docProps/", "xl/"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// foreign names content that is often found under the name of a table.
func foreign(head []byte) error {
	for _, f := range []struct{ begins, is, remedy string }{
		{"PK\x03\x04", "a zip archive", "unpack it and publish what is in it"},
		{"PK\x05\x06", "an empty zip archive", "publish a file with records"},
		{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an old Office file (.xls)", "save it as .xlsx or CSV"},
		{"BZh", "compressed with bzip2", "unpack it, or compress it with gzip or zstd"},
		{"\xFD7zXZ\x00", "compressed with xz", "unpack it, or compress it with gzip or zstd"},
		{"7z\xBC\xAF\x27\x1C", "a 7z archive", "unpack it and publish what is in it"},
		{"%PDF-", "a PDF document", "publish the data that it was made from"},
	} {
		if bytes.HasPrefix(head, []byte(f.begins)) {
			return herb.Invalidf("the file is %s; %s", f.is, f.remedy)
		}
	}
	s := bytes.ToLower(bytes.TrimLeft(asciiOf(head[:min(len(head), 1024)]), " \t\r\n"))
	if bytes.HasPrefix(s, []byte("<!doctype html")) || bytes.HasPrefix(s, []byte("<html")) {
		return herb.Invalidf("the file is a web page; download the data that the page leads to")
	}
	if bytes.HasPrefix(s, []byte("<?xml")) {
		return herb.Invalidf("the file is XML; save the data as CSV or JSON")
	}
	return nil
}

// looksBinary finds text that is none: more than three in ten of its first bytes are control characters.
func looksBinary(head []byte) error {
	controls, first := 0, 0
	for i, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B && c != 0x01 && c != 0x1F {
			if controls++; controls == 1 {
				first = i
			}
		}
	}
	if len(head) >= 32 && controls*10 > len(head)*3 {
		return herb.Invalidf("line %d: the file is no text: there are many control characters, the first at byte %d; "+
			"publish CSV, TSV, JSON, Parquet, XLSX or SQLite", 1+countLines(head[:first]), first)
	}
	return nil
}

// beginsLikeJSON reports whether a text begins like an array of objects, or like an object with a member, which no header
// of a table does.
func beginsLikeJSON(head []byte) bool {
	const blanks = " \t\r\n"
	s := bytes.TrimLeft(asciiOf(head), blanks)
	if rest, ok := bytes.CutPrefix(s, []byte("[")); ok {
		s = bytes.TrimLeft(rest, blanks)
	}
	rest, ok := bytes.CutPrefix(s, []byte("{"))
	if !ok {
		return false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, blanks), []byte(`"`))
	if !ok {
		return false
	}
	_, rest, ok = bytes.Cut(rest, []byte(`"`))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, blanks), []byte(":"))
}

// asciiOf returns the beginning of a text without the mark and the zero bytes of wider encodings.
func asciiOf(head []byte) []byte {
	mark, _ := byteOrderMark(head)
	head = head[len(mark):]
	if mark != "" || nulPattern(head) != "" {
		head = bytes.ReplaceAll(head, []byte{0}, nil)
	}
	return head
}
