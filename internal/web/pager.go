package web

import (
	"strconv"

	"herbarium/internal/query"
)

// appendPager appends the links to other pages, by hand as the table is: the first, the last, those around this one, a form
// for any of them where they are many, and other sizes.
func appendPager(b []byte, s *state, m query.Meta) []byte {
	to := s.own(s.narrowed())
	first, other := escaped(s.relative(to)), escaped(begin(to))+"page="
	href := func(b []byte, n int) []byte {
		b = append(b, ` href="`...)
		if n == 1 {
			return append(append(b, first...), '"')
		}
		return append(strconv.AppendInt(append(b, other...), int64(n), 10), '"')
	}
	turn := func(b []byte, there bool, rel, words string, n int) []byte {
		if !there {
			return append(b, `<span class="button off">`+words+"</span>\n"...)
		}
		b = href(append(b, `<a class="button" rel="`+rel+`"`...), n)
		return append(b, ">"+words+"</a>\n"...)
	}
	b = turn(b, m.HasPrev, "prev", "Before", min(m.Page-1, m.TotalPages))
	b = append(b, `<ol class="pages">`...)
	last := 0
	for _, n := range []int{1, m.Page - 2, m.Page - 1, m.Page, m.Page + 1, m.Page + 2, m.TotalPages} {
		if n <= last || n > m.TotalPages {
			continue
		}
		if n > last+1 {
			b = append(b, `<li><span aria-hidden="true">…</span></li>`...)
		}
		last = n
		b = href(append(b, `<li><a`...), n)
		if n == m.Page {
			b = append(b, ` aria-current="page"`...)
		}
		b = append(b, `><span class="vh">Page </span>`...)
		b = appendCount(b, n)
		b = append(b, `</a></li>`...)
	}
	b = append(b, "</ol>\n"...)
	b = turn(b, m.HasNext, "next", "Next", m.Page+1)
	if m.TotalPages > 7 {
		b = append(appendEscaped(append(b, `<form action="`...), s.path), `" class="jump">`...)
		b = append(appendHidden(b, to), `<label>Page <input name="page" inputmode="numeric" pattern="[0-9]+" size="4" value="`...)
		b = append(strconv.AppendInt(b, int64(m.Page), 10), `" aria-label="Page number"></label><button>Go</button></form>`...)
	}
	b = append(b, "\n<p class=\"sizes\">Show "...)
	return append(appendSizes(b, s, m.PerPage), `</p>`...)
}

// appendSizes appends the links to other sizes of a page.
func appendSizes(b []byte, s *state, perPage int) []byte {
	to := s.own(s.narrowed().without(query.ParamPerPage))
	normal, other := escaped(s.relative(to)), escaped(begin(to))+"per_page="
	for _, n := range []int{10, query.DefaultPerPage, 50, query.MaxPerPage} {
		b = append(b, `<a href="`...)
		if n == query.DefaultPerPage {
			b = append(b, normal...)
		} else {
			b = strconv.AppendInt(append(b, other...), int64(n), 10)
		}
		b = append(b, '"')
		if n == perPage {
			b = append(b, ` aria-current="true"`...)
		}
		b = append(b, `><span class="vh">Show </span>`...)
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, "<span class=\"vh\"> records on a page</span></a>\n"...)
	}
	return b
}
