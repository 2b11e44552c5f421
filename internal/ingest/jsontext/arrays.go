package jsontext

import (
	"encoding/json"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/kind"
	"herbarium/internal/ingest/layout"
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
	switch first := r.header.First; {
	case r.err != nil: // too many names
		return false
	case r.record <= first:
		start := r.pos
		r.skip()
		r.left.LeaveOut(r.record, "above the table", string(r.rec[start:r.pos]))
		return false
	case r.record <= r.header.End:
		r.skip()
		return false
	}
	width := 0
	r.array(func() {
		width++
		r.path = strconv.AppendInt(append(r.path[:0], "element "...), int64(width), 10)
		s, k := r.readValue(r.writesJSON(func() string { return r.elementName(width) }))
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
func (r *reader) startArrays() {
	r.left = herb.Layout{Unit: "array"}
	names := r.options.ItemKeys
	if names == nil {
		sampled := r.sampleArrays(sampleBytes)
		if len(sampled) < 2 {
			sampled = r.sampleArrays(longSampleBytes)
		}
		r.header = layout.Detect(layout.Sample{Rows: sampled, Tabular: true})
		names = r.header.Names
		for _, row := range sampled[r.header.First:r.header.End] {
			if r.header.Names == nil {
				names = layout.JoinNames(names, row.Cells, "")
			}
			r.left.AddHeader(row.Line, row.Cells)
		}
		if !r.header.HasHeader() {
			r.left.Doubt = r.header.Reason("array", r.header.First+1)
		}
	}
	r.named = names != nil
	for _, name := range names {
		r.addColumn(&member{}, name)
	}
}

// sampleArrays reads ahead at the current position. It returns the first complete arrays.
func (r *reader) sampleArrays(size int) (sampled []layout.Row) {
	text, _ := r.text.Peek(size)
	r.rec = text
	p := &parser{text: charset.Sample(text[r.pos:]), budget: r.budget.Trial()}
	p.begin()
	for c, ok := p.peekToken(); ok && c == '[' && len(sampled) < sampleArrays; c, ok = p.peekToken() {
		row := layout.Row{Line: len(sampled) + 1, End: len(sampled) + 1}
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
		sampled = append(sampled, row)
		if c, _ := p.peekToken(); c == ',' { // not between arrays that are records of NDJSON
			p.pos++
		}
	}
	return sampled
}

// sampledValue returns a value and the kind that it declares.
func sampledValue(raw []byte) ([]byte, kind.Kind) {
	var text string
	switch {
	case len(raw) == 0 || raw[0] == 'n':
		return nil, kind.Missing
	case raw[0] == '"':
		_ = json.Unmarshal(raw, &text) // fails for invalid text, which reading reports
		return []byte(text), kind.Text
	case raw[0] == 't' || raw[0] == 'f':
		return raw, kind.Boolean
	case raw[0] == '[' || raw[0] == '{':
		return raw, kind.Other
	}
	return raw, kind.Number
}
