package describe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

type member struct {
	name  string
	value any // text, a number, *bool, a list or a *yaml.Node
}

// object returns an object with the members that have a value, in their order; nil if none has. A comment above a value is
// moved above its name.
func object(members []member) *yaml.Node {
	o := &yaml.Node{Kind: yaml.MappingNode}
	for _, m := range members {
		if value := encode(m.value); value != nil {
			o.Content = append(o.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: m.name, HeadComment: value.HeadComment}, value)
			value.HeadComment = ""
		}
	}
	if o.Content == nil {
		return nil
	}
	return o
}

// isName matches text that no version of YAML takes for something else. Most names and types match it; Node.Encode starts a
// parser for each value, which takes a minute for half a million columns.
var isName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_ ]{3,}$`)

// encode returns a value as a node, nil if there is none. Lists of text and numbers are written on one line.
func encode(value any) *yaml.Node {
	if v := reflect.ValueOf(value); !v.IsValid() || v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
		return nil
	}
	switch v := value.(type) {
	case *yaml.Node:
		return v
	case []*yaml.Node:
		return &yaml.Node{Kind: yaml.SequenceNode, Content: v}
	case *bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(*v)}
	case string:
		if isName.MatchString(v) {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v}
		}
	}
	n := new(yaml.Node)
	if err := n.Encode(value); err != nil {
		panic(err) // text, numbers and lists of them have no errors
	}
	if n.Kind == yaml.SequenceNode {
		n.Style = yaml.FlowStyle
	}
	return n
}

// dialectOf describes how a file is written, without the defaults.
func dialectOf(s source.Source) *yaml.Node {
	o := s.Dialect
	var quote *string
	if o.Quote != 0 || o.NoQuote {
		quote = new(char(o.Quote))
	}
	table := map[string]string{"json": "property", "xlsx": "sheetName"}[s.Format]
	return object([]member{
		{"delimiter", char(o.Delimiter)}, {"quoteChar", quote}, {"escapeChar", char(o.Escape)}, {"doubleQuote", falseIf(o.NoDoubleQuote)},
		{"skipInitialSpace", o.SkipInitialSpace}, {"header", falseIf(o.Header == rows.HeaderNone)}, {"headerRows", o.HeaderRows},
		{"headerJoin", o.HeaderJoin}, {"commentChar", o.Comment}, {"commentRows", o.CommentRows}, {"skipRows", o.Skip},
		{"nullSequence", o.Null}, {"itemKeys", o.ItemKeys}, {"sheetNumber", o.TableNo}, {cmp.Or(table, "table"), o.Table},
	})
}

// char returns a character as text, "" for 0.
func char(c byte) string { return strings.TrimRight(string(rune(c)), "\x00") }

// falseIf returns the value of a member that is false or left out.
func falseIf(set bool) *bool {
	if !set {
		return nil
	}
	return new(false)
}

// withEmpty adds the empty value, which is always missing, to other missing values.
func withEmpty(missing []string) []string {
	if missing == nil {
		return nil
	}
	return append([]string{""}, missing...)
}

// schemaOf describes the fields with all their settings. Markers of missing values are recognized without a setting.
func schemaOf(t *ingest.Table, samples [][]string) *yaml.Node {
	settings := map[string]source.FieldSetting{}
	for _, s := range t.Source().Fields {
		settings[s.Name] = s
	}
	var fields []*yaml.Node
	for i, f := range t.Dataset().Fields {
		s, n, example, title := settings[f.Name], f.Notation, "", titleOf(f.Name)
		if title == f.Name {
			title = ""
		}
		if s.From == s.Name {
			s.From = ""
		}
		if f.Type == herb.TypeText {
			f.Type = "string"
		}
		if len(samples[i]) > 0 {
			example = samples[i][0]
		}
		own := object([]member{
			{"from", s.From}, {"searchable", &f.Searchable}, {"filterable", &f.Filterable}, {"sortable", &f.Sortable}, {"weight", f.Weight},
		})
		own.Style = yaml.FlowStyle
		field := object([]member{
			{"name", f.Name}, {"title", cmp.Or(f.Title, title)}, {"description", f.Description}, {"type", string(f.Type)},
			{"format", n.Layout}, {"decimalChar", n.Decimal}, {"groupChar", n.Group}, {"bareNumber", falseIf(n.Affix != "")},
			{"trueValues", n.True}, {"falseValues", n.False}, {"example", example}, {"missingValues", withEmpty(s.Missing)}, {"herbarium", own},
		})
		if example != "" {
			field.HeadComment = "such as " + singleLine(strings.Join(samples[i], " | "))
		}
		fields = append(fields, field)
	}
	list := encode(fields)
	if list != nil {
		list.HeadComment = "Only these fields are listed, in this order. Remove one to hide it, rename one with\n" +
			"herbarium: {from: its column}. Types: string, number, date, datetime, boolean, list."
	}
	return object([]member{{"fields", list}, {"missingValues", withEmpty(t.Source().Missing)}, {"primaryKey", t.Dataset().PrimaryKey}})
}

// settingsOf describes how a dataset is listed. Comments show settings that it does not have.
func settingsOf(s source.Source) *yaml.Node {
	access := encode(string(s.Access))
	access.LineComment = "or key: listing the records requires a key"
	var direction string
	var include []member
	if s.Order.Desc {
		direction = "desc"
	}
	for _, i := range s.Include {
		include = append(include, member{i.Column, i.Values})
	}
	var expectations []*yaml.Node
	for _, e := range s.Expectations {
		expectations = append(expectations, object([]member{{"query", &e.Query}, {"total", e.Total}, {"first", e.First}}))
	}
	settings := []member{
		{"access", access}, {"order", object([]member{{"field", s.Order.Field}, {"order", direction}})},
		{"include", object(include)}, {"goldens", expectations},
	}
	comments := []string{"More settings:"}
	for i, example := range []string{
		`order: -date  # of a listing without sort: latest first`,
		`include: {status: [published]}  # rows with other values are excluded`,
		`goldens: [{query: "category=tree", total: 12}]  # must hold before a new version goes live`,
	} {
		if encode(settings[i+1].value) == nil {
			comments = append(comments, example)
		}
	}
	if len(comments) > 1 {
		access.HeadComment = strings.Join(comments, "\n")
	}
	return object(settings)
}

