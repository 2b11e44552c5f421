package describe

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// dataPackage is a descriptor. The order of the members is that of the output.
type dataPackage struct {
	Schema    string      `json:"$schema" yaml:"$schema"`
	Name      string      `json:"name" yaml:"name"`
	Resources []*resource `json:"resources" yaml:"resources"`
}

type resource struct {
	Name        string   `json:"name" yaml:"name"`
	Type        string   `json:"type" yaml:"type"`
	Title       string   `json:"title" yaml:"title"`
	Description string   `json:"description,omitempty" yaml:"description,omitempty"`
	Path        any      `json:"path,omitempty" yaml:"path,omitempty"` // text or a list of text
	Data        string   `json:"data,omitempty" yaml:"data,omitempty"`
	Format      string   `json:"format" yaml:"format"`
	Encoding    string   `json:"encoding,omitempty" yaml:"encoding,omitempty"`
	Dialect     dialect  `json:"dialect,omitzero" yaml:"dialect,omitempty"`
	Schema      schema   `json:"schema" yaml:"schema"`
	Herbarium   settings `json:"herbarium" yaml:"herbarium"`
}

type dialect struct {
	Delimiter        string   `json:"delimiter,omitempty" yaml:"delimiter,omitempty"`
	QuoteChar        *string  `json:"quoteChar,omitempty" yaml:"quoteChar,omitempty"`
	EscapeChar       string   `json:"escapeChar,omitempty" yaml:"escapeChar,omitempty"`
	DoubleQuote      *bool    `json:"doubleQuote,omitempty" yaml:"doubleQuote,omitempty"`
	SkipInitialSpace bool     `json:"skipInitialSpace,omitempty" yaml:"skipInitialSpace,omitempty"`
	Header           *bool    `json:"header,omitempty" yaml:"header,omitempty"`
	HeaderRows       []int    `json:"headerRows,omitempty" yaml:"headerRows,omitempty,flow"`
	HeaderJoin       string   `json:"headerJoin,omitempty" yaml:"headerJoin,omitempty"`
	CommentChar      string   `json:"commentChar,omitempty" yaml:"commentChar,omitempty"`
	CommentRows      []int    `json:"commentRows,omitempty" yaml:"commentRows,omitempty,flow"`
	SkipRows         int      `json:"skipRows,omitempty" yaml:"skipRows,omitempty"`
	NullSequence     string   `json:"nullSequence,omitempty" yaml:"nullSequence,omitempty"`
	Property         string   `json:"property,omitempty" yaml:"property,omitempty"`
	ItemKeys         []string `json:"itemKeys,omitempty" yaml:"itemKeys,omitempty,flow"`
	SheetName        string   `json:"sheetName,omitempty" yaml:"sheetName,omitempty"`
	SheetNumber      int      `json:"sheetNumber,omitempty" yaml:"sheetNumber,omitempty"`
	Table            string   `json:"table,omitempty" yaml:"table,omitempty"`
}

type schema struct {
	Fields        []*field `json:"fields,omitempty" yaml:"fields,omitempty"`
	MissingValues []string `json:"missingValues,omitempty" yaml:"missingValues,omitempty,flow"`
	PrimaryKey    []string `json:"primaryKey,omitempty" yaml:"primaryKey,omitempty,flow"`
}

type field struct {
	Name          string        `json:"name" yaml:"name"`
	Title         string        `json:"title,omitempty" yaml:"title,omitempty"`
	Description   string        `json:"description,omitempty" yaml:"description,omitempty"`
	Type          string        `json:"type" yaml:"type"`
	Format        string        `json:"format,omitempty" yaml:"format,omitempty"`
	DecimalChar   string        `json:"decimalChar,omitempty" yaml:"decimalChar,omitempty"`
	GroupChar     string        `json:"groupChar,omitempty" yaml:"groupChar,omitempty"`
	BareNumber    *bool         `json:"bareNumber,omitempty" yaml:"bareNumber,omitempty"`
	TrueValues    []string      `json:"trueValues,omitempty" yaml:"trueValues,omitempty,flow"`
	FalseValues   []string      `json:"falseValues,omitempty" yaml:"falseValues,omitempty,flow"`
	Example       string        `json:"example,omitempty" yaml:"example,omitempty"`
	MissingValues []string      `json:"missingValues,omitempty" yaml:"missingValues,omitempty,flow"`
	Herbarium     fieldSettings `json:"herbarium" yaml:"herbarium,flow"`
	samples       []string
}

