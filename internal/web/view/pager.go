package view

import (
	"strconv"

	"herbarium/internal/query"
)

// Pager links to the other pages of a listing.
type Pager struct {
	query.Meta
	From, To   int
	Prev, Next string // empty: there is none
	Sizes      []PageLink
	Path       string // of the form that goes to any page
	Hidden     query.Params
}

// PageLink is a link to the listing with another number of rows per page.
type PageLink struct {
	Number  int
	Href    string
	Current bool
}

// NewPager returns the links of a page with this many rows.
func NewPager(s *State, m query.Meta, rows int) *Pager {
	p := &Pager{Meta: m, From: (m.Page-1)*m.PerPage + 1, To: (m.Page-1)*m.PerPage + rows, Path: s.Path, Hidden: s.Hidden()}
	if m.HasPrev {
		p.Prev = s.PageHref(min(m.Page-1, m.TotalPages))
	}
	if m.HasNext {
		p.Next = s.PageHref(m.Page + 1)
	}
	listing := s.AnyPage().Without(query.ParamPerPage)
	for _, n := range []int{query.DefaultPerPage, pageRows, query.MaxPerPage} {
		link := PageLink{Number: n, Href: s.Href(listing), Current: n == m.PerPage}
		if n != pageRows {
			link.Href = s.hrefWith(listing, query.ParamPerPage, strconv.Itoa(n))
		}
		p.Sizes = append(p.Sizes, link)
	}
	return p
}
