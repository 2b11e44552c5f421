package web

import (
	"html/template"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// pager writes the links to other pages, by hand as the table is: the first, the last, those around this one, and other sizes.
func pager(s *state, m query.Meta) template.HTML {
	b := make([]byte, 0, 2048)
	to := s.own(s.narrowed())
	first, other := string(appendEscaped(nil, s.relative(to))), string(appendEscaped(nil, begin(to)))+"page="
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
		b = append(b, herb.Count(n)...)
		b = append(b, `</a></li>`...)
	}
	b = append(b, "</ol>\n"...)
	return template.HTML(turn(b, m.HasNext, "next", "Next", m.Page+1))
}

// sizes writes the links to other sizes of a page.
func sizes(s *state, perPage int) template.HTML {
	b := make([]byte, 0, 1024)
	to := s.own(s.narrowed().without(query.ParamPerPage))
	normal, other := string(appendEscaped(nil, s.relative(to))), string(appendEscaped(nil, begin(to)))+"per_page="
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
	return template.HTML(b)
}
