package fulltext

import (
	"encoding/binary"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/file"
)

// fieldPostings contains, by term number and then by prefix number, the records that contain the
// term or prefix in each searchable field. The item of a prefix is empty if its field postings are
// not stored. A file with one searchable field has none, because all postings are in this field.
type fieldPostings struct{ file.Table }

// FieldHeadSize is the number of bytes before each set of an item: the field and the size of the
// set as u32.
const FieldHeadSize = 8

// set returns the records of an item in a searchable field. all is its records in any field; a
// field without a set of its own has all of them.
func (p *fieldPostings) set(item, field int, all bitmap.EncodedSet) bitmap.EncodedSet {
	for b := p.At(item); len(b) > 0; {
		found, size := binary.LittleEndian.Uint32(b), int(binary.LittleEndian.Uint32(b[4:]))
		b = b[FieldHeadSize:]
		if int(found) != field {
			b = b[size:]
			continue
		}
		if size == 0 {
			return all
		}
		return bitmap.EncodedSet(b[:size])
	}
	return nil
}