// singleLine replaces characters that cannot be in a comment.
func singleLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

// YAML returns the description as datapackage.yaml, with comments for editing. Each resource is encoded alone, because the
// encoder holds all events of a document, which take a hundred times as much memory as the text.
func (d *Description) YAML() ([]byte, error) {
	const comment = "A Data Package (https://datapackage.org). Edit it and publish it: herbarium publish datapackage.yaml"
	var all bytes.Buffer
	list := d.root.Content[len(d.root.Content)-1]
	for i := range list.Content {
		document := object([]member{{"resources", list.Content[i : i+1]}})
		if i == 0 {
			document.HeadComment = comment
			document.Content = append(slices.Clone(d.root.Content[:len(d.root.Content)-2]), document.Content...)
		}
		var b bytes.Buffer
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		if err := e.Encode(document); err != nil {
			return nil, err
		}
		text := b.Bytes()
		if i > 0 {
			text = bytes.TrimPrefix(text, []byte("resources:\n"))
		}
		all.Write(text)
	}
	return all.Bytes(), nil
}

// JSON returns the description as datapackage.json.
func (d *Description) JSON() ([]byte, error) {
	var compact, b bytes.Buffer
	writeJSON(&compact, d.root)
	compact.WriteByte('\n')
	err := json.Indent(&b, compact.Bytes(), "", "  ")
	return b.Bytes(), err
}

// writeJSON writes a node. encoding/json would sort the members of an object.
func writeJSON(b *bytes.Buffer, n *yaml.Node) {
	brackets := "[]"
	switch {
	case n.Kind == yaml.MappingNode:
		brackets = "{}"
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str":
		e := json.NewEncoder(b)
		e.SetEscapeHTML(false)
		_ = e.Encode(n.Value) // text has no errors
		return
	case n.Kind == yaml.ScalarNode:
		b.WriteString(n.Value)
		return
	}
	b.WriteByte(brackets[0])
	for i, c := range n.Content {
		if brackets == "{}" && i%2 > 0 {
			b.WriteByte(':')
		} else if i > 0 {
			b.WriteByte(',')
		}
		writeJSON(b, c)
	}
	b.WriteByte(brackets[1])
}
