// Package plants implements the plant store: strict decoding of new plants, a Service that commits
// many creations together, and an Index that lists the plants.
package plants

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// Limits of a new plant.
const (
	MaxBody = 1 << 20 // bytes
	MaxName = 255     // Unicode code points
	MaxTag  = 255

	maxShown = 60 // characters of a value in a message
)

// validID completes messages about the ID.
const validID = "it must be an integer from -9223372036854775808 to 9223372036854775807"

// example is shown if the body is not an object.
const example = `a JSON object such as {"id":1,"name":"Fern","tag":"shade"}`

// Decode parses a new plant from the body of a request. It is strict about JSON: one object and
// nothing after it, no duplicate member at any depth, valid Unicode. Unknown members are ignored.
// Every error has herb.CodeInvalid and names what is valid.
func Decode(body []byte) (p herb.NewPlant, err error) {
	members, err := decodeObject(body)
	if err != nil {
		return p, err
	}
	p.ID, err = decodeID(members)
	if err != nil {
		return p, err
	}
	name, ok := members["name"]
	if !ok {
		return p, herb.Invalidf(`"name" is missing; it must be a string of 1 to %d characters`, MaxName)
	}
	p.Name, err = decodeText("name", name, MaxName)
	if err != nil {
		return p, err
	}
	if !strings.ContainsFunc(p.Name, herb.IsVisible) {
		return p, herb.Invalidf(`"name" has no visible character; it must have at least one`)
	}
	if tag, ok := members["tag"]; ok {
		text, err := decodeText("tag", tag, MaxTag)
		p.Tag = &text
		return p, err
	}
	return p, nil
}

func decodeID(members map[string]any) (int64, error) {
	value, ok := members["id"]
	if !ok {
		return 0, herb.Invalidf(`"id" is missing; %s`, validID)
	}
	number, ok := value.(json.Number)
	if !ok {
		return 0, herb.Invalidf(`"id" is %s; %s`, kind(value), validID)
	}
	id, integer, fits := parseInteger(string(number))
	switch {
	case !integer:
		return 0, herb.Invalidf(`"id" is %s, which is not an integer; %s`, herb.Clip(string(number), maxShown), validID)
	case !fits:
		return 0, herb.Invalidf(`"id" is %s, which is out of range; %s`, herb.Clip(string(number), maxShown), validID)
	}
	return id, nil
}

func decodeText(member string, value any, limit int) (string, error) {
	s, ok := value.(string)
	if !ok {
		return "", herb.Invalidf("%q is %s; it must be a string of up to %d characters", member, kind(value), limit)
	}
	if n := utf8.RuneCountInString(s); n > limit {
		return "", herb.Invalidf("%q has %d characters; it must have at most %d", member, n, limit)
	}
	if i := strings.IndexFunc(s, unicode.IsControl); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		return "", herb.Invalidf("%q contains the control character %U; leave out line breaks, tabs and the like",
			member, r)
	}
	return s, nil
}

func kind(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case json.Delim:
		if value == json.Delim('{') {
			return "an object"
		}
		return "an array"
	default:
		return "of another type"
	}
}

// hugeExponent is larger than the number of digits that a body can have.
const hugeExponent = 1 << 40

// parseInteger parses a JSON number exactly. integer reports whether its value is an integer, in
// any notation (1.0, 1e3, 12300e-2), and fits whether it fits in 64 bits. Large exponents cost
// nothing.
func parseInteger(s string) (n int64, integer, fits bool) {
	mantissa, exponent := s, int64(0)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa = s[:i]
		exponent, _ = strconv.ParseInt(s[i+1:], 10, 64) // the nearest number if it is out of range
		exponent = min(max(exponent, -hugeExponent), hugeExponent)
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	digits, fraction, _ := strings.Cut(digits, ".")
	exponent -= int64(len(fraction))
	digits = strings.TrimLeft(digits+fraction, "0")
	if digits == "" {
		return 0, true, true
	}
	significant := strings.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(significant))
	// The value is significant × 10^exponent, and significant does not end in 0.
	if exponent < 0 {
		return 0, false, false
	}
	const maxDigits = 19 // of a 64-bit integer
	if int64(len(significant))+exponent > maxDigits {
		return 0, true, false
	}
	if negative {
		significant = "-" + significant
	}
	n, err := strconv.ParseInt(significant+strings.Repeat("0", int(exponent)), 10, 64)
	return n, true, err == nil
}

// decodeObject returns the members of the object in body: strings, json.Numbers, booleans and nil,
// and for an object or an array its opening json.Delim. It rejects what encoding/json would
// silently fix.
func decodeObject(body []byte) (map[string]any, error) {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return nil, herb.Invalidf("the body is empty; send %s", example)
	case len(body) > MaxBody:
		return nil, herb.Invalidf("the body is larger than %s", herb.FormatBytes(MaxBody))
	case !utf8.Valid(body):
		return nil, herb.Invalidf("the body is not valid UTF-8; send %s in UTF-8", example)
	}
	var value json.RawMessage
	if err := json.Unmarshal(body, &value); err != nil {
		at := ""
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = fmt.Sprintf(" at byte %d", e.Offset)
		}
		return nil, herb.Invalidf("the body is not valid JSON%s: %s; send %s", at, err, example)
	}
	if hasLoneSurrogate(body) {
		return nil, herb.Invalidf(
			`the body has half of a \u surrogate pair; write both halves, or the character itself`)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	first, err := d.Token()
	if err != nil || first != json.Delim('{') {
		return nil, herb.Invalidf("the body is %s; send %s", kind(first), example)
	}
	return readValue(d, first)
}

// readValue reads the rest of a value with valid syntax that begins with a token, and returns the
// members of an object. It discards nested values, but rejects duplicate members in them.
func readValue(d *json.Decoder, start json.Token) (members map[string]any, err error) {
	if _, nested := start.(json.Delim); !nested {
		return nil, nil
	}
	members = map[string]any{}
	for d.More() {
		value, err := d.Token()
		if name, _ := value.(string); start == json.Delim('{') && err == nil {
			if _, duplicate := members[name]; duplicate {
				return nil, herb.Invalidf("duplicate member %q; give it once", herb.Clip(name, maxShown))
			}
			value, err = d.Token()
			members[name] = value
		}
		if err == nil {
			_, err = readValue(d, value)
		}
		if err != nil {
			return nil, err
		}
	}
	_, err = d.Token() // the closing bracket
	return members, err
}

// hasLoneSurrogate reports whether valid JSON contains an escaped lone surrogate. A backslash
// occurs only in strings there, followed by what it escapes.
func hasLoneSurrogate(body []byte) bool {
	for {
		_, escape, found := bytes.Cut(body, []byte{'\\'})
		if !found {
			return false
		}
		_, size := herb.Unescape(escape)
		if size == 0 {
			return true
		}
		body = escape[size:]
	}
}
