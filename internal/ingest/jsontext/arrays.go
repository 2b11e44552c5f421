package jsontext

import (
	"encoding/json"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
	"herbarium/internal/ingest/value"
)

// The sample of arrays in which their header is detected. It is extended if it has few of them.
const (
	sampleBytes     = 64 << 10
	longSampleBytes = 1 << 20
	sampleArrays    = 60
)

// readArray reads an array at the current position. It is false for arrays that are the header or
// above it.
func (r *reader) readArray() (isRecord bool) {
	if r.record == 1 {
		r.startArrays()
	}
	switch {
	case r.err != nil: // too many names
		return false
	case r.record <= r.header.End:
		r.skip()
		return false
	}
	width := 0
	r.array(func() {
		width++
		r.path = strconv.AppendInt(append(r.path[:0], "element "...), int64(width), 10)
		s, k := r.readValue()
		if width > len(r.fields) && !r.named {
			r.addColumn(&member{}, r.elementName(width))
		}
		if width <= len(r.fields) {
			r.set(r.fields[width-1], s, k)
		} else if s.start < s.end {
			r.fail("the array has more than the %d elements that have names", len(r.columns))
		}
	})
	return true
}

// startArrays names the columns of records that are arrays, before the first one is read: by
// Options.ItemKeys, or else by the arrays that evidently name them.
//
// A table.Table finds the header, but does not yield the records. It would hold back arrays that
// may be footnotes, and JSON has none: every array below the header is a record. And it yields
// cells, while columns of JSON are typed by the tokens of their values, which the parser records
// for arrays and objects alike (reader.set).
func (r *reader) startArrays() {
	r.left = herb.Layout{Unit: "array"}
	names := r.options.ItemKeys
	if names == nil {
		sampled, texts := r.sampleArrays(sampleBytes)
		if len(sampled) < 2 {
			sampled, texts = r.sampleArrays(longSampleBytes)
		}
		in := table.Input{Report: &r.left, Extends: true, Sample: table.Sample{Rows: sampled, Tabular: true}}
		in.Found = table.Detect(in.Sample, rows.Options{})
		if e := r.options.Explain; e != nil {
			table.Explain(e, in.Sample, in.Found, r.left.Unit, "itemKeys in a descriptor")
		}
		for i := range sampled[:in.Found.First] {
			sampled[i].Cells = texts[i : i+1]
		}
		table := table.New(in)
		r.header, names = in.Found, table.Names
	}
	r.named = names != nil
	for _, name := range names {
		r.addColumn(&member{}, name)
	}
}

// sampleArrays reads ahead at the current position. It returns the first complete arrays, and their
// texts.
func (r *reader) sampleArrays(size int) (sampled []table.Row, texts [][]byte) {
	text, _ := r.text.Peek(size)
	r.rec = text
	p := &parser{text: charset.Sample(text[r.pos:]), budget: r.budget.Trial()}
	p.begin()
	for c, ok := p.peekToken(); ok && c == '[' && len(sampled) < sampleArrays; c, ok = p.peekToken() {
		row, start := table.Row{Line: len(sampled) + 1, End: len(sampled) + 1}, p.pos
		p.array(func() {
			p.peekToken()
			start := p.pos
			p.skip()
			cell, k := sampledValue(p.rec[start:p.pos])
			row.Cells, row.Kinds = append(row.Cells, cell), append(row.Kinds, k)
		})
		if p.err != nil {
			break
		}
		sampled, texts = append(sampled, row), append(texts, p.rec[start:p.pos])
		if c, _ := p.peekToken(); c == ',' { // not between arrays that are records of NDJSON
			p.pos++
		}
	}
	return sampled, texts
}

// sampledValue returns a value and the kind that it declares.
func sampledValue(raw []byte) ([]byte, value.Kind) {
	var text string
	switch {
	case len(raw) == 0 || raw[0] == 'n':
		return nil, value.Missing
	case raw[0] == '"':
		_ = json.Unmarshal(raw, &text) // fails for invalid text, which reading reports
		return []byte(text), value.Text
	case raw[0] == 't' || raw[0] == 'f':
		return raw, value.Boolean
	case raw[0] == '[' || raw[0] == '{':
		return raw, value.Other
	}
	return raw, value.Number
}
