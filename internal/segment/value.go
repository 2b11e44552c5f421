package segment

import (
	"bytes"
	"encoding/json"
	"errors"
)

// rawValue returns the value of a field within the JSON of a record, without its quotes and still escaped. labels are
// the lengths of the field names as encoded in the JSON, including quotes and colon.
func rawValue(record []byte, labels []int, field int) []byte {
	at := 1 // after the brace
	for i := 0; ; i++ {
		at += labels[i] + 1 // after the opening quote of the value
		end := at + closingQuote(record[at:])
		if i == field {
			return record[at:end]
		}
		at = end + 2 // after the closing quote and the comma
	}
}

// closingQuote returns the index of the quote that ends a JSON string.
func closingQuote(b []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '"')
		if i < 0 {
			panic(corruption{errors.New("a value has no end")})
		}
		i += at
		escapes := 0
		for i-escapes > 0 && b[i-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
		at = i + 1
	}
}

// unescape decodes a JSON string.
func unescape(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	quoted := make([]byte, 0, len(raw)+2)
	quoted = append(append(append(quoted, '"'), raw...), '"')
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic(corruption{err}) // guard converts it to an error
	}
	return s
}

// corruption is the panic value of a failed format check. guard returns it as ErrCorrupt.
type corruption struct{ err error }
