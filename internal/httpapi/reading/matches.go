package reading

import (
	"iter"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/httpapi/response"
)

// writeMatches writes the member of the metadata that says where records match: an object for each
// record, with the parts of its values by field.
func writeMatches(buf *response.Buffer, all iter.Seq2[[]operations.FieldMatch, error]) error {
	var encoded []byte // of a record
	separator := `,"matches":[`
	for matches, err := range all {
		if err != nil {
			return err
		}
		encoded = append(append(encoded[:0], separator...), '{')
		for i, m := range matches {
			if i > 0 {
				encoded = append(encoded, ',')
			}
			encoded = append(herb.AppendJSONString(encoded, m.Field), ':', '[')
			for k, part := range m.Parts {
				if k > 0 {
					encoded = append(encoded, ',')
				}
				encoded = herb.AppendJSONString(encoded, part)
			}
			encoded = append(encoded, ']')
		}
		if _, err := buf.Write(append(encoded, '}')); err != nil {
			return err
		}
		separator = ","
	}
	if buf.Len() == 0 {
		_, err := buf.WriteString(separator)
		if err != nil {
			return err
		}
	}
	_, err := buf.WriteString("]")
	return err
}
