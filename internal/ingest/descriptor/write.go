package descriptor

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"herbarium/internal/herb"
)

// Writer writes a descriptor as JSON or YAML. It writes each resource when it is added, because a
// resource with thousands of columns takes many times as much memory as its text.
type Writer struct {
	out       *bufio.Writer // its errors are sticky
	namespace string
	yaml      bool
	written   bool // a resource
}

// NewWriter returns a writer of a descriptor. YAML has comments for editing.
func NewWriter(out io.Writer, namespace string, yaml bool) *Writer {
	return &Writer{out: bufio.NewWriter(out), namespace: namespace, yaml: yaml}
}

// IsEmpty reports whether no resource was added.
func (w *Writer) IsEmpty() bool { return !w.written }

// Add writes a resource, and before the first one the members of the package.
func (w *Writer) Add(r Resource) {
	const comment = "A Data Package (https://datapackage.org). Edit it and publish it: herbarium publish " +
		"datapackage.yaml"
	switch {
	case w.yaml && !w.written:
		w.encodeYAML(members{{"$schema", commented{standard, comment, ""}}, {"name", w.namespace}, {"resources", nil}},
			"", "")
	case !w.yaml && !w.written:
		w.print("{\n  \"$schema\": \"", standard, "\",\n  \"name\": \"", w.namespace, "\",\n  \"resources\": [")
	case !w.yaml:
		w.print(",")
	}
	if w.yaml {
		w.writeYAML(r.members(), "  - ", "    ")
	} else {
		w.print("\n    ")
		w.writeJSON(r.members(), "    ")
	}
	w.written = true
}

// Close writes what comes after the last resource. It does not close the output.
func (w *Writer) Close() error {
	if w.written && !w.yaml {
		w.print("\n  ]\n}\n")
	}
	return w.out.Flush()
}

func (w *Writer) print(texts ...string) {
	for _, s := range texts {
		_, _ = w.out.WriteString(s)
	}
}

// writeJSON writes a value whose first line is indented already.
func (w *Writer) writeJSON(value any, indent string) {
	const blanks = "                              " // more than the deepest object needs
	inner, separator := blanks[:len(indent)+2], ""
	switch v := value.(type) {
	case commented:
		w.writeJSON(v.value, indent)
		return
	case members:
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

func (w *Writer) quoteJSON(s string) {
	_, _ = w.out.Write(herb.AppendJSONString(w.out.AvailableBuffer(), strings.ToValidUTF8(s, "\uFFFD")))
}

// writeYAML writes an object. first is what its first line begins with, indent what the others
// begin with. The library encodes each member on its own, and a few elements of a list at a time,
// because it holds a kilobyte for each value until the end.
func (w *Writer) writeYAML(o members, first, indent string) {
	for _, m := range o {
		c, _ := m.value.(commented)
		switch v := cmp.Or[any](c.value, m.value).(type) {
		case members:
			w.encodeYAML(members{{m.name, commented{above: c.above}}}, first, indent)
			w.writeYAML(v, indent+"  ", indent+"  ")
		case []members:
			w.encodeYAML(members{{m.name, commented{above: c.above}}}, first, indent)
			for items := range slices.Chunk(v, 20) {
				w.encodeYAML(items, indent+"  ", indent+"  ")
			}
		default:
			w.encodeYAML(members{m}, first, indent)
		}
		first = indent
	}
}

func (w *Writer) encodeYAML(value any, first, indent string) {
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(newNode(value)); err != nil {
		panic(err) // valid text has no errors
	}
	for line := range bytes.Lines(text.Bytes()) {
		if len(line) > 1 {
			w.print(first)
		}
		_, _ = w.out.Write(line)
		first = indent
	}
}

// newNode returns a value for the library. A list of text or numbers is on one line, as is an
// object in an object of a list.
func newNode(value any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch v := value.(type) {
	case commented:
		n = newNode(v.value)
		n.LineComment = v.after
		return n
	case members:
		n.Kind = yaml.MappingNode
		for _, m := range v {
			if c, ok := m.value.(commented); ok {
				n.HeadComment = c.above
			}
			value := newNode(m.value)
			if value.Kind == yaml.MappingNode {
				value.Style = yaml.FlowStyle
			}
			n.Content = append(n.Content, newNode(m.name), value)
		}
		return n
	}
	switch v := reflect.Indirect(reflect.ValueOf(value)); v.Kind() {
	case reflect.Invalid:
	case reflect.Slice:
		n.Kind = yaml.SequenceNode
		if v.Type().Elem() != reflect.TypeFor[members]() {
			n.Style = yaml.FlowStyle
		}
		for _, item := range v.Seq2() {
			n.Content = append(n.Content, newNode(item.Interface()))
		}
	case reflect.String:
		n.Tag, n.Value = "!!str", strings.ToValidUTF8(v.String(), "\uFFFD")
		if isAmbiguous(n.Value) {
			n.Style = yaml.DoubleQuotedStyle
		}
	default:
		n.Value = fmt.Sprint(v)
	}
	return n
}

// isAmbiguous reports whether the library writes text without quotes that it, or a program with
// another edition of YAML, reads as something else.
func isAmbiguous(s string) bool {
	isSpecial := slices.Contains([]string{"y", "yes", "n", "no", "on", "off", "<<"}, strings.ToLower(s))
	isBase60 := strings.Contains(s, ":") && strings.Trim(s, "+-0123456789_.:") == ""
	isIndented := strings.Contains(s, "\n") && strings.TrimLeft(s, " \t\n") != s
	return isSpecial || isBase60 || isIndented || strings.ContainsAny(s, "\r\u0085\u2028\u2029\uFEFF")
}
