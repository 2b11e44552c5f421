package ingest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// profileV2 is the edition of the standard that descriptors are written in.
const profileV2 = "https://datapackage.org/profiles/2.0/datapackage.json"

// The limits of the samples in a descriptor.
const (
	sampledRecords = 200
	samplesShown   = 3
	maxSample      = 60 // characters; what is longer is not shown
)

// Description is a descriptor made from what files hold. Published beside them, it gives the listings that they give
// without it.
type Description struct {
	Notes   []string // what the publisher should know of the files
	root    *object
	samples map[*object][]string // values of each field
}

// Describe reads a file, or all files in a folder, and describes them. The paths in the description are relative to the
// folder, or to that of the file. The error joins all that is wrong; what could be read is described all the same.
func Describe(ctx context.Context, path string, opts Options) (*Description, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	folder := filepath.Clean(path)
	if !info.IsDir() {
		folder = filepath.Dir(folder)
	}
	sources, err := (&finder{passEmpty: true}).find([]string{path})
	return describeSources(ctx, path, folder, sources, err, opts)
}

// DescribeSpooled describes what was kept by Spool. The path in the description is the name of the dataset with that of
// the format, for a file that the publisher will have to make.
func DescribeSpooled(ctx context.Context, src Source, opts Options) (*Description, error) {
	return describeSources(ctx, src.name(0), filepath.Dir(src.Path), []Source{src}, nil, opts)
}

// describeSources describes what was found at a path, and joins what is wrong to err.
func describeSources(ctx context.Context, path, folder string, sources []Source, err error, opts Options) (*Description, error) {
	skipped, problems := SplitSkipped(err)
	d := &Description{Notes: skipped, root: newObject(), samples: map[*object][]string{}}
	namespace, err := namespaceOf(folder, sources)
	if err != nil {
		return nil, errors.Join(append(problems, err)...)
	}
	d.root.set("$schema", profileV2)
	d.root.set("name", namespace)
	var resources []any
	names := map[string]bool{}
	for _, s := range sources {
		name := s.Ref.Name
		if s.Ref.Namespace != namespace {
			name = s.Ref.Namespace + "-" + name
		}
		for n := 2; names[name]; n++ {
			name = s.Ref.Name + "-" + strconv.Itoa(n)
		}
		names[name] = true
		r, err := d.resource(ctx, s, name, folder, opts)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			problems = append(problems, err)
			continue
		}
		resources = append(resources, r)
	}
	d.root.set("resources", resources)
	if len(resources) == 0 {
		return nil, cmp.Or(errors.Join(problems...), error(herb.Invalidf("there is nothing in %s that can be published", path)))
	}
	return d, errors.Join(problems...)
}

// namespaceOf is that of all sources if they have the same, else the name of their folder.
func namespaceOf(folder string, sources []Source) (string, error) {
	same := func(s Source) bool { return s.Ref.Namespace == sources[0].Ref.Namespace }
	if len(sources) > 0 && !slices.ContainsFunc(sources, func(s Source) bool { return !same(s) }) {
		return sources[0].Ref.Namespace, nil
	}
	abs, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	return cmp.Or(slug(filepath.Base(abs)), "data"), nil
}

// resource describes one source.
func (d *Description) resource(ctx context.Context, s Source, name, folder string, opts Options) (*object, error) {
	t, err := Inspect(ctx, s, opts)
	if err != nil {
		return nil, err
	}
	for _, w := range t.Warnings() {
		d.Notes = append(d.Notes, s.name(0)+": "+w)
	}
	samples, err := sample(ctx, t)
	if err != nil {
		return nil, err
	}
	r := newObject()
	r.set("name", name)
	r.set("type", "table")
	found := t.src
	if found.Dialect, found.Format, err = t.layout(ctx); err != nil {
		return nil, err
	}
	if s.Called != "" {
		found.Path = filepath.Join(folder, name+"."+string(found.Format))
		d.Notes = append(d.Notes, fmt.Sprintf("keep what was described as %s, beside the descriptor, to publish it", filepath.Base(found.Path)))
	}
	r.set("title", cmp.Or(s.Title, humane(stem(found.Path))))
	if s.Description != "" {
		r.set("description", s.Description)
	}
	found.Encoding = cmp.Or(found.Encoding, t.found[0].encoding)
	if err := location(r, found, folder); err != nil {
		return nil, err
	}
	schema := newObject()
	if fields := d.fields(t, samples); len(fields) > 0 {
		schema.set("fields", fields)
	}
	if len(t.src.Missing) > 0 {
		schema.set("missingValues", list(append([]string{""}, t.src.Missing...)))
	}
	if key := t.dataset.PrimaryKey; len(key) > 0 {
		schema.set("primaryKey", list(key))
	}
	r.set("schema", schema)
	r.set("herbarium", ownSettings(t.src))
	return r, nil
}

