package web

import (
	"net/url"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// The table is written by hand: it is nearly all of a page, and html/template takes twenty times as long for it, which would
// make a page several times as expensive as the listing it shows.

// column is one column of the table.
type column struct {
	herb.Field
	Index   int // of the field
	Kind    kind
	Heading string
}

// class returns the style of the header of a column.
func (c *column) class() string {
	switch c.Kind {
	case kindNumber, kindCode:
		return "num"
	case kindDate:
		return "date"
	}
	return ""
}

// maxCell is how many characters of a value the table shows. The record has the rest.
const maxCell = 180

// appendTable appends the records of a page as what is in a table.
func (b *browser) appendTable(out []byte) []byte {
	columns := b.shell.shown(b.state)
	out = appendCount(append(out, `<caption class="vh">Records `...), b.From)
	out = appendCount(append(out, ` to `...), b.To)
	out = appendCount(append(out, ` of `...), b.Meta.Total)
	out = append(out, "</caption>\n<thead><tr><th scope=\"col\"><span class=\"vh\">Record</span>#</th>"...)
	out = appendHeaders(out, b.state, columns, b.req)
	out = append(out, "</tr></thead>\n<tbody>"...)
	out = appendRows(out, b.state, columns, b.req, b.records)
	return append(out, "</tbody>"...)
}

// appendHeaders appends the headers of the columns. A click on one sorts, ascending, then descending, then not at all.
func appendHeaders(b []byte, s *state, columns []column, req *query.Request) []byte {
	unsorted := s.own(s.narrowed().without(query.ParamSort, query.ParamOrder))
	to := escaped(begin(unsorted))
	for i := range columns {
		c := &columns[i]
		b = append(b, `<th scope="col" class="`...)
		b = append(b, c.class()...)
		sorted := req.Sort == c.Index
		switch {
		case sorted && req.Desc:
			b = append(b, `" aria-sort="descending`...)
		case sorted:
			b = append(b, `" aria-sort="ascending`...)
		}
		b = append(b, `">`...)
		if c.Sortable {
			b = append(b, `<a href="`...)
			if sorted && req.Desc && s.listing.get(query.ParamSort) != "" {
				b = append(appendEscaped(b, s.relative(unsorted)), `" title="stop sorting">`...)
			} else {
				b = append(b, to...)
				b = append(b, `sort=`...)
				b = append(b, url.QueryEscape(c.Name)...)
				if sorted && !req.Desc {
					b = append(b, `&amp;order=desc" title="sort descending">`...)
				} else {
					b = append(b, `" title="sort ascending">`...)
				}
			}
		}
		b = append(b, `<bdi>`...)
		b = appendEscaped(b, c.Heading)
		b = append(b, `</bdi>`...)
		if c.Sortable {
			b = append(b, `<span class="arrow" aria-hidden="true"></span></a>`...)
		}
		b = append(b, `</th>`...)
	}
	return b
}

// appendRows appends the records as rows. Cells and rows end where the next ones begin, as HTML allows: that is an eighth of
// their bytes.
func appendRows(b []byte, s *state, columns []column, req *query.Request, records [][]string) []byte {
	open := recordHref(s)
	prefixes := make([]string, len(columns))
	for i, c := range columns {
		if c.Kind == kindList && c.Filterable {
			base := begin(s.own(s.narrowed())) + params{{filterName(c.Name), ""}}.encode()
			prefixes[i] = escaped(base)
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
		b = appendCount(b, req.Offset()+i+1)
		b = append(b, `</a>`...)
		for k := range columns {
			b = appendCell(b, &columns[k], values[columns[k].Index], prefixes[k])
		}
	}
	return b
}

// recordHref is the escaped address of a record of this page, up to its place.
func recordHref(s *state) string {
	return escaped(begin(s.own(s.listing)) + paramRecord + "=")
}

// appendCell appends the cell of a value.
func appendCell(b []byte, c *column, value, prefix string) []byte {
	if value == "" {
		return append(b, `<td class="empty">`...)
	}
	switch c.Kind {
	case kindNumber, kindCode:
		b = append(b, `<td class="num">`...)
		if c.Kind == kindNumber {
			value = humanNumber(value)
		}
		return appendClipped(b, value, maxCell)
	case kindDate:
		b = append(b, `<td class="date"><time datetime="`...)
		b = appendEscaped(b, value)
		b = append(b, `">`...)
		b = appendDate(b, value)
		return append(b, `</time>`...)
	case kindList:
		b = append(b, `<td class="tags">`...)
		return appendTags(b, value, prefix)
	case kindImage:
		if isImage(value) {
			b = append(b, `<td class="image">`...)
			return appendImage(b, value)
		}
	}
	if webAddress(value) {
		b = append(b, `<td class="link">`...)
		return appendLink(b, value)
	}
	if len(value) > 60 {
		b = append(b, `<td class="long"><div><bdi>`...)
		b = appendClipped(b, value, maxCell)
		return append(b, `</bdi></div>`...)
	}
	if len(value) > 20 {
		b = append(b, `<td class="mid"><bdi>`...)
	} else {
		b = append(b, `<td><bdi>`...)
	}
	b = appendEscaped(b, value)
	return append(b, `</bdi>`...)
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
			b = appendClipped(b, tag, 40)
			b = append(b, `</bdi>`...)
			continue
		}
		b = append(b, `<a class="tag" href="`...)
		b = append(b, prefix...)
		b = appendEscaped(b, url.QueryEscape(tag))
		b = append(b, `"><bdi>`...)
		b = appendClipped(b, tag, 40)
		b = append(b, `</bdi></a>`...)
	}
	return b
}

// appendLink appends a link that shows where it leads without what all addresses begin with.
func appendLink(b []byte, address string) []byte {
	shown := strings.TrimPrefix(strings.TrimPrefix(address, "https://"), "http://")
	b = append(b, `<a href="`...)
	b = appendEscaped(b, address)
	b = append(b, `" rel="nofollow noreferrer"><bdi>`...)
	b = appendClipped(b, strings.TrimSuffix(strings.TrimPrefix(shown, "www."), "/"), 48)
	return append(b, `</bdi></a>`...)
}

// appendImage appends a small image. Its host learns that somebody looks at it, but not where. What it shows is told by the
// other values of its record, as far as anyone knows.
func appendImage(b []byte, address string) []byte {
	b = append(b, `<img src="`...)
	b = appendEscaped(b, address)
	return append(b, `" alt="" loading="lazy" referrerpolicy="no-referrer">`...)
}
