package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// kind says how the values of a column are shown.
type kind int

const (
	kindText kind = iota
	kindNumber
	kindCode // a number that is a name: an id, a year
	kindDate
	kindList
	kindImage
)

// kindOf decides how a field is shown. A field has images if its name says so, or if the publish has seen that its values
// are addresses of images.
func kindOf(d *herb.Dataset, i int) kind {
	f := d.Fields[i]
	switch f.Type {
	case herb.TypeNumber:
		if isCode(f.Name) {
			return kindCode
		}
		return kindNumber
	case herb.TypeDate:
		return kindDate
	case herb.TypeList:
		return kindList
	}
	words := nameWords(f.Name)
	for _, hint := range []string{"image", "img", "photo", "picture", "thumbnail", "thumb", "logo", "avatar", "cover", "icon"} {
		if slices.Contains(words, hint) {
			return kindImage
		}
	}
	if c := columnReport(d, i); c != nil && isImageAddress(c.Min) && isImageAddress(c.Max) {
		return kindImage
	}
	return kindText
}

// columnReport returns what the publish found out about a field; nil if it left nothing.
func columnReport(d *herb.Dataset, i int) *herb.ColumnReport {
	if d.Report == nil || i >= len(d.Report.Columns) || d.Report.Columns[i].Field != d.Fields[i].Name {
		return nil
	}
	return &d.Report.Columns[i]
}

// isCode reports whether the name of a number field says that nobody would add its values up.
func isCode(name string) bool {
	words := nameWords(name)
	return slices.ContainsFunc([]string{"id", "no", "nr", "code", "year", "zip", "key", "number"}, func(w string) bool {
		return slices.Contains(words, w)
	})
}

// nameWords splits a name as programmers write them: image_url, imageUrl, image-url.
func nameWords(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case r >= 'A' && r <= 'Z':
			if lower {
				b.WriteByte(' ')
			}
			b.WriteRune(r + 'a' - 'A')
			lower = false
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
			lower = true
		default:
			b.WriteByte(' ')
			lower = false
		}
	}
	return strings.Fields(b.String())
}

// webAddress reports whether a value is an address that a link may lead to. Everything but http and https is text, and so is
// what names a user before the host, which serves to deceive. It is asked of every value, so that it looks for itself.
func webAddress(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "http://"); !ok {
			return false
		}
	}
	if len(s) > 2000 {
		return false
	}
	host := true
	for i := range len(rest) {
		switch c := rest[i]; {
		case c == '/' || c == '?' || c == '#':
			if i == 0 {
				return false
			}
			host = false
		case notInAddress[c], host && (c == '@' || c == '%'):
			return false
		}
	}
	return rest != ""
}

// notInAddress are the bytes that no address has.
var notInAddress = func() (no [256]bool) {
	for _, c := range []byte("\x7F\"<>\\^`{|}") {
		no[c] = true
	}
	for c := range byte(' ' + 1) {
		no[c] = true
	}
	return no
}()

// isImage reports whether a value of a column of images can be shown as one.
func isImage(s string) bool { return strings.HasPrefix(s, "https://") && webAddress(s) }

func isImageAddress(s string) bool {
	u, err := url.Parse(s)
	if err != nil || !webAddress(s) {
		return false
	}
	return slices.Contains([]string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg"}, strings.ToLower(path.Ext(u.Path)))
}

// decodeRecords reads the values of records from their JSON, which has the fields in their order. The values share one copy of
// it.
func decodeRecords(records [][]byte, fields int) ([][]string, error) {
	size := 0
	for _, r := range records {
		size += len(r)
	}
	var all strings.Builder
	all.Grow(size)
	for _, r := range records {
		all.Write(r)
	}
	rest := all.String()
	out, values := make([][]string, len(records)), make([]string, len(records)*fields)
	for i, r := range records {
		out[i], values = values[:fields:fields], values[fields:]
		if err := decodeRecord(rest[:len(r)], out[i]); err != nil {
			return nil, err
		}
		rest = rest[len(r):]
	}
	return out, nil
}

// decodeRecord reads the values of a record.
func decodeRecord(record string, values []string) error {
	d := recordDecoder{rest: record}
	d.expect('{')
	for i := range values {
		if i > 0 {
			d.expect(',')
		}
		d.text(false)
		d.expect(':')
		values[i] = d.text(true)
	}
	d.expect('}')
	if d.bad {
		return fmt.Errorf("a record is not an object of %d texts", len(values))
	}
	return nil
}

type recordDecoder struct {
	rest string
	bad  bool
}

func (d *recordDecoder) expect(c byte) {
	if len(d.rest) == 0 || d.rest[0] != c {
		d.bad, d.rest = true, ""
		return
	}
	d.rest = d.rest[1:]
}

// text reads a JSON string; wanted is false where it is only passed over.
func (d *recordDecoder) text(wanted bool) string {
	d.expect('"')
	plain := true
	for from := 0; ; {
		n := strings.IndexByte(d.rest[from:], '"')
		if n < 0 {
			d.bad, d.rest = true, ""
			return ""
		}
		end := from + n
		if slashes := trailing(d.rest[from:end], '\\'); slashes%2 == 1 {
			plain, from = false, end+1
			continue
		}
		raw := d.rest[:end]
		d.rest = d.rest[end+1:]
		switch {
		case !wanted:
			return ""
		case plain && strings.IndexByte(raw, '\\') < 0:
			return raw
		}
		return unescapeJSON(raw)
	}
}

// trailing counts how often a byte stands at the end of a text.
func trailing(s string, c byte) int {
	n := 0
	for n < len(s) && s[len(s)-1-n] == c {
		n++
	}
	return n
}

// unescapeJSON decodes the inside of a JSON string, which few values need.
func unescapeJSON(raw string) string {
	var s string
	if err := json.Unmarshal([]byte(`"`+raw+`"`), &s); err != nil {
		return raw
	}
	return s
}
