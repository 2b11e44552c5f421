package build

import (
	"encoding/binary"
	"slices"

	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/file"
)

// positionsBuilder builds the sections of coordinates. Which fields are coordinates is known only
// after all records, so it collects the positions of all candidates that have some.
type positionsBuilder struct {
	tmp        *tempDir
	recognizer *geo.Recognizer
	fixed      bool         // the candidates were recognized before
	points     []*spillFile // by candidate; nil while it has no position
	records    int
	chosen     []herb.Coordinates
}

func newPositionsBuilder(tmp *tempDir, fields []herb.Field, opts Options) *positionsBuilder {
	b := &positionsBuilder{tmp: tmp, fixed: opts.Coordinates != nil}
	if b.fixed {
		b.recognizer = geo.Fixed(*opts.Coordinates, fields)
	} else {
		b.recognizer = geo.NewRecognizer(fields, opts.Declared)
	}
	b.points = make([]*spillFile, len(b.recognizer.Candidates))
	return b
}

// prepare reads the positions of the records of a batch. Several batches may be prepared
// concurrently.
func (b *positionsBuilder) prepare(x *batch) {
	for len(x.points) < len(b.points) {
		x.points = append(x.points, nil)
	}
	for i, c := range b.recognizer.Candidates {
		x.points[i] = x.points[i][:0]
		if c.IsDropped() {
			continue
		}
		for _, r := range x.records {
			x.points[i] = append(x.points[i], c.Point(r))
		}
	}
}

// add adds the positions of a batch. Batches must be added in the order of the records.
func (b *positionsBuilder) add(x *batch) {
	for i, c := range b.recognizer.Candidates {
		if c.IsDropped() {
			continue
		}
		c.Add(x.points[i], b.fixed || c.Coordinates.Declared)
		if c.Located() > 0 && b.points[i] == nil {
			b.points[i] = b.newPoints()
		}
		if b.points[i] != nil {
			for _, p := range x.points[i] {
				writePoint(b.points[i], p)
			}
		}
	}
	b.records += len(x.records)
}

// writePoint writes a position; those that are none are the same in the file.
func writePoint(out *spillFile, p geo.Point) {
	if !p.IsPosition() {
		p = geo.None
	}
	out.writeU32(uint32(p.Longitude))
	out.writeU32(uint32(p.Latitude))
}

// write writes the sections of the coordinates, after all records.
func (b *positionsBuilder) write(w *file.Writer, fields []herb.Field, memory int) error {
	b.chosen = []herb.Coordinates{}
	chosen := b.recognizer.Decide()
	for i, c := range b.recognizer.Candidates {
		points := b.points[i]
		if !slices.Contains(chosen, c) {
			if points != nil {
				if err := points.remove(); err != nil {
					return err
				}
			}
			continue
		}
		if points == nil { // no record has a position
			points = b.newPoints()
		}
		order, err := b.sort(points, memory)
		if err != nil {
			return err
		}
		b.chosen = append(b.chosen, c.Coordinates)
		field := uint32(herb.FieldIndex(fields, c.Coordinates.Name()))
		if err := writeSections(w, field, section{file.TagPositions, points},
			section{file.TagCellOrder, order}); err != nil {
			return err
		}
	}
	return nil
}

// newPoints returns a spill file in which no record so far has a position.
func (b *positionsBuilder) newPoints() *spillFile {
	points := b.tmp.newSpillFile()
	for range b.records {
		writePoint(points, geo.None)
	}
	return points
}

// sort returns the records with a position in the order of their cells.
func (b *positionsBuilder) sort(points *spillFile, memory int) (order *spillFile, err error) {
	const pointSize = 8
	s := newSorter(b.tmp, memory, b.records, 2*pointSize*int64(b.records))
	s.begin(func(dst, value []byte) ([]byte, error) { return append(dst, value...), nil },
		func(dst, _ []byte) []byte { return dst })
	in := points.reader()
	for record := range uint32(b.records) {
		if record%recordsPerCheck == 0 && b.tmp.err() != nil {
			return nil, b.tmp.err()
		}
		encoded, err := in.next(pointSize)
		if err != nil {
			return nil, err
		}
		p := geo.Point{Longitude: int32(binary.LittleEndian.Uint32(encoded)),
			Latitude: int32(binary.LittleEndian.Uint32(encoded[4:]))}
		if !p.IsPosition() {
			continue
		}
		var key [pointSize]byte
		binary.BigEndian.PutUint64(key[:], p.Cell())
		if err := s.add(key[:], record); err != nil {
			return nil, err
		}
	}
	order = b.tmp.newSpillFile()
	if err := s.each(func(_, _ []byte, record uint32) { order.writeU32(record) }); err != nil {
		return nil, err
	}
	return order, s.finish()
}
