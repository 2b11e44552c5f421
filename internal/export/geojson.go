package export

import (
	"bufio"
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/typed"
)

// collectionWriter writes a FeatureCollection, one feature per line.
type collectionWriter struct {
	out      *bufio.Writer // its errors are sticky
	features int
}

func (c *collectionWriter) feature(feature []byte) error {
	c.begin()
	_, err := c.out.Write(feature)
	return err
}

// begin writes what precedes a feature.
func (c *collectionWriter) begin() {
	separator := ",\n"
	if c.features == 0 {
		separator = `{"type":"FeatureCollection","features":[` + "\n"
	}
	c.features++
	_, _ = c.out.WriteString(separator)
}

func (c *collectionWriter) close() error {
	if c.features == 0 {
		c.begin()
	}
	_, _ = c.out.WriteString("\n]}\n")
	return c.out.Flush()
}

// geometryReader returns the reader of the geometries of a file: of the coordinates that the
// request names, or of the first ones of the dataset.
func geometryReader(d *herb.Dataset, r *query.Request) (geo.Reader, error) {
	if len(d.Coordinates) == 0 {
		return geo.Reader{}, herb.Invalidf(
			"dataset %s has no coordinates, so there is no GeoJSON of it; download data.csv, or name the fields that "+
				`say where its records are in its descriptor, such as herbarium: {coordinates: {latitude: y, longitude: x}}`, d.Ref)
	}
	i, err := query.FindCoordinates(d.Coordinates, r.Area.Coordinates)
	if err != nil {
		return geo.Reader{}, err
	}
	reader, ok := geo.NewReader(d.Coordinates[i], d.Fields)
	if !ok {
		return reader, fmt.Errorf("export: dataset %s lacks fields of its coordinates", d.Ref)
	}
	return reader, nil
}

// featureWriter renders records as features.
type featureWriter struct {
	selector *query.Selector
	reader   geo.Reader
	fields   []herb.Field
	types    []typed.Column // nil: values are texts
	key      []int          // fields of the primary key; nil: features have no id
	members  [][]byte       // of the record
	values   []string       // of the coordinates
	out      bytes.Buffer
}

// selectFeatures returns the stream with a feature instead of each record. The fields of the
// coordinates and of the primary key need not be selected.
func selectFeatures(d *herb.Dataset, r *query.Request, types []typed.Column, s query.Stream) (query.Stream, error) {
	reader, err := geometryReader(d, r)
	if err != nil {
		return s, err
	}
	return query.Stream{Total: s.Total, Records: func(yield func([]byte, error) bool) {
		w := featureWriter{selector: r.NewSelector(types), reader: reader, fields: d.Fields, types: types,
			key: keyPositions(d)}
		for record, err := range s.Records {
			if err == nil {
				err = w.render(record)
			}
			if !yield(w.out.Bytes(), err) || err != nil {
				return
			}
		}
	}}, nil
}

// keyPositions returns the positions of the fields of the primary key; nil if there is none, or if
// not all of its fields are in the dataset.
func keyPositions(d *herb.Dataset) (key []int) {
	for _, name := range d.PrimaryKey {
		i := herb.FieldIndex(d.Fields, name)
		if i < 0 {
			return nil
		}
		key = append(key, i)
	}
	return key
}

// render writes a record as a feature to out.
func (w *featureWriter) render(record []byte) (err error) {
	w.out.Reset()
	w.members, err = herb.AppendMembers(w.members[:0], record, len(w.fields))
	if err != nil {
		return err
	}
	w.out.WriteString(`{"type":"Feature",`)
	if err := w.writeID(); err != nil {
		return err
	}
	w.values = w.values[:0]
	for _, i := range w.reader.Fields() {
		value, err := herb.MemberText(w.members[i])
		if err != nil {
			return err
		}
		w.values = append(w.values, value)
	}
	w.out.WriteString(`"geometry":`)
	w.out.Write(w.reader.AppendGeometry(w.out.AvailableBuffer(), w.values))
	w.out.WriteString(`,"properties":`)
	if err := w.selector.Write(&w.out, record); err != nil {
		return err
	}
	return w.out.WriteByte('}')
}

// writeID writes the member id: the value of the primary key. The values of a composite key are
// joined as in the address of the record. A typed number is a number; an empty value is no id.
func (w *featureWriter) writeID() error {
	var parts []string
	for _, i := range w.key {
		value, err := herb.MemberText(w.members[i])
		if err != nil {
			return err
		}
		if len(w.key) > 1 {
			value = url.PathEscape(value)
		}
		parts = append(parts, value)
	}
	id := strings.Join(parts, "/")
	if id == "" {
		return nil
	}
	literal := herb.AppendJSONString(nil, id)
	if len(w.key) == 1 && w.types != nil && w.types[w.key[0]].IsNumber() {
		literal = w.types[w.key[0]].AppendJSON(nil, &w.fields[w.key[0]], id)
		if string(literal) == "null" {
			return nil
		}
	}
	w.out.WriteString(`"id":`)
	w.out.Write(literal)
	return w.out.WriteByte(',')
}
