package snippets

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// quoteJSON returns a string literal of JavaScript, Python, Go and R, which write it alike.
func quoteJSON(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // writing to a buffer cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// quoteShell returns a word of a POSIX shell.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// quoteM returns a text literal of Power Query.
func quoteM(s string) string {
	return `"` + strings.NewReplacer(`"`, `""`, "#(", "#(#)(").Replace(s) + `"`
}

// quoteSheets returns a text literal of a formula.
func quoteSheets(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// quoteName returns an identifier of SQL.
func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// quoteAll returns the literals of names with commas between them, in lines of a few.
func quoteAll(names []string, quote func(string) string, indent string) string {
	const perLine = 6
	var b strings.Builder
	for i, name := range names {
		switch {
		case i > 0 && i%perLine == 0:
			b.WriteString(",\n" + indent)
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(quote(name))
	}
	return b.String()
}

// isPlain reports whether a name consists of visible characters and spaces, so that the code of a
// program reads as it runs: no line breaks, and no characters that change the direction of text.
func isPlain(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
