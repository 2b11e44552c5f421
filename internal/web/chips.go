package web

import (
	"html/template"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// chip is an active filter or search, with the address of the page without it.
type chip struct {
	Field, Words, Value string
	Remove              string
	Wrong               bool // it is no filter of this dataset
}

// Item writes a chip, by hand as the table is.
func (c chip) Item() template.HTML { return template.HTML(c.append(nil)) }

func (c chip) append(b []byte) []byte {
	b = append(b, `<li><a class="chip`...)
	if c.Wrong {
		b = append(b, ` wrong`...)
	}
	b = append(appendEscaped(append(b, `" href="`...), c.Remove), `" title="Remove"><span class="vh">Remove </span><bdi>`...)
	b = append(appendEscaped(b, c.Field), `</bdi>`...)
	if c.Words != "" {
		b = appendEscaped(append(b, ' '), c.Words)
	}
	if c.Value != "" {
		b = append(appendEscaped(append(b, ` <b><bdi>`...), c.Value), `</bdi></b>`...)
	}
	return append(b, `<span class="x" aria-hidden="true">×</span></a></li>`...)
}

// appendChips appends the chips above the records.
func (b *browser) appendChips(out []byte) []byte {
	if len(b.Chips) == 0 {
		return out
	}
	out = append(out, `<ul class="chips" aria-label="Active filters">`...)
	for _, c := range b.Chips {
		out = c.append(append(out, '\n'))
	}
	if len(b.Chips) > 1 {
		out = append(appendEscaped(append(out, "\n<li><a class=\"clear\" href=\""...), b.Clear), `">Clear all</a></li>`...)
	}
	return append(out, `</ul>`...)
}

// chips lists what narrows the listing, in the order of the address.
func (b *browser) chips(s *state, fields []herb.Field) {
	kept := params{}
	for i, p := range s.listing {
		switch p.name {
		case query.ParamPage:
			continue
		case query.ParamPerPage, query.ParamSort, query.ParamOrder:
			kept = append(kept, p)
			continue
		}
		c := newChip(p, fields)
		c.Remove = s.href(slices.Delete(slices.Clone(s.listing), i, i+1).without(query.ParamPage))
		b.Chips = append(b.Chips, c)
	}
	b.Clear = s.href(kept)
}

func newChip(p pair, fields []herb.Field) chip {
	if p.name == query.ParamSearch {
		return chip{Field: "search", Value: p.value}
	}
	i, op := filterOf(p.name, fields)
	if i < 0 {
		return chip{Field: p.name, Words: "=", Value: p.value, Wrong: true}
	}
	c := chip{Field: headingOf(fields[i]), Value: p.value, Words: opWords[op]}
	switch {
	case string(op) == "empty":
		c.Value, c.Words = "", "is empty"
		if p.value == "false" {
			c.Words = "is not empty"
		}
	case p.value == "" && op == query.OpEq:
		c.Words = "is empty"
	case p.value == "" && op == query.OpNe:
		c.Words = "is not empty"
	case fields[i].Type == herb.TypeDate:
		c.Value = humanDate(p.value)
	case fields[i].Type == herb.TypeList && op == query.OpEq:
		c.Words = "has"
	}
	return c
}

// opWords says what the operators mean between the name of a field and a value.
var opWords = map[query.Op]string{
	query.OpEq: "is", query.OpNe: "is not", query.OpGt: "over", query.OpGte: "from", query.OpLt: "under", query.OpLte: "up to",
	query.OpPrefix: "begins with", "in": "is one of",
}
