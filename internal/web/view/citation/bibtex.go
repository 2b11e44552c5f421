package citation

import (
	"strconv"
	"strings"
)

// bibTeX returns the citation as an entry that BibTeX and Biber read. Styles of BibTeX print the
// note, but neither the version nor the publisher of a @misc entry.
func bibTeX(s Source) string {
	const most = 25
	var authors []string
	for _, a := range s.Authors[:min(len(s.Authors), most)] {
		authors = append(authors, "{"+escape(a)+"}") // one name, whatever its commas and "and"
	}
	if len(s.Authors) > most {
		authors = append(authors, "others")
	}
	var b strings.Builder
	b.WriteString("@misc{" + s.key())
	field := func(name, value string) {
		if value != "" {
			b.WriteString(",\n  " + name + " = " + value)
		}
	}
	text := func(name, value string) {
		if value != "" {
			field(name, "{"+escape(value)+"}")
		}
	}
	field("author", "{"+strings.Join(authors, " and ")+"}")
	field("title", "{{"+escape(s.Title)+"}}") // the second braces keep capital letters
	if !s.Published.IsZero() {
		field("year", "{"+strconv.Itoa(s.Published.UTC().Year())+"}")
		field("month", strings.ToLower(s.Published.UTC().Format("Jan")))
	}
	text("publisher", s.Publisher)
	text("version", s.Version)
	text("note", strings.TrimSuffix("Data set, "+s.details(), ", "))
	field("url", "{"+escapeURL(s.URL)+"}")
	b.WriteString("\n}")
	return b.String()
}

// key returns the name of the entry: the dataset and its version, in characters that every program
// accepts.
func (s Source) key() string {
	name := []byte(s.Ref.Namespace + "-" + s.Ref.Name + "-" + s.Version)
	for i, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.') {
			name[i] = '-'
		}
	}
	return strings.TrimRight(string(name), "-")
}

// escape returns a text for a value in braces. BibTeX counts braces with a backslash, too, so they
// become commands: a value has as many opening as closing braces whatever the text.
func escape(text string) string {
	return strings.NewReplacer(
		`\`, `{\textbackslash}`, `{`, `{\textbraceleft}`, `}`, `{\textbraceright}`, `~`, `{\textasciitilde}`, `^`,
		`{\textasciicircum}`,
		`%`, `\%`, `&`, `\&`, `_`, `\_`, `#`, `\#`, `$`, `\$`, `"`, `{"}`,
	).Replace(text)
}

// escapeURL encodes the characters of a URL that end a value or that TeX cannot read in a URL.
func escapeURL(url string) string {
	return strings.NewReplacer(`\`, "%5C", "{", "%7B", "}", "%7D", `"`, "%22", "^", "%5E", " ", "%20").Replace(url)
}
