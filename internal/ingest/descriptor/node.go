package descriptor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
)

// object is an object of a descriptor. Values are nil, bool, string, json.Number, []any and object.
type object = map[string]any

// node is a value of a descriptor with its location. An absent value is nil, as null is. Methods
// that read a value record the first error in err, so that callers check it once.
type node struct {
	where string // such as resources[0].path; empty: the descriptor itself
	value any
	err   *error
}

func (n node) errorf(format string, args ...any) error {
	return herb.Invalidf("%s %s", cmp.Or(n.where, "the descriptor"), fmt.Sprintf(format, args...))
}

func (n node) fail(format string, args ...any) { n.record(n.errorf(format, args...)) }

// record records an error, if it is the first.
func (n node) record(err error) { *n.err = cmp.Or(*n.err, err) }

func (n node) member(name string) node {
	where := name
	if n.where != "" {
		where = n.where + "." + name
	}
	o, _ := n.value.(object)
	return node{where, o[name], n.err}
}

// either returns the member with one of two names: that of the standard, or that of early editions.
func (n node) either(name, early string) node {
	if m := n.member(early); n.member(name).value == nil && m.value != nil {
		return m
	}
	return n.member(name)
}

// names returns the names of the members of an object, sorted.
func (n node) names() []string {
	o, _ := n.value.(object)
	return slices.Sorted(maps.Keys(o))
}

// isObject fails if the value is not an object.
func (n node) isObject() bool {
	_, ok := n.value.(object)
	if !ok {
		n.fail("must be an object")
	}
	return ok
}