// layout is how the file is written: as the settings say, and for the rest as was found.
func (t *Table) layout(ctx context.Context) (Dialect, Format, error) {
	in, rows, err := t.open(ctx)
	if err != nil {
		return Dialect{}, "", err
	}
	defer in.Close()
	if c, ok := rows.rows.(*csvReader); ok {
		return c.d, rows.format, nil
	}
	return t.src.Dialect, rows.format, nil
}

// location describes where the records are and how they are laid out.
func location(r *object, s Source, folder string) error {
	if s.Inline != nil {
		var err error
		inline, err := parseJSON(s.Inline)
		r.set("data", inline)
		return err
	}
	var paths []string
	for _, p := range append([]string{s.Path}, s.Parts...) {
		rel, err := filepath.Rel(folder, p)
		if err != nil {
			return err
		}
		paths = append(paths, filepath.ToSlash(rel))
	}
	if r.set("path", paths[0]); len(paths) > 1 {
		r.set("path", list(paths))
	}
	format := string(s.Format)
	if ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(unpackedName(s.Path))), "."); ext != "" {
		if f, err := ParseFormat(ext); err == nil && f == s.Format {
			format = ext
		}
	}
	r.set("format", format)
	if s.Encoding != "" {
		r.set("encoding", s.Encoding)
	}
	if o := dialectObject(s.Dialect); len(o.names) > 0 {
		r.set("dialect", o)
	}
	return nil
}

// dialectObject writes a dialect as Data Packages do, without what is as usual.
func dialectObject(d Dialect) *object {
	o := newObject()
	for _, c := range []struct {
		name string
		char byte
	}{{"delimiter", d.Delimiter}, {"quoteChar", d.Quote}, {"escapeChar", d.Escape}} {
		if c.char != 0 {
			o.set(c.name, string(rune(c.char)))
		}
	}
	if d.NoQuote {
		o.set("quoteChar", "")
	}
	for _, f := range []struct {
		name  string
		when  bool
		value bool
	}{{"doubleQuote", d.NoDoubleQuote, false}, {"skipInitialSpace", d.SkipInitialSpace, true}, {"header", d.NoHeader, false}} {
		if f.when {
			o.set(f.name, f.value)
		}
	}
	for _, s := range []struct{ name, value string }{
		{"commentChar", d.Comment}, {"nullSequence", d.Null}, {"headerJoin", d.HeaderJoin}, {"property", d.Property},
		{"sheetName", d.Sheet}, {"table", d.Table},
	} {
		if s.value != "" {
			o.set(s.name, s.value)
		}
	}
	for _, l := range []struct {
		name  string
		lines []int
	}{{"headerRows", d.HeaderRows}, {"commentRows", d.CommentRows}} {
		if len(l.lines) > 0 {
			o.set(l.name, list(l.lines))
		}
	}
	if len(d.ItemKeys) > 0 {
		o.set("itemKeys", list(d.ItemKeys))
	}
	if d.SheetNumber > 0 {
		o.set("sheetNumber", json.Number(strconv.Itoa(d.SheetNumber)))
	}
	return o
}

// list makes a list of a descriptor.
func list[T string | int](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		switch v := any(v).(type) {
		case string:
			out[i] = v
		case int:
			out[i] = json.Number(strconv.Itoa(v))
		}
	}
	return out
}

