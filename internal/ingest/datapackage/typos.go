package datapackage

import (
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
)

// members are the members of an object of a descriptor. Everyone may add others, so an unknown member is no error, but one
// that differs in one letter from a member that has an effect is probably misspelled.
type members struct {
	read  []string // that have an effect
	other []string // of the standard, without an effect
}

// knownMembers returns the members of a package, a resource, a schema, a field or a dialect.
func knownMembers(of string) members {
	return map[string]members{
		"package": {[]string{"name", "title", "description", "resources", own}, []string{"id", "homepage", "version", "licenses", "license",
			"contributors", "keywords", "image", "created", "sources", "profile", "$schema"}},
		"resource": {[]string{"name", "path", "url", "data", "title", "description", "format", "mediatype", "encoding", "compression", "type",
			"profile", "schema", "dialect", "layout", own}, []string{"bytes", "hash", "homepage", "version", "licenses", "sources", "scheme", "stats", "$schema"}},
		"schema": {[]string{"fields", "primaryKey", "missingValues", "fieldsMatch"}, []string{"name", "title", "description", "foreignKeys", "uniqueKeys", "$schema"}},
		"field": {[]string{"name", "id", "title", "label", "description", "type", "format", "decimalChar", "groupChar", "bareNumber", "delimiter",
			"trueValues", "falseValues", "missingValues", own}, []string{"constraints", "rdfType", "example", "examples", "categories", "categoriesOrdered",
			"itemType", "unit", "units"}},
		"dialect": {[]string{"delimiter", "quoteChar", "escapeChar", "doubleQuote", "skipInitialSpace", "nullSequence", "header", "headerRows",
			"headerJoin", "commentChar", "commentRows", "keys", "itemKeys", "property", "sheetName", "sheetNumber", "sheet", "table", "skipRows"},
			[]string{"name", "title", "description", "type", "lineTerminator", "caseSensitiveHeader", "csvddfVersion", "itemType", "$schema"}},
	}[of]
}

// own is the member with Herbarium's own settings.
const own = "herbarium"

// typos returns notes about members of an object, see knownMembers, that are probably misspelled. A misspelled member with Herbarium's own settings is an
// error: without it, a dataset that should require a key would be open.
func (n node) typos(of string) (notes []string) {
	known := knownMembers(of)
	for _, name := range n.names() {
		meant, ok := known.meant(name)
		if !ok || n.member(meant).value != nil {
			continue
		}
		if meant == own {
			n.fail("has an unknown member %q; did you mean %q?", rows.Clip(name), meant)
			continue
		}
		notes = append(notes, n.errorf("has an unknown member %q, which has no effect; did you mean %q?", rows.Clip(name), meant).Error())
	}
	return notes
}

// misspelled returns a hint for the message about a missing member, if another member is probably a misspelling of it.
func (n node) misspelled(name string) string {
	for _, found := range n.names() {
		if differsInOne(strings.ToLower(found), name) {
			return fmt.Sprintf("; %q is unknown, did you mean %q?", rows.Clip(found), name)
		}
	}
	return ""
}

// meant returns the member that an unknown name is probably a misspelling of.
func (m members) meant(name string) (string, bool) {
	if slices.Contains(m.read, name) || slices.Contains(m.other, name) {
		return "", false
	}
	for _, known := range m.read {
		if differsInOne(strings.ToLower(name), strings.ToLower(known)) {
			return known, true
		}
	}
	return "", false
}

// differsInOne reports whether two words of more than two letters are equal, or become equal if one character is inserted,
// removed or replaced or two adjacent ones are exchanged. Short words with further differences are often other words.
func differsInOne(a, b string) bool {
	shorter, longer := min(len(a), len(b)), max(len(a), len(b))
	return shorter > 2 && longer-shorter < 2 && text.EditDistance([]rune(a), []rune(b)) < 2
}
