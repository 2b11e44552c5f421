package web

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Rows are written by hand: they are nearly all of a page, and html/template takes twenty times as long for them, which
// would make a page several times as expensive as the listing it shows.

// column is one column of the table.
type column struct {
	herb.Field
	Index    int // of the field
	Kind     kind
	Heading  string
	Sort     string // address that a click on the header leads to; empty: it is not sortable
	Ordered  string // "ascending", "descending" or empty
	NextSort string // what the click would do, in words
}

// maxCell is how many characters of a value the table shows. The record has the rest.
const maxCell = 180

// rows writes the records of a page as rows of the table.
func rows(s *state, columns []column, req *query.Request, records [][]string) template.HTML {
	b := make([]byte, 0, 512+len(records)*len(columns)*80)
	open := recordHref(s)
	prefixes := make([]string, len(columns))
	for i, c := range columns {
		if c.Kind == kindList && c.Filterable {
			base := s.href(s.narrowed().with(pair{filterName(c.Name), ""}))
			prefixes[i] = string(appendEscaped(nil, base))
		}
	}
	for i, values := range records {
		b = append(b, `<tr`...)
		if s.record == i+1 {
			b = append(b, ` class="open" aria-current="true"`...)
		}
		b = append(b, `><th scope="row"><a href="`...)
		b = append(b, open...)
		b = strconv.AppendInt(b, int64(i+1), 10)
		b = append(b, `"><span class="vh">Record </span>`...)
		b = append(b, herb.Count(req.Offset()+i+1)...)
		b = append(b, `</a></th>`...)
		for k := range columns {
			b = appendCell(b, &columns[k], values[columns[k].Index], prefixes[k])
		}
		b = append(b, "</tr>\n"...)
	}
	return template.HTML(b)
}

// recordHref is the escaped address of a record of this page, up to its place.
func recordHref(s *state) string {
	return string(appendEscaped(nil, join(s.path, s.own(s.listing).with(pair{paramRecord, ""}).encode())))
}

// appendCell appends the cell of a value.
func appendCell(b []byte, c *column, value, prefix string) []byte {
	if value == "" {
		return append(b, `<td class="empty"></td>`...)
	}
	switch c.Kind {
	case kindNumber, kindCode:
		b = append(b, `<td class="num"><bdi>`...)
		if c.Kind == kindNumber {
			value = humanNumber(value)
		}
		b = appendEscaped(b, clip(value, maxCell))
		return append(b, `</bdi></td>`...)
	case kindDate:
		b = append(b, `<td class="date"><time datetime="`...)
		b = appendEscaped(b, value)
		b = append(b, `">`...)
		b = appendEscaped(b, humanDate(value))
		return append(b, `</time></td>`...)
	case kindList:
		b = append(b, `<td class="tags">`...)
		b = appendTags(b, value, prefix)
		return append(b, `</td>`...)
	case kindImage:
		if isImage(value) {
			b = append(b, `<td class="image"><a href="`...)
			b = appendEscaped(b, value)
			b = append(b, `" rel="noopener noreferrer nofollow">`...)
			b = appendImage(b, value)
			return append(b, `</a></td>`...)
		}
	}
	if webAddress(value) {
		b = append(b, `<td class="link">`...)
		b = appendLink(b, value)
		return append(b, `</td>`...)
	}
	if len(value) > 60 {
		b = append(b, `<td class="long"><div><bdi>`...)
		b = appendEscaped(b, clip(value, maxCell))
		return append(b, `</bdi></div></td>`...)
	}
	b = append(b, `<td><bdi>`...)
	b = appendEscaped(b, value)
	return append(b, `</bdi></td>`...)
}

// maxTags is how many elements of a list the table shows.
const maxTags = 6

// appendTags appends the elements of a list, each a link to what else has it if the field can be filtered.
func appendTags(b []byte, value, prefix string) []byte {
	n := 0
	for tag := range strings.SplitSeq(value, ",") {
		if tag == "" {
			continue
		}
		if n++; n > maxTags {
			b = append(b, `<span class="more">+`...)
			b = strconv.AppendInt(b, int64(strings.Count(value, ",")+1-maxTags), 10)
			return append(b, `</span>`...)
		}
		if prefix == "" {
			b = append(b, `<bdi class="tag">`...)
			b = appendEscaped(b, clip(tag, 40))
			b = append(b, `</bdi>`...)
			continue
		}
		b = append(b, `<a class="tag" href="`...)
		b = append(b, prefix...)
		b = appendEscaped(b, url.QueryEscape(tag))
		b = append(b, `"><bdi>`...)
		b = appendEscaped(b, clip(tag, 40))
		b = append(b, `</bdi></a>`...)
	}
	return b
}

// appendLink appends a link that shows where it leads without what all addresses begin with.
func appendLink(b []byte, address string) []byte {
	shown := strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://")
	b = append(b, `<a href="`...)
	b = appendEscaped(b, address)
	b = append(b, `" rel="noopener noreferrer nofollow"><bdi>`...)
	b = appendEscaped(b, clip(strings.TrimSuffix(strings.TrimPrefix(shown, "www."), "/"), 48))
	return append(b, `</bdi></a>`...)
}

// appendImage appends a small image. Its host learns that somebody looks at it, but not where.
func appendImage(b []byte, address string) []byte {
	b = append(b, `<img src="`...)
	b = appendEscaped(b, address)
	b = append(b, `" alt="`...)
	b = appendEscaped(b, imageName(address))
	return append(b, `" width="48" height="48" loading="lazy" decoding="async" referrerpolicy="no-referrer">`...)
}

// imageName is what can be told of an image without looking at it: the name of its file.
func imageName(address string) string {
	name := address[strings.LastIndexByte(address, '/')+1:]
	name, _, _ = strings.Cut(name, "?")
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	if decoded, err := url.PathUnescape(name); err == nil {
		name = decoded
	}
	return "Image " + clip(strings.NewReplacer("-", " ", "_", " ").Replace(plainText(name)), 60)
}
