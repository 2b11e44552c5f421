package view

import (
	"strconv"

	"herbarium/internal/query"
)

// Pager links to the other pages of a listing.
type Pager struct {
	Prev, Next string // empty: there is none
	Pages      []PageLink
	Sizes      []PageLink
	Jump       *Jump // nil: all pages are linked
}

// PageLink is a link to a page, or to the listing with another number of rows per page.
type PageLink struct {
	Number  int
	Href    string
	Current bool
	Gap     bool // pages before this one are left out
}

// Jump is the form that goes to any page.
type Jump struct {
	Path   string
	Hidden query.Params
	Page   int
}

// NewPager links the first page, the last one and those around the current one.
func NewPager(s *State, m query.Meta) *Pager {
	const linked = 7
	p := &Pager{}
	if m.HasPrev {
		p.Prev = s.PageHref(min(m.Page-1, m.TotalPages))
	}
	if m.HasNext {
		p.Next = s.PageHref(m.Page + 1)
	}
	last := 0
	for _, n := range []int{1, m.Page - 2, m.Page - 1, m.Page, m.Page + 1, m.Page + 2, m.TotalPages} {
		if n <= last || n > m.TotalPages {
			continue
		}
		p.Pages = append(p.Pages, PageLink{Number: n, Href: s.PageHref(n), Current: n == m.Page, Gap: n > last+1})
		last = n
	}
	if m.TotalPages > linked {
		p.Jump = &Jump{s.Path, s.withOwn(s.AnyPage()), m.Page}
	}
	listing := s.AnyPage().Without(query.ParamPerPage)
	for _, n := range []int{10, query.DefaultPerPage, 50, query.MaxPerPage} {
		link := PageLink{Number: n, Href: s.Href(listing), Current: n == m.PerPage}
		if n != query.DefaultPerPage {
			link.Href = s.prefix(listing, query.ParamPerPage) + strconv.Itoa(n)
		}
		p.Sizes = append(p.Sizes, link)
	}
	return p
}
