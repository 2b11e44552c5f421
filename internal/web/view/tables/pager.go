package tables

import (
	"strconv"

	"herbarium/internal/query"
	"herbarium/internal/web/view/state"
)

// Pager links to the other pages of a listing.
type Pager struct {
	query.Meta
	From, To   int    // positions of its rows
	Prev, Next string // empty: there is none
	Sizes      []state.Link
}

// leastScrolled is the number of rows per page from which on the script shows the other pages as
// well while a visitor scrolls. Smaller pages were chosen to see few rows.
const leastScrolled = query.DefaultPerPage

// Scrolls reports whether the script shows the rows of all pages.
func (p *Pager) Scrolls() bool { return p.PerPage >= leastScrolled }

// RowCount returns the number of rows of the whole table, with the header.
func (p *Pager) RowCount() int { return p.Total + 1 }

// NewPager returns the links of a page with this many rows.
func NewPager(s *state.State, m query.Meta, rows int) *Pager {
	p := &Pager{Meta: m, From: (m.Page-1)*m.PerPage + 1, To: (m.Page-1)*m.PerPage + rows}
	if m.HasPrev {
		p.Prev = s.PageHref(min(m.Page-1, m.TotalPages))
	}
	if m.HasNext {
		p.Next = s.PageHref(m.Page + 1)
	}
	listing := s.AnyPage().Without(query.ParamPerPage)
	for _, n := range []int{query.DefaultPerPage, state.PageRows, query.MaxPerPage} {
		href := s.Href(listing)
		if n != state.PageRows {
			href = s.Href(listing, query.Param{Name: query.ParamPerPage, Value: strconv.Itoa(n)})
		}
		p.Sizes = append(p.Sizes, state.Link{Label: strconv.Itoa(n), Href: href, Current: n == m.PerPage})
	}
	return p
}
