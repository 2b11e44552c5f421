package web

import (
	"html/template"
	"io"

	"herbarium/internal/herb"
)

// The parts of a page of records that differ from page to page: the places of its frame.
const (
	partHidden = iota
	partSearch
	partChips
	partFilters
	partFound
	partChooserKeep
	partChooser
	partCSV
	partCount
	partJSON
	partTable
	partPager
	partCall
	partRecord
)

// swap is what the template of the data browser shows.
type swap struct {
	*browser
	Hidden, ChipList, Filters, Found, ChooserKeep, Chooser, Table, Pager, Call, Record template.HTML
	Count                                                                              string
}

// newSwap fills in the parts, each of which is given by part.
func newSwap(b *browser, part func(int) string) swap {
	html := func(i int) template.HTML { return template.HTML(part(i)) }
	return swap{
		browser: b, Hidden: html(partHidden), ChipList: html(partChips), Filters: html(partFilters), Found: html(partFound),
		ChooserKeep: html(partChooserKeep), Chooser: html(partChooser), Count: part(partCount), Table: html(partTable),
		Pager: html(partPager), Call: html(partCall), Record: html(partRecord),
	}
}

// recordsFrame renders what surrounds the parts of a page that has records.
func (p *Pages) recordsFrame(start, end, path string, total int) (frame, error) {
	m := newMarks()
	b := &browser{Path: path, Total: total, From: 1, Search: m.of(partSearch), CSV: m.of(partCSV), JSON: m.of(partJSON)}
	page, err := p.execute("browser", "swap", newSwap(b, m.of))
	if err != nil {
		return frame{}, err
	}
	return m.cut(start + string(page) + end)
}

// writeBrowser writes the whole page. What is neither large nor kept is written at once.
func (p *Pages) writeBrowser(w io.Writer, b *browser) error {
	if b.From == 0 {
		return p.writeState(w, b)
	}
	buf, ok := p.scratch.Get().(*[]byte)
	if !ok {
		buf = new(make([]byte, 0, 64<<10))
	}
	defer p.scratch.Put(buf)
	out := (*buf)[:0]
	kept := func(piece *piece) error {
		if piece.deflated == nil {
			out = append(out, piece.plain...)
			return nil
		}
		_, err := w.Write(out)
		out = out[:0]
		if err != nil {
			return err
		}
		return piece.writeTo(w)
	}
	f := &b.shell.records
	for i := range f.pieces {
		if err := kept(&f.pieces[i]); err != nil {
			return err
		}
		switch {
		case i == len(f.places):
		case f.places[i] == partFilters && b.filters == "":
			if err := kept(&b.shell.filters); err != nil {
				return err
			}
		default:
			out = b.appendPart(out, f.places[i])
		}
	}
	*buf = out
	_, err := w.Write(out)
	return err
}

// writeState writes a page that has no records to show, but tells why.
func (p *Pages) writeState(w io.Writer, b *browser) error {
	part := func(i int) string { return string(b.appendPart(nil, i)) }
	page, err := p.execute("browser", "swap", newSwap(b, part))
	if err != nil {
		return err
	}
	if err := b.shell.start.writeTo(w); err != nil {
		return err
	}
	if _, err := io.WriteString(w, string(page)); err != nil {
		return err
	}
	return b.shell.end.writeTo(w)
}

// appendPart appends a part of the page, escaped.
func (b *browser) appendPart(out []byte, part int) []byte {
	s := b.state
	switch part {
	case partHidden:
		return appendHidden(out, b.hidden)
	case partSearch:
		return appendEscaped(out, b.Search)
	case partChips:
		return b.appendChips(out)
	case partFilters:
		if b.filters == "" {
			return append(out, b.shell.filters.plain...)
		}
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
	case partTable:
		if b.From == 0 {
			return out
		}
		return b.appendTable(out)
	case partPager:
		return appendPager(out, s, b.Meta)
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

// appendCount appends a number for people.
func appendCount(b []byte, n int) []byte { return append(b, herb.Count(n)...) }
