package source

import (
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
)

// members are members of an object that have an effect, and others of the standard that have none.
type members struct{ read, other []string }

// knownMembers returns the members of a package, a resource, a schema, a field or a dialect. Everyone may add others, so an
// unknown member is no error, but one that differs in one letter from a member that has an effect is probably misspelled.
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
		if slices.Contains(known.read, name) || slices.Contains(known.other, name) {
			continue
		}
		switch meant := similar(name, known.read); {
		case meant == "" || n.member(meant).value != nil:
		case meant == own:
			n.fail("has an unknown member %q; did you mean %q?", rows.Clip(name), meant)
		default:
			notes = append(notes, n.errorf("has an unknown member %q, which has no effect; did you mean %q?", rows.Clip(name), meant).Error())
		}
	}
	return notes
}

// misspelled returns a hint for the message about a missing member, if another member is probably a misspelling of it.
func (n node) misspelled(name string) string {
	for _, found := range n.names() {
		if similar(found, []string{name}) != "" {
			return fmt.Sprintf("; %q is unknown, did you mean %q?", rows.Clip(found), name)
		}
	}
	return ""
}

// similar returns the first word of more than two letters that equals another one, or does so if one character is inserted,
// removed or replaced or two adjacent ones are exchanged, in any case. Short words with further differences are often other
// words.
func similar(word string, words []string) string {
	for _, w := range words {
		a, b := []rune(strings.ToLower(word)), []rune(strings.ToLower(w))
		if min(len(a), len(b)) > 2 && max(len(a), len(b))-min(len(a), len(b)) < 2 && text.EditDistance(a, b) < 2 {
			return w
		}
	}
	return ""
}
