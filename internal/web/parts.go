package web

import (
	"html/template"
	"io"
	"strconv"
)

// The parts of a page that differ from page to page: the places of its frame.
const (
	partFacets = iota
	partHidden
	partSearch
	partChips
	partFilters
	partFound
	partChooserKeep
	partChooser
	partCSV
	partCount
	partJSON
	partBody
	partCall
	partRecord
)

// renderSwap renders what surrounds the parts of a page, with a mark in the place of each.
func (p *Pages) renderSwap(m marks, path string, total int) (template.HTML, error) {
	html := func(part int) template.HTML { return template.HTML(m.of(part)) }
	return p.execute("browser", "swap", struct {
		Path                                                                           string
		Total                                                                          int
		Facets, Search, CSV, JSON                                                      string
		Hidden, Chips, Filters, Found, ChooserKeep, Chooser, Count, Body, Call, Record template.HTML
	}{
		path, total, m.of(partFacets), m.of(partSearch), m.of(partCSV), m.of(partJSON),
		html(partHidden), html(partChips), html(partFilters), html(partFound), html(partChooserKeep), html(partChooser), html(partCount),
		html(partBody), html(partCall), html(partRecord),
	})
}

// maxScratch is the largest buffer that is kept: one giant page must not hold its memory for ever.
const maxScratch = 1 << 20

// writeBrowser writes the whole page.
func (p *Pages) writeBrowser(w io.Writer, b *browser) error {
	buf, ok := p.scratch.Get().(*[]byte)
	if !ok {
		buf = new(make([]byte, 0, 64<<10))
	}
	defer p.scratch.Put(buf)
	out := (*buf)[:0]
	f := &b.shell.frame
	for i := range f.pieces {
		out = append(out, f.pieces[i].plain...)
		switch {
		case i == len(f.places):
		case f.places[i] == partFilters && b.filters == "":
			out = append(out, b.shell.filters.plain...)
		default:
			out = b.appendPart(out, f.places[i])
		}
	}
	if cap(out) <= maxScratch {
		*buf = out
	}
	_, err := w.Write(out)
	return err
}

// appendPart appends a part of the page, escaped.
func (b *browser) appendPart(out []byte, part int) []byte {
	s := b.state
	switch part {
	case partFacets:
		if b.Error != "" {
			return out
		}
		return append(appendEscaped(out, b.Path), "/facets"...)
	case partHidden:
		return appendHidden(out, b.hidden)
	case partSearch:
		return appendEscaped(out, b.Search)
	case partChips:
		return b.appendChips(out)
	case partFilters:
		return append(out, b.filters...)
	case partFound:
		return b.appendFound(out)
	case partChooserKeep:
		bare := *s
		bare.columns = nil
		return appendHidden(out, bare.own(s.listing))
	case partChooser:
		if b.chooser == "" {
			return append(out, b.shell.chooser...)
		}
		return append(out, b.chooser...)
	case partCSV:
		return appendEscaped(out, b.CSV)
	case partCount:
		return appendCount(out, b.Meta.Total)
	case partJSON:
		return appendEscaped(out, b.JSON)
	case partBody:
		if b.From == 0 {
			return append(out, b.noRecords...)
		}
		out = append(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of records\">\n<table>\n"...)
		out = append(b.appendTable(out), "\n</table>\n</div>\n<nav class=\"pager\" aria-label=\"Pages\">\n"...)
		return append(appendPager(out, s, b.Meta), "\n</nav>"...)
	case partCall:
		return b.shell.call.append(out, escaped(b.url), escaped(b.JSON))
	case partRecord:
		return append(out, b.record...)
	}
	return out
}

// appendHidden appends parameters that a form carries along.
func appendHidden(b []byte, ps params) []byte {
	for _, p := range ps {
		b = appendEscaped(append(b, `<input type="hidden" name="`...), p.name)
		b = append(appendEscaped(append(b, `" value="`...), p.value), `">`...)
	}
	return b
}

// appendFound appends how many records were found, and in which order they come.
func (b *browser) appendFound(out []byte) []byte {
	if b.Error != "" {
		return append(out, "Nothing to show"...)
	}
	out = append(appendCount(append(out, `<strong>`...), b.Meta.Total), `</strong> record`...)
	if b.Meta.Total != 1 {
		out = append(out, 's')
	}
	if b.Meta.Total != b.Total {
		out = appendCount(append(out, ` of `...), b.Total)
	}
	if b.Meta.Total > 0 {
		out = append(appendEscaped(append(out, ` <span class="muted">· <bdi>`...), b.sorted), `</bdi></span>`...)
	}
	return out
}

// appendCount appends a number for people, as herb.Count writes it.
func appendCount(b []byte, n int) []byte {
	if n >= 1000 {
		b = append(appendCount(b, n/1000), ',')
		n = n%1000 + 1000 // a digit before the zeros, which goes again
		at := len(b)
		b = strconv.AppendInt(b, int64(n), 10)
		return append(b[:at], b[at+1:]...)
	}
	return strconv.AppendInt(b, int64(n), 10)
}
