package text

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// DeriveSearchText returns the text of SearchText and the parts of it that are elements: those of a
// list, or the whole value of another type. It also reads the elements of a JSON array whose end
// was cut off.
func DeriveSearchText(f *herb.Field, value string, isCut bool) (d Derived, elements []Range) {
	if f.Type != herb.TypeList {
		return Derived{Text: []byte(value)}, []Range{{0, len(value)}}
	}
	isArray := false
	if f.Notation.JSON {
		_, isArray = ParseArray([]byte(value))
		isArray = isArray || isCut && strings.HasPrefix(strings.TrimLeft(value, " \t\r\n"), "[")
	}
	if isArray {
		return deriveArray(value)
	}
	at := 0
	for part := range strings.SplitSeq(value, ",") {
		if element := strings.TrimSpace(part); element != "" {
			start := at + strings.Index(part, element)
			elements = append(elements, Range{start, start + len(element)})
		}
		at += len(part) + len(",")
	}
	return Derived{Text: []byte(value)}, elements
}

// deriveArray returns the elements of a JSON array of plain values with commas between them.
func deriveArray(array string) (d Derived, elements []Range) {
	decoder := json.NewDecoder(strings.NewReader(array))
	_, err := decoder.Token() // the bracket
	for err == nil && decoder.More() {
		var raw json.RawMessage
		err = decoder.Decode(&raw)
		if err != nil || string(raw) == "null" || string(raw) == `""` {
			continue
		}
		end := int(decoder.InputOffset())
		start := end - len(raw)
		if len(elements) > 0 {
			d.add([]byte(", "), Range{start, start})
		}
		from := len(d.Text)
		if raw[0] == '"' {
			d.addString(raw[1:len(raw)-1], start+1)
		} else {
			for i := range raw {
				d.add(raw[i:i+1], Range{start + i, start + i + 1})
			}
		}
		elements = append(elements, Range{from, len(d.Text)})
	}
	return d, elements
}

// addString appends the text of a JSON string without its quotation marks, which begins at an index
// of the original.
func (d *Derived) addString(raw []byte, at int) {
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == '\\' {
			r, n = herb.Unescape(raw[i+1:])
			n++
			if n == 1 { // a lone surrogate
				r, n = utf8.RuneError, len(`\u0000`)
			}
		}
		d.add(utf8.AppendRune(nil, r), Range{at + i, at + i + n})
		i += n
	}
}
