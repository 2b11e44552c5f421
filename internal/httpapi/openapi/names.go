package openapi

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"herbarium/internal/herb"
)

// isPortable reports whether a field can be a member and a parameter of its own in the document.
// Client generators copy names into code and tags, and generated clients copy them into URLs,
// without escaping. Go ignores tags with other characters.
func isPortable(field string) bool {
	switch field {
	case "-": // a Go tag that excludes a member
		return false
	case "__proto__", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString",
		"toString", "valueOf":
		return false // members of every object in JavaScript
	}
	return !strings.ContainsFunc(field, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" !()*-./:;?@[]_~", r)
	})
}

// uniqueNames generates names that remain unique when client generators convert them to
// identifiers.
type uniqueNames map[string]bool

// identifier returns a name for a dataset that all client generators accept: letters, digits and
// underscores.
func (u uniqueNames) identifier(r herb.Ref) string {
	return u.unique(strings.NewReplacer("-", "_", ".", "_").Replace(r.Namespace+"_"+r.Name), "_")
}

// unique returns a name, with a separator and a number if there is another one that generators
// convert to the same identifier.
func (u uniqueNames) unique(base, separator string) string {
	name := base
	for n := 2; u[camelCase(name)]; n++ {
		name = base + separator + strconv.Itoa(n)
	}
	u[camelCase(name)] = true
	return name
}

// predictable matches names that client generators for Go convert to camel case.
var predictable = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9 _.\[\]-]*$`)

// goName returns the Go identifier for a member or a parameter, for x-go-name. It is empty if
// client generators for Go choose a unique identifier themselves. Generators for other languages
// need no help.
func (u uniqueNames) goName(name string) string {
	base := camelCase(name)
	if predictable.MatchString(name) && !u[base] {
		u[base] = true
		return ""
	}
	if base == "" || unicode.IsDigit(rune(base[0])) {
		base = "Field" + base
	}
	return u.unique(base, "")
}

// camelCase returns the ASCII letters and digits of a name, with a capital letter at the beginning
// of each word.
func camelCase(name string) string {
	var b strings.Builder
	begin := true
	for _, r := range name {
		alphanumeric := r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
		if begin {
			r = unicode.ToUpper(r)
		}
		if alphanumeric {
			b.WriteRune(r)
		}
		begin = !alphanumeric
	}
	return b.String()
}
