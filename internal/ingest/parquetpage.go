package ingest

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	meta "github.com/parquet-go/parquet-go/format"
)

// parquetPage is a decoded data page.
type parquetPage struct {
	count      int     // of values, with nulls
	rep, def   []uint8 // nil if the leaf has no such levels
	values     *parquetValues
	indexes    []int32 // into values, which are those of a dictionary; nil if there is none
	next, seen int     // the next value, and how many before it are not null
}

// take returns the next value.
func (p *parquetPage) take(maxDef uint8) parquetValue {
	var v parquetValue
	if p.rep != nil {
		v.rep = p.rep[p.next]
	}
	v.def = maxDef
	if p.def != nil {
		v.def = p.def[p.next]
	}
	p.next++
	if v.def < maxDef {
		return v
	}
	i := p.seen
	if p.indexes != nil {
		i = int(p.indexes[i])
	}
	p.seen++
	v.data = p.values.at(i)
	return v
}

// pageReader decodes the pages of a column chunk.
type pageReader struct {
	stream         *pageStream
	kind           physicalType
	maxDef, maxRep uint8
	dictionary     *parquetValues
}

// next returns the next data page, io.EOF behind the last.
func (r *pageReader) next() (*parquetPage, error) {
	for {
		header, levels, body, err := r.stream.next()
		if err != nil {
			return nil, err
		}
		switch header.Type {
		case meta.DictionaryPage:
			n := int(header.DictionaryPageHeader.V.NumValues)
			if r.dictionary, err = decodeValues(r.kind, meta.Plain, body, n); err != nil {
				return nil, err
			}
		case meta.DataPage:
			return r.decodeV1(&header.DataPageHeader.V, body)
		case meta.DataPageV2:
			return r.decodeV2(&header.DataPageHeaderV2.V, levels, body)
		}
	}
}

func (r *pageReader) decodeV1(h *meta.DataPageHeader, body []byte) (page *parquetPage, err error) {
	page = &parquetPage{count: int(h.NumValues)}
	if r.maxRep > 0 {
		if page.rep, body, err = levelsV1(h.RepetitionLevelEncoding, body, r.maxRep, page.count); err != nil {
			return nil, err
		}
	}
	if r.maxDef > 0 {
		if page.def, body, err = levelsV1(h.DefinitionLevelEncoding, body, r.maxDef, page.count); err != nil {
			return nil, err
		}
	}
	return page, r.decodeBody(page, h.Encoding, body)
}

// levelsV1 decodes the levels at the start of a page and returns what follows them.
func levelsV1(encoding meta.Encoding, body []byte, limit uint8, n int) (levels []uint8, rest []byte, err error) {
	length := (int64(n)*int64(bits.Len8(limit)) + 7) / 8
	if encoding != meta.BitPacked { // which has no length in front
		if len(body) < 4 {
			return nil, nil, io.ErrUnexpectedEOF
		}
		length, body = int64(binary.LittleEndian.Uint32(body)), body[4:]
	}
	if length > int64(len(body)) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	levels, err = decodeLevels(encoding, body[:length], limit, n)
	return levels, body[length:], err
}

func (r *pageReader) decodeV2(h *meta.DataPageHeaderV2, levels, body []byte) (page *parquetPage, err error) {
	page = &parquetPage{count: int(h.NumValues)}
	rep, def := levels[:h.RepetitionLevelsByteLength], levels[h.RepetitionLevelsByteLength:]
	if r.maxRep > 0 { // some writers store levels of leaves that have none
		if page.rep, err = decodeLevels(meta.RLE, rep, r.maxRep, page.count); err != nil {
			return nil, err
		}
	}
	if r.maxDef > 0 {
		if page.def, err = decodeLevels(meta.RLE, def, r.maxDef, page.count); err != nil {
			return nil, err
		}
	}
	return page, r.decodeBody(page, h.Encoding, body)
}

// plainDictionary is what older writers call RLE_DICTIONARY in data pages. The library marks its own constant as deprecated.
const plainDictionary meta.Encoding = 2

// decodeBody decodes the values of a page.
func (r *pageReader) decodeBody(page *parquetPage, encoding meta.Encoding, body []byte) (err error) {
	n := page.count
	for _, l := range page.def {
		if l < r.maxDef {
			n--
		}
	}
	if encoding == plainDictionary || encoding == meta.RLEDictionary {
		if r.dictionary == nil {
			return errors.New("a page refers to a dictionary that is missing")
		}
		page.values = r.dictionary
		page.indexes, err = decodeIndexes(body, n, r.dictionary.count)
		return err
	}
	if page.values, err = decodeValues(r.kind, encoding, body, n); err != nil {
		return err
	}
	if page.values.count < n {
		return io.ErrUnexpectedEOF
	}
	return nil
}
