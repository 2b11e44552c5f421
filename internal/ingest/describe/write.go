package describe

import (
	"bufio"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"herbarium/internal/herb"
)

// writer writes a descriptor as JSON or YAML. It writes each resource when it is added, because a resource with thousands of
// columns takes many times as much memory as its text.
type writer struct {
	out     *bufio.Writer // its errors are sticky
	yaml    bool
	written bool // that is, a resource
}

// add writes a resource, and before the first one the members of the package.
func (w *writer) add(namespace string, resource object) {
	const schema, comment = "https://datapackage.org/profiles/2.0/datapackage.json",
		"A Data Package (https://datapackage.org). Edit it and publish it: herbarium publish datapackage.yaml"
	switch {
	case !w.yaml && !w.written:
		w.print(`{`, "\n  ", `"$schema": "`, schema, `",`, "\n  ", `"name": "`, namespace, `",`, "\n  ", `"resources": [`)
	case !w.yaml:
		w.print(",")
	case !w.written:
		w.writeYAML(object{{"$schema", commented{schema, comment, ""}}, {"name", namespace}}, "", "")
		w.print("resources:\n")
	}
	if w.yaml {
		w.writeYAML(resource, "  - ", "    ")
	} else {
		w.print("\n    ")
		w.writeJSON(resource, "    ")
	}
	w.written = true
}

// close writes what comes after the last resource.
func (w *writer) close() error {
	if w.written && !w.yaml {
		w.print("\n  ]\n}\n")
	}
	return w.out.Flush()
}

func (w *writer) print(texts ...string) {
	for _, s := range texts {
		_, _ = w.out.WriteString(s)
	}
}

// writeJSON writes a value whose first line is indented already.
func (w *writer) writeJSON(value any, indent string) {
	inner, separator := indent+"  ", ""
	switch v := value.(type) {
	case commented:
		w.writeJSON(v.value, indent)
		return
	case inlineObject:
		w.writeJSON(object(v), indent)
		return
	case object:
		for _, m := range v {
			w.print(cmp.Or(separator, "{"), "\n", inner)
			w.quoteJSON(m.name)
			w.print(": ")
			w.writeJSON(m.value, inner)
			separator = ","
		}
		w.print("\n", indent, "}")
		return
	}
	switch v := reflect.Indirect(reflect.ValueOf(value)); v.Kind() {
	case reflect.String:
		w.quoteJSON(v.String())
	case reflect.Slice:
		for _, item := range v.Seq2() {
			w.print(cmp.Or(separator, "["), "\n", inner)
			w.writeJSON(item.Interface(), inner)
			separator = ","
		}
		w.print("\n", indent, "]")
	default:
		w.print(fmt.Sprint(v))
	}
}

func (w *writer) quoteJSON(s string) {
	_, _ = w.out.Write(herb.AppendJSONString(w.out.AvailableBuffer(), strings.ToValidUTF8(s, "\uFFFD")))
}

// writeYAML writes an object. first is what its first line begins with, indent what the others begin with.
func (w *writer) writeYAML(o object, first, indent string) {
	for i, m := range o {
		c, ok := m.value.(commented)
		if !ok {
			c.value = m.value
		}
		if i > 0 {
			first = indent
		}
		if c.above != "" {
			margin := strings.TrimSuffix(first, "- ")
			w.print(margin, "# ", strings.ReplaceAll(c.above, "\n", "\n"+margin+"# "), "\n")
		}
		if c.after != "" {
			c.after = " # " + c.after
		}
		w.print(first, yamlKey(m.name, indent))
		switch v := c.value.(type) {
		case object:
			w.print("\n")
			w.writeYAML(v, indent+"  ", indent+"  ")
		case []object:
			w.print("\n")
			for _, item := range v {
				w.writeYAML(item, indent+"  - ", indent+"    ")
			}
		case []any:
			w.print("\n")
			for _, item := range v {
				w.print(indent, "  - ", yamlValue(item, indent+"  ", false), "\n")
			}
		default:
			w.print(" ", yamlValue(v, indent, false), c.after, "\n")
		}
	}
}

// yamlKey returns the name of a member with its colon. Long names and those of several lines begin with a question mark.
func yamlKey(name, indent string) string {
	const maxSimple = 128
	key := yamlText(name, indent, false)
	if len(name) > maxSimple || strings.Contains(key, "\n") {
		return "? " + key + "\n" + indent + ":"
	}
	return key + ":"
}

// yamlValue returns a value that is neither an object nor a list of objects. inline: it is in a list or object of one line.
func yamlValue(value any, indent string, inline bool) string {
	v := reflect.Indirect(reflect.ValueOf(value))
	o, isObject := value.(inlineObject)
	var items []string
	switch {
	case isObject:
		for _, m := range o {
			items = append(items, m.name+": "+yamlValue(m.value, "", true))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case v.Kind() == reflect.Slice:
		for _, item := range v.Seq2() {
			items = append(items, yamlValue(item.Interface(), "", true))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case v.Kind() == reflect.String:
		return yamlText(v.String(), indent, inline)
	}
	return fmt.Sprint(v)
}

// yamlText returns text, in quotes or on several lines if necessary.
func yamlText(s, indent string, inline bool) string {
	switch {
	case isPlain(s):
		return s
	case s == "<<", strings.ContainsFunc(s, isLineEnd), strings.Contains(s, "\n") && strings.TrimLeft(s, " \t\n") != s:
		return strconv.Quote(s) // what the encoder writes does not always read back as the same text
	}
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	var value any = s
	if inline {
		value = struct {
			List []string `yaml:",flow"`
		}{[]string{s}}
	}
	if err := e.Encode(value); err != nil {
		panic(err) // text has no errors
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if inline {
		return text[len("list: [") : len(text)-len("]")]
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		if i > 0 && lines[i] != "" {
			lines[i] = indent + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// isLineEnd reports whether a character ends a line in some editions of YAML but not in ours, or marks the start of a file.
func isLineEnd(r rune) bool { return strings.ContainsRune("\r\u0085\u2028\u2029\uFEFF", r) }

// isPlain reports whether text is written without quotes, as most names and types are. The encoder decides about other text, but
// takes minutes for the names of half a million columns.
func isPlain(s string) bool {
	isOther := func(r rune) bool {
		return r != '_' && r != ' ' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if s == "" || strings.ContainsAny(s[:1], " -0123456789") || strings.ContainsAny(s[len(s)-1:], " -") || strings.ContainsFunc(s, isOther) {
		return false
	}
	return !slices.Contains([]string{"y", "yes", "n", "no", "on", "off", "true", "false", "null"}, strings.ToLower(s))
}