// scalar returns text, a number or a boolean as it was written.
func (n node) scalar() (string, bool) {
	switch v := n.value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// text returns a scalar.
func (n node) text() string {
	s, ok := n.scalar()
	if !ok {
		n.fail("must be text; put it in quotes")
	}
	return s
}

// texts returns a value that is text or a list of text.
func (n node) texts() (out []string) {
	for _, item := range n.items() {
		out = append(out, item.text())
	}
	return out
}

// annotation returns a member that is text, or "" if it is anything else.
func (n node) annotation(name string) string {
	s, _ := n.member(name).value.(string)
	return s
}

func (n node) integer(low, high int) int {
	number, _ := n.value.(json.Number)
	i, err := strconv.Atoi(number.String())
	if err != nil || i < low || i > high {
		n.fail("must be an integer from %d to %d", low, high)
	}
	return i
}

// period returns a value that is a period of time, such as 90d, or herb.KeepNoLonger for 0.
func (n node) period() time.Duration {
	if n.value == json.Number("0") || n.value == "0" {
		return herb.KeepNoLonger
	}
	s, _ := n.value.(string)
	d, ok := herb.ParsePeriod(s)
	if !ok {
		n.fail("must be a number with a unit, such as 90d, 8w or 12h, in quotes, or 0")
	}
	return d
}

// char returns a value that is one ASCII character, or 0 for an empty one.
func (n node) char() byte {
	s, ok := n.value.(string)
	switch {
	case !ok:
		n.fail("must be one ASCII character, in quotes")
	case s == "":
	case strings.EqualFold(s, "tab") || s == `\t`:
		return '\t'
	case len(s) != 1 || s[0] >= 0x80 || s[0] == '\n' || s[0] == '\r' || s[0] == 0:
		n.fail("is %q; it must be one ASCII character", rows.Clip(s))
	default:
		return s[0]
	}
	return 0
}

// list returns the elements of a value that must be a list.
func (n node) list() []node {
	if _, ok := n.value.([]any); !ok && n.value != nil {
		n.fail("must be a list")
	}
	return n.items()
}

// items returns the elements of a list. Any other value is a list of itself, an absent one an empty
// list.
func (n node) items() []node {
	values, ok := n.value.([]any)
	switch {
	case n.value == nil:
		return nil
	case !ok:
		return []node{n}
	}
	out := make([]node, len(values))
	for i, v := range values {
		out[i] = node{fmt.Sprintf("%s[%d]", n.where, i), v, n.err}
	}
	return out
}

// isShort fails for a list of more than a number of values, each of which takes time for every
// value or row.
func (n node) isShort(limit int) bool {
	list, _ := n.value.([]any)
	if len(list) > limit {
		n.fail("lists %d values; at most %d are possible", len(list), limit)
	}
	return len(list) <= limit
}

// shortList returns the elements of a value that must be a list of at most limit elements.
func (n node) shortList(limit int) []node {
	if !n.isShort(limit) {
		return nil
	}
	return n.list()
}

// checkAnnotations fails if a member that describes the dataset to readers is too large for lists
// of datasets.
func (n node) checkAnnotations() {
	for _, name := range herb.Annotations() {
		if m := n.member(name); m.size() > herb.MaxAnnotation {
			m.fail("has more than %s, the maximum; shorten it", herb.FormatBytes(herb.MaxAnnotation))
		}
	}
}

// size returns about the number of bytes of the value as JSON.
func (n node) size() (bytes int) {
	switch v := n.value.(type) {
	case string:
		return len(v) + 2
	case []any:
		for _, item := range v {
			bytes += node{value: item}.size() + 1
		}
	case object:
		for name, member := range v {
			bytes += len(name) + node{value: member}.size() + 4
		}
	}
	return bytes + 2
}

// bindOwn assigns the members of an object that only Herbarium defines, so that unknown members are
// errors.
func (n node) bindOwn(bindings []binding) {
	if n.value == nil || !n.isObject() {
		return
	}
	known := n.assignAll(bindings)
	for _, name := range n.names() {
		if !slices.Contains(known, name) {
			n.fail("has an unknown member %s", suggestion(name, "members", known))
		}
	}
}

// bind assigns the members of an object of the standard; others are members that are read
// elsewhere. Everyone may add members, so an unknown one is no error, but one that differs in one
// letter from these is probably misspelled: notes say so. A misspelled member with Herbarium's own
// settings is an error: without it, a dataset that should require a key would be open.
func (n node) bind(bindings []binding, others ...string) (notes []string) {
	known := append(others, n.assignAll(bindings)...)
	for _, name := range n.names() {
		// the standard has these beside schema
		if slices.Contains(known, name) || name == "scheme" || name == "$schema" {
			continue
		}
		switch meant, ok := text.Misspelled(name, known); {
		case !ok || n.member(meant).value != nil:
		case meant == Own:
			n.fail("has an unknown member %q; did you mean %q?", rows.Clip(name), meant)
		default:
			notes = append(notes, n.errorf("has an unknown member %q, which has no effect; did you mean %q?",
				rows.Clip(name), meant).Error())
		}
	}
	return notes
}

// assignAll assigns members and returns their names.
func (n node) assignAll(bindings []binding) (names []string) {
	for _, b := range bindings {
		n.member(b.name).assign(b.to)
		names = append(names, b.name)
	}
	return names
}

// assign assigns the value to a variable of a binding, unless it is absent.
func (n node) assign(to any) {
	if n.value == nil {
		return
	}
	flag, isBool := n.value.(bool)
	switch to := to.(type) {
	case *string:
		*to = n.text()
		if isBool {
			n.fail("must be text; put it in quotes")
		}
		n.record(herb.CheckTexts(herb.TextLimit{Name: n.where, Text: *to, Max: herb.MaxTitle}))
	case *bool:
		*to = flag
		if !isBool {
			n.fail("must be true or false")
		}
	case **bool:
		*to = new(bool)
		n.assign(*to)
	case *byte:
		*to = n.char()
	case *[]string:
		if n.isShort(herb.MaxValues) {
			*to = n.texts()
		}
	case *[]int:
		*to = nil
		if !n.isShort(herb.MaxIncluded) {
			return
		}
		for _, item := range n.items() {
			*to = append(*to, item.integer(1, maxLine))
		}
	case custom:
		to.read(n)
	case func(node):
		to(n)
	}
}

// maxLine is the largest number of a line, a sheet or a record.
const maxLine = 1<<31 - 1

// checkPlacement rejects settings that are beside the member "herbarium" instead of in it: without
// effect, they would leave a dataset open that should require a key. right is the member that they
// belong to.
func (n node) checkPlacement(right string) {
	for _, name := range []string{"access", "expectations"} {
		if m := n.member(name); m.value != nil {
			m.fail("is in the wrong place, where it has no effect; write it as %s.%s", right, name)
		}
	}
}

// suggestion quotes an unknown name, followed by the most similar valid one and all valid ones.
// kind is their plural noun.
func suggestion(name, kind string, valid []string) string {
	name = rows.Clip(name)
	return fmt.Sprintf("%q%s valid %s: %s", name, text.Suggestion(name, valid), kind, strings.Join(valid, ", "))
}

// misspelled returns a hint for the message about a missing member, if another member is probably a
// misspelling of it.
func (n node) misspelled(name string) string {
	for _, found := range n.names() {
		if _, ok := text.Misspelled(found, []string{name}); ok {
			return fmt.Sprintf("; %q is unknown, did you mean %q?", rows.Clip(found), name)
		}
	}
	return ""
}
