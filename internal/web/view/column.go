package view

import (
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// Kind determines how the values of a column are shown.
type Kind int

// The kinds of columns.
const (
	KindText Kind = iota
	KindNumber
	KindCode // a number that identifies something, such as an ID or a year
	KindDate
	KindList
	KindImage
)

// Column is a column of the table.
type Column struct {
	herb.Field
	Index   int // of the field
	Kind    Kind
	Heading string
}

// Heading returns the title of a field, or its name.
func Heading(f herb.Field) string {
	if PlainText(f.Title) != "" {
		return f.Title
	}
	return f.Name
}

// NewColumn returns the column of the field at a position.
func NewColumn(d *herb.Dataset, i int) Column {
	return Column{Field: d.Fields[i], Index: i, Kind: KindOf(d, i), Heading: Heading(d.Fields[i])}
}

// HasImages reports whether a dataset has a column of images.
func HasImages(d *herb.Dataset) bool {
	for i := range d.Fields {
		if KindOf(d, i) == KindImage {
			return true
		}
	}
	return false
}

// KindOf returns the kind of a field. A field contains images if its name says so, or if the publish report shows that its
// values are addresses of images.
func KindOf(d *herb.Dataset, i int) Kind {
	f := d.Fields[i]
	switch f.Type {
	case herb.TypeNumber:
		if hasWord(f.Name, "id", "no", "nr", "code", "year", "zip", "key", "number") { // identifies something
			return KindCode
		}
		if c := ColumnReport(d, i); c != nil && isYear(c.Min) && isYear(c.Max) {
			return KindCode
		}
		return KindNumber
	case herb.TypeDate, herb.TypeDateTime:
		return KindDate
	case herb.TypeList:
		return KindList
	case herb.TypeBoolean:
		return KindText
	}
	if hasWord(f.Name, "image", "img", "photo", "picture", "thumbnail", "thumb", "logo", "avatar", "cover", "icon") {
		return KindImage
	}
	if c := ColumnReport(d, i); c != nil && isImageFile(c.Min) && isImageFile(c.Max) {
		return KindImage
	}
	return KindText
}

// isYear reports whether a value looks like a year, which is not grouped.
func isYear(s string) bool {
	return len(s) == 4 && (s[0] == '1' || s[0] == '2') && strings.Trim(s, "0123456789") == ""
}

// ColumnReport returns the publish report of a field; nil if there is none.
func ColumnReport(d *herb.Dataset, i int) *herb.ColumnReport {
	if d.Report == nil || i >= len(d.Report.Columns) || d.Report.Columns[i].Field != d.Fields[i].Name {
		return nil
	}
	return &d.Report.Columns[i]
}

// hasWord reports whether an identifier such as image_url, imageUrl or image-url contains one of the words.
func hasWord(name string, words ...string) bool {
	return slices.ContainsFunc(identifierWords(name), func(w string) bool { return slices.Contains(words, w) })
}

// identifierWords returns the words of an identifier in lower case.
func identifierWords(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		isUpper := r >= 'A' && r <= 'Z'
		if isUpper && lower {
			b.WriteByte(' ')
		}
		lower = r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !isUpper && !lower {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.Fields(strings.ToLower(b.String()))
}

// IsWebAddress reports whether a value may become the target of a link: an http or https URL without user information,
// which is used to deceive.
func IsWebAddress(s string) bool {
	const maxAddress = 2000
	if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") || len(s) > maxAddress || strings.ContainsAny(s, " \"<>\\^`{|}") {
		return false
	}
	u, err := url.Parse(s) // rejects control characters
	return err == nil && u.Host != "" && u.User == nil
}

// imageExtensions are the extensions of the image files that browsers show.
var imageExtensions = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg"}

// imageAddress returns the address of the image that a value of an image column names, or "" if the value names none. A relative
// path is a file below files, the path under which the files beside the dataset are served; empty: they are not served.
func imageAddress(files, value string) string {
	switch {
	case strings.HasPrefix(value, "https://") && IsWebAddress(value): // browsers block http images as mixed content
		return value
	case files != "" && IsImagePath(value):
		return files + (&url.URL{Path: value}).EscapedPath()
	}
	return ""
}

// IsImagePath reports whether s is the relative path of an image file, without hidden folders.
func IsImagePath(s string) bool {
	return fs.ValidPath(s) && !strings.HasPrefix(s, ".") && !strings.Contains(s, "/.") && hasImageExtension(s)
}

// isImageFile reports whether a value is the URL or the relative path of an image file.
func isImageFile(s string) bool {
	u, err := url.Parse(s)
	return err == nil && IsWebAddress(s) && hasImageExtension(u.Path) || IsImagePath(s)
}

func hasImageExtension(s string) bool {
	return slices.Contains(imageExtensions, strings.ToLower(path.Ext(s)))
}