type fieldSettings struct {
	From       string `json:"from,omitempty" yaml:"from,omitempty"`
	Searchable bool   `json:"searchable" yaml:"searchable"`
	Filterable bool   `json:"filterable" yaml:"filterable"`
	Sortable   bool   `json:"sortable" yaml:"sortable"`
	Weight     int    `json:"weight,omitempty" yaml:"weight,omitempty"`
}

type settings struct {
	Access  string              `json:"access" yaml:"access"`
	Order   order               `json:"order,omitzero" yaml:"order,omitempty"`
	Include map[string][]string `json:"include,omitempty" yaml:"include,omitempty"`
	Goldens []expectation       `json:"goldens,omitempty" yaml:"goldens,omitempty"`
}

type order struct {
	Field string `json:"field" yaml:"field"`
	Order string `json:"order,omitempty" yaml:"order,omitempty"`
}

type expectation struct {
	Query string            `json:"query" yaml:"query"`
	Total *int              `json:"total,omitempty" yaml:"total,omitempty"`
	First map[string]string `json:"first,omitempty" yaml:"first,omitempty"`
}

// newDialect describes how a file is written, without the defaults.
func newDialect(s source.Source) dialect {
	o := s.Dialect
	d := dialect{
		Delimiter: text(o.Delimiter), EscapeChar: text(o.Escape), SkipInitialSpace: o.SkipInitialSpace, HeaderRows: o.HeaderRows, HeaderJoin: o.HeaderJoin,
		CommentChar: o.Comment, CommentRows: o.CommentRows, SkipRows: o.Skip, NullSequence: o.Null, ItemKeys: o.ItemKeys, SheetNumber: o.TableNo,
	}
	if quote := text(o.Quote); quote != "" || o.NoQuote {
		d.QuoteChar = &quote
	}
	if o.NoDoubleQuote {
		d.DoubleQuote = new(false)
	}
	if o.Header == rows.HeaderNone {
		d.Header = new(false)
	}
	switch s.Format {
	case "json":
		d.Property = o.Table
	case "xlsx":
		d.SheetName = o.Table
	default:
		d.Table = o.Table
	}
	return d
}

// text returns a character as text, "" for 0.
func text(c byte) string {
	if c == 0 {
		return ""
	}
	return string(rune(c))
}

// withEmpty adds the empty value, which is always missing, to other missing values.
func withEmpty(missing []string) []string {
	if len(missing) == 0 {
		return nil
	}
	return append([]string{""}, missing...)
}

// newFields describes the fields with all their settings.
func newFields(t *ingest.Table, samples [][]string) []*field {
	var out []*field
	settings := t.Source().Fields
	for i, f := range t.Dataset().Fields {
		n := f.Notation // markers of missing values are recognized without a setting
		d := &field{
			Name: f.Name, Title: f.Title, Description: f.Description, Type: string(f.Type), samples: samples[i],
			Format: n.Layout, DecimalChar: n.Decimal, GroupChar: n.Group, TrueValues: n.True, FalseValues: n.False,
			Herbarium: fieldSettings{Searchable: f.Searchable, Filterable: f.Filterable, Sortable: f.Sortable, Weight: f.Weight},
		}
		if title := titleOf(f.Name); d.Title == "" && title != f.Name {
			d.Title = title
		}
		if f.Type == herb.TypeText {
			d.Type = "string"
		}
		if len(samples[i]) > 0 {
			d.Example = samples[i][0]
		}
		if n.Affix != "" {
			d.BareNumber = new(false)
		}
		if k := slices.IndexFunc(settings, func(s source.FieldSetting) bool { return s.Name == f.Name }); k >= 0 {
			if s := settings[k]; s.Column() != s.Name {
				d.Herbarium.From = s.Column()
			}
			if missing := settings[k].Missing; missing != nil {
				d.MissingValues = append([]string{""}, missing...)
			}
		}
		out = append(out, d)
	}
	return out
}

// newSettings describes how a dataset is listed.
func newSettings(s source.Source) settings {
	out := settings{Access: string(s.Access), Order: order{Field: s.Order.Field}}
	if s.Order.Desc {
		out.Order.Order = "desc"
	}
	for _, i := range s.Include {
		if out.Include == nil {
			out.Include = map[string][]string{}
		}
		out.Include[i.Column] = i.Values
	}
	for _, e := range s.Expectations {
		out.Goldens = append(out.Goldens, expectation{e.Query, e.Total, e.First})
	}
	return out
}
