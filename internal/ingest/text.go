package ingest

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"herbarium/internal/herb"
)

// notUTF8 is how a file that was taken for UTF-8 turns out not to be. The whole of it must then be judged.
type notUTF8 struct{ file int }

// Error implements error.
func (*notUTF8) Error() string { return "a byte has no meaning in UTF-8" }

// openText returns a text as UTF-8, without a mark at its beginning, in the encoding that its beginning tells, else in
// the one it is said to be in, else in the one that was found for it. With none of these it is taken for UTF-8, and is a
// notUTF8 error if it is not.
func openText(content *bufio.Reader, head []byte, said, found string, file int) (r io.Reader, note string, err error) {
	mark, name := byteOrderMark(head)
	pattern := nulPattern(head)
	switch {
	case mark != "" && said != "" && !sameEncoding(said, name):
		note = fmt.Sprintf("the file begins with the mark of %s and was read as that, not as %s", name, said)
	case mark != "":
	case said != "" && isUTF16(said) && pattern != "":
		name = pattern
	case said != "":
		name = said
	case found != "":
		name = found
		note = fmt.Sprintf("the file is not UTF-8 and was read as %s; if letters look wrong, name the encoding that it has", found)
	case pattern != "":
		name = pattern
	default:
		if err := looksBinary(head); err != nil {
			return nil, "", err
		}
		refuse := func(place, error) error { return herb.Wrap(herb.CodeInvalid, &notUTF8{file}, "the text is not UTF-8") }
		return newTextReader(content, utf8Decoder{}, refuse), "", nil
	}
	dec, err := newDecoder(name)
	if err != nil {
		return nil, "", err
	}
	if _, err := content.Discard(len(mark)); err != nil {
		return nil, "", err
	}
	t := newTextReader(content, dec, strictly(name))
	t.at.offset = int64(len(mark))
	return t, note, nil
}

// isUTF16 reports whether a name leaves open in which order the bytes are.
func isUTF16(name string) bool {
	switch encodingLabel(name) {
	case "utf-16", "utf16", "ucs-2", "unicode":
		return true
	}
	return false
}

// sameEncoding reports whether what a text is said to be in agrees with its mark.
func sameEncoding(said, mark string) bool {
	said = strings.ReplaceAll(encodingLabel(said), "-", "")
	mark = strings.ReplaceAll(encodingLabel(mark), "-", "")
	return strings.HasPrefix(said, mark) || strings.HasPrefix(mark, said) || isUTF16(said) && strings.HasPrefix(mark, "utf16")
}
