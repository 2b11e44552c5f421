package plants

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// decodeObject returns the members of the object in body: strings, json.Numbers, booleans and nil, and for an object or an
// array its opening json.Delim. It rejects what encoding/json would silently fix.
func decodeObject(body []byte) (map[string]any, error) {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return nil, herb.Invalidf("the body is empty; send %s", example)
	case len(body) > MaxBody:
		return nil, herb.Invalidf("the body has %d bytes; at most %d are read", len(body), MaxBody)
	case !utf8.Valid(body):
		return nil, herb.Invalidf("the body is not valid UTF-8; send %s in UTF-8", example)
	}
	if err := checkSyntax(body); err != nil {
		return nil, err
	}
	if loneSurrogate(body) {
		return nil, herb.Invalidf(`the body has half of a \u surrogate pair; write both halves, or the character itself`)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, herb.Invalidf("the body is %s; send %s", kind(first), example)
	}
	return readMembers(d)
}

// checkSyntax rejects what is not exactly one JSON value.
func checkSyntax(body []byte) error {
	var value json.RawMessage
	err := json.Unmarshal(body, &value)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return herb.Invalidf("the body is not valid JSON at byte %d: %s; send %s", e.Offset, e, example)
	}
	return herb.Invalidf("the body is not valid JSON; send %s", example)
}

// readMembers reads the rest of an object with valid syntax. It discards nested values, but rejects duplicate members in
// them.
func readMembers(d *json.Decoder) (map[string]any, error) {
	members := map[string]any{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := name.(string)
		if _, twice := members[key]; twice {
			return nil, herb.Invalidf("duplicate member %q", herb.Clip(key, maxShown))
		}
		value, err := d.Token()
		if err != nil {
			return nil, err
		}
		members[key] = value
		if err := skipValue(d, value); err != nil {
			return nil, err
		}
	}
	_, err := d.Token() // the closing bracket
	return members, err
}

// skipValue reads the rest of a value that begins with a token.
func skipValue(d *json.Decoder, begin json.Token) error {
	switch begin {
	case json.Delim('{'):
		_, err := readMembers(d)
		return err
	case json.Delim('['):
		for d.More() {
			element, err := d.Token()
			if err != nil {
				return err
			}
			if err := skipValue(d, element); err != nil {
				return err
			}
		}
		_, err := d.Token()
		return err
	}
	return nil
}

// loneSurrogate reports whether valid JSON contains an escaped lone surrogate. A backslash occurs only in strings there,
// followed by what it escapes.
func loneSurrogate(body []byte) bool {
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		i++
		r, ok := escaped(body[i:])
		if !ok || !utf16.IsSurrogate(r) {
			continue
		}
		next := body[i+5:] // after uXXXX
		if next[0] != '\\' {
			return true
		}
		low, ok := escaped(next[1:])
		if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
			return true
		}
		i += 10 // the last digit of the second escape
	}
	return false
}

// escaped parses the uXXXX of an escape.
func escaped(b []byte) (rune, bool) {
	if b[0] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[1:5]), 16, 32)
	return rune(n), err == nil
}
