// Package describe reads files and describes them in a Data Package descriptor. Published with the
// files, the descriptor gives the same listings as the files alone. It decides what is inferred:
// names, titles and samples. Package descriptor writes the descriptor.
package describe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/file"
)

// Limits of the samples in a descriptor.
const (
	sampledRecords = 200
	maxSamples     = 3
	maxSample      = 60 // characters
)

// Options configures a description.
type Options struct {
	YAML bool // write YAML, with comments for editing, instead of JSON
	Read ingest.Options
}

// Write writes a descriptor of the sources that were found at a path. Paths in it are relative to
// the folder, or to that of the file. A source without a path, such as standard input, is described
// as a file that the publisher has to create. notes are remarks about the files for the publisher.
// The sources that can be read are described even if there is an error about others; if there are
// none, nothing is written.
func Write(ctx context.Context, out io.Writer, path string, set descriptor.Set, opts Options) (notes []string,
	err error) {
	folder := filepath.Clean(path)
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		folder = filepath.Dir(folder)
	}
	namespace := namespaceOf(folder, set.Sources)
	for _, s := range set.Skipped {
		notes = append(notes, s.String())
	}
	names := map[string]bool{}
	w := descriptor.NewWriter(out, namespace, opts.YAML)
	for _, s := range set.Sources {
		name := s.Ref.Name
		if s.Ref.Namespace != namespace {
			name = s.Ref.Namespace + "-" + name
		}
		for n := 2; names[name]; n++ {
			name = s.Ref.Name + "-" + strconv.Itoa(n)
		}
		names[name] = true
		resource, remarks, err := describe(ctx, s, name, folder, opts.Read)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		set.Fail(err)
		if err == nil {
			w.Add(resource)
			notes = append(notes, remarks...)
		}
	}
	if w.IsEmpty() {
		return nil, cmp.Or(set.Err(), error(herb.Invalidf("nothing in %s can be published", path)))
	}
	return notes, errors.Join(set.Err(), w.Close())
}

// namespaceOf returns the namespace of all sources, or the name of their folder if they have
// several.
func namespaceOf(folder string, sources []descriptor.Source) string {
	other := func(s descriptor.Source) bool { return s.Ref.Namespace != sources[0].Ref.Namespace }
	if len(sources) > 0 && !slices.ContainsFunc(sources, other) {
		return sources[0].Ref.Namespace
	}
	abs, _ := filepath.Abs(folder) // without it, there is no valid name either
	if ref, err := descriptor.NewRef(folder, filepath.Base(abs), "x"); err == nil {
		return ref.Namespace
	}
	return "data"
}

// describe reads a source and returns its resource, with notes for the publisher.
func describe(ctx context.Context, s descriptor.Source, name, folder string, opts ingest.Options) (
	resource descriptor.Resource, notes []string, err error) {
	defer s.Release()
	t, err := ingest.Inspect(ctx, s, opts)
	if err != nil {
		return resource, nil, err
	}
	defer t.Close()
	for _, w := range t.Dataset.Report.Notes {
		notes = append(notes, s.Name(0)+": "+w)
	}
	resource = descriptor.Resource{Name: name, Source: t.Source, Fields: slices.Clone(t.Dataset.Fields),
		PrimaryKey: t.Dataset.PrimaryKey}
	resource.Samples, err = sampleValues(ctx, t)
	if err != nil {
		return resource, nil, err
	}
	for i := range resource.Fields {
		if f := &resource.Fields[i]; f.Title == "" && titleOf(f.Name) != f.Name {
			f.Title = titleOf(f.Name)
		}
	}
	detected := &resource.Source
	detected.Description = s.Description
	if s.DisplayName != "" {
		detected.Path = filepath.Join(folder, name+"."+detected.Format)
		notes = append(notes, fmt.Sprintf("to publish the descriptor, save the described data next to it as %s",
			filepath.Base(detected.Path)))
	}
	resource.Title = cmp.Or(s.Title, titleOf(descriptor.Stem(cmp.Or(detected.Entry, detected.Path))))
	return resource, notes, locate(&resource, folder)
}

// locate sets where the records are: paths, or the records themselves.
func locate(r *descriptor.Resource, folder string) error {
	s := r.Source
	r.Format = s.Format
	if s.Input != nil && s.DisplayName == "" {
		content, err := io.ReadAll(io.NewSectionReader(s.Input, 0, s.Input.Size()))
		r.Data = string(content)
		return err
	}
	for _, p := range s.Files() {
		rel, err := filepath.Rel(folder, p)
		if err != nil {
			return err
		}
		r.Paths = append(r.Paths, filepath.ToSlash(rel))
	}
	if f, ok := file.ByPath(ingest.Formats(), cmp.Or(s.Entry, s.Path)); ok && f.Name == s.Format {
		r.Format = strings.TrimPrefix(strings.ToLower(filepath.Ext(file.Uncompressed(cmp.Or(s.Entry, s.Path)))), ".")
	}
	return nil
}

// sampleValues returns some distinct values of each field, from the start of the records.
func sampleValues(ctx context.Context, t *ingest.Table) ([][]string, error) {
	out := make([][]string, len(t.Dataset.Fields))
	n := 0
	for r, err := range t.Records(ctx) {
		if err != nil {
			return nil, err
		}
		for i, v := range r {
			if v != "" && len(out[i]) < maxSamples && utf8.RuneCountInString(v) <= maxSample &&
				!slices.Contains(out[i], v) {
				out[i] = append(out[i], v)
			}
		}
		n++
		if n == sampledRecords {
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