// fields describes the exposed fields with everything that can be set.
func (d *Description) fields(t *Table, samples [][]string) []any {
	var out []any
	for i, f := range t.dataset.Fields {
		o, own := newObject(), newObject()
		o.set("name", f.Name)
		if title := cmp.Or(f.Title, humane(f.Name)); title != f.Name {
			o.set("title", title)
		}
		if f.Description != "" {
			o.set("description", f.Description)
		}
		o.set("type", writtenType(f.Type))
		if len(samples[i]) > 0 {
			o.set("example", samples[i][0])
		}
		if k := slices.IndexFunc(t.src.Fields, func(s FieldSetting) bool { return s.Name == f.Name }); k >= 0 {
			if s := t.src.Fields[k]; s.column() != s.Name {
				own.set("from", s.column())
			}
			if missing := t.src.Fields[k].Missing; missing != nil {
				o.set("missingValues", list(append([]string{""}, missing...)))
			}
		}
		own.set("searchable", f.Searchable)
		own.set("filterable", f.Filterable)
		own.set("sortable", f.Sortable)
		if f.Weight > 0 {
			own.set("weight", json.Number(strconv.Itoa(f.Weight)))
		}
		o.set("herbarium", own)
		d.samples[o] = samples[i]
		out = append(out, o)
	}
	return out
}

// writtenType is what Data Packages call a type.
func writtenType(t herb.Type) string {
	if t == herb.TypeText {
		return "string"
	}
	return string(t)
}

// ownSettings describes how a dataset is listed.
func ownSettings(s Source) *object {
	own := newObject()
	own.set("access", string(s.Access))
	if s.Order.Field != "" {
		o := newObject()
		o.set("field", s.Order.Field)
		if s.Order.Desc {
			o.set("order", "desc")
		}
		own.set("order", o)
	}
	if len(s.Include) > 0 {
		o := newObject()
		for _, i := range s.Include {
			o.set(i.Column, list(i.Values))
		}
		own.set("include", o)
	}
	var expectations []any
	for _, e := range s.Expectations {
		o := newObject()
		o.set("query", e.Query)
		if e.Total != nil {
			o.set("total", json.Number(strconv.Itoa(*e.Total)))
		}
		if first := newObject(); len(e.First) > 0 {
			for _, name := range slices.Sorted(maps.Keys(e.First)) {
				first.set(name, e.First[name])
			}
			o.set("first", first)
		}
		expectations = append(expectations, o)
	}
	if expectations != nil {
		own.set("goldens", expectations)
	}
	return own
}

// sample returns some different values of each field, from the beginning of the file.
func sample(ctx context.Context, t *Table) ([][]string, error) {
	out := make([][]string, len(t.dataset.Fields))
	n := 0
	for r, err := range t.Records(ctx) {
		if err != nil {
			return nil, err
		}
		for i, v := range r {
			if v != "" && len(out[i]) < samplesShown && utf8.RuneCountInString(v) <= maxSample && !slices.Contains(out[i], v) {
				out[i] = append(out[i], v)
			}
		}
		if n++; n == sampledRecords {
			break
		}
	}
	return out, nil
}

// humane makes a title out of a name: unit_price and unitPrice become Unit price.
func humane(name string) string {
	var b strings.Builder
	var last rune
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || unicode.IsSpace(r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		if r != ' ' || last != ' ' {
			b.WriteRune(r)
		}
		last = r
	}
	words := strings.Fields(b.String())
	for i, w := range words {
		switch strings.ToLower(w) {
		case "id", "url", "uri", "isbn", "issn", "doi", "iso":
			words[i] = strings.ToUpper(w)
		}
	}
	title := strings.Join(words, " ")
	first, size := utf8.DecodeRuneInString(title)
	return string(unicode.ToUpper(first)) + title[size:]
}

// JSON returns the description as datapackage.json.
func (d *Description) JSON() ([]byte, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, appendJSON(nil, d.root), "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
