// Package describe writes Data Package descriptors from files. Published with the files, a descriptor gives the same
// listings as the files alone.
package describe

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/source"
)

// Limits of the samples in a descriptor.
const (
	sampledRecords = 200
	maxSamples     = 3
	maxSample      = 60 // characters
)

// Description is a descriptor.
type Description struct {
	Notes []string // remarks about the files for the publisher
	root  *yaml.Node
}

// Sources describes the sources that were found at a path. Paths in the description are relative to the folder, or to that of
// the file. A source without a path, such as standard input, is described as a file that the publisher has to create. The
// sources that can be read are described even if there is an error about others.
func Sources(ctx context.Context, path string, set source.Set, opts ingest.Options) (*Description, error) {
	folder := filepath.Clean(path)
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		folder = filepath.Dir(folder)
	}
	namespace := namespaceOf(folder, set.Sources)
	d := &Description{}
	for _, s := range set.Skipped {
		d.Notes = append(d.Notes, s.String())
	}
	names := map[string]bool{}
	var resources []*yaml.Node
	for _, s := range set.Sources {
		name := s.Ref.Name
		if s.Ref.Namespace != namespace {
			name = s.Ref.Namespace + "-" + name
		}
		for n := 2; names[name]; n++ {
			name = s.Ref.Name + "-" + strconv.Itoa(n)
		}
		names[name] = true
		r, err := d.resource(ctx, s, name, folder, opts)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		if set.Fail(err); err == nil {
			resources = append(resources, r)
		}
	}
	if resources == nil {
		return nil, cmp.Or(set.Err(), error(herb.Invalidf("nothing in %s can be published", path)))
	}
	d.root = object([]member{{"$schema", "https://datapackage.org/profiles/2.0/datapackage.json"}, {"name", namespace}, {"resources", resources}})
	return d, set.Err()
}

// namespaceOf returns the namespace of all sources, or the name of their folder if they have several.
func namespaceOf(folder string, sources []source.Source) string {
	other := func(s source.Source) bool { return s.Ref.Namespace != sources[0].Ref.Namespace }
	if len(sources) > 0 && !slices.ContainsFunc(sources, other) {
		return sources[0].Ref.Namespace
	}
	abs, _ := filepath.Abs(folder) // without it, there is no valid name either
	if ref, err := source.NewRef(folder, filepath.Base(abs), "x"); err == nil {
		return ref.Namespace
	}
	return "data"
}

func (d *Description) resource(ctx context.Context, s source.Source, name, folder string, opts ingest.Options) (*yaml.Node, error) {
	defer s.Release()
	t, err := ingest.Inspect(ctx, s, opts)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	for _, w := range t.Warnings() {
		d.Notes = append(d.Notes, s.Name(0)+": "+w)
	}
	samples, err := sampleValues(ctx, t)
	if err != nil {
		return nil, err
	}
	detected := t.Source()
	if s.DisplayName != "" {
		detected.Path = filepath.Join(folder, name+"."+detected.Format)
		d.Notes = append(d.Notes, fmt.Sprintf("to publish the descriptor, save the described data next to it as %s", filepath.Base(detected.Path)))
	}
	path, data, format, err := locate(detected, folder)
	return object([]member{
		{"name", name}, {"type", "table"}, {"title", cmp.Or(s.Title, titleOf(source.Stem(detected.Path)))}, {"description", s.Description},
		{"path", path}, {"data", data}, {"format", format}, {"encoding", detected.Dialect.Encoding}, {"dialect", dialectOf(detected)},
		{"schema", schemaOf(t, samples)}, {"herbarium", settingsOf(detected)},
	}), err
}

// locate returns where the records are: a path, several paths, or the records themselves.
func locate(s source.Source, folder string) (path any, data, format string, err error) {
	if s.Inline != nil {
		return nil, string(s.InlineContent()), s.Format, nil
	}
	var paths []*yaml.Node
	for _, p := range s.Files() {
		rel, err := filepath.Rel(folder, p)
		if err != nil {
			return nil, "", "", err
		}
		paths = append(paths, encode(filepath.ToSlash(rel)))
	}
	if path = paths; len(paths) == 1 {
		path = paths[0]
	}
	if f, ok := file.ByPath(ingest.Formats(), s.Path); ok && f.Name == s.Format {
		s.Format = strings.TrimPrefix(strings.ToLower(filepath.Ext(file.Uncompressed(s.Path))), ".")
	}
	return path, "", s.Format, nil
}

// sampleValues returns some distinct values of each field, from the start of the records.
func sampleValues(ctx context.Context, t *ingest.Table) ([][]string, error) {
	out := make([][]string, len(t.Dataset().Fields))
	n := 0
	for r, err := range t.Records(ctx) {
		if err != nil {
			return nil, err
		}
		for i, v := range r {
			if v != "" && len(out[i]) < maxSamples && utf8.RuneCountInString(v) <= maxSample && !slices.Contains(out[i], v) {
				out[i] = append(out[i], v)
			}
		}
		if n++; n == sampledRecords {
			break
		}
	}
	return out, nil
}

// titleOf makes a title from a name: unit_price and unitPrice become Unit price.
func titleOf(name string) string {
	name = camelCase.ReplaceAllStringFunc(name, func(s string) string {
		_, size := utf8.DecodeRuneInString(s)
		word := s[size:]
		if utf8.RuneCountInString(word) == 1 { // more than one is an acronym
			word = strings.ToLower(word)
		}
		return s[:size] + " " + word
	})
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || unicode.IsSpace(r) })
	for i, w := range words {
		if slices.Contains([]string{"id", "url", "uri", "isbn", "issn", "doi", "iso"}, strings.ToLower(w)) {
			words[i] = strings.ToUpper(w)
		}
	}
	title := strings.Join(words, " ")
	_, size := utf8.DecodeRuneInString(title)
	return strings.ToUpper(title[:size]) + title[size:]
}

// camelCase matches where a word begins within a name.
var camelCase = regexp.MustCompile(`\p{Ll}\p{Lu}+`)
