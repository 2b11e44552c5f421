// Package datapackage reads sources from Data Package descriptors.
package datapackage

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// Limits of the size of a descriptor. Parsing YAML needs many times its size.
const (
	maxSize     = 4 << 20
	maxYAMLSize = 1 << 20
)

// IsDescriptor reports whether a path has the name of a descriptor.
func IsDescriptor(path string) bool {
	return slices.Contains([]string{"datapackage.json", "datapackage.yaml", "datapackage.yml"}, filepath.Base(path))
}

// IsEmpty reports whether an entry of a folder is an empty descriptor.
func IsEmpty(e fs.DirEntry) bool {
	info, err := e.Info()
	return IsDescriptor(e.Name()) && err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// Detect reports whether a regular file that the user named is a descriptor, by its name or its content.
func Detect(path string, size int64) bool {
	switch {
	case IsDescriptor(path), isYAML(path):
		return true
	case !strings.EqualFold(filepath.Ext(path), ".json") || size > maxSize:
		return false
	}
	value, err := parseFile(file.Dir{}, path)
	resources := node{value: value, err: &err}.member("resources").list()
	for _, r := range resources {
		if r.member("path").value == nil && r.member("data").value == nil {
			return false // records in a member of that name
		}
	}
	return err == nil && len(resources) > 0
}

func isYAML(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".yaml" || ext == ".yml"
}

// parseFile parses a JSON or YAML file, by its extension.
func parseFile(dir file.Dir, path string) (any, error) {
	info, err := dir.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = file.CannotRead(path, file.ErrNotRegular)
	}
	if err != nil {
		return nil, err
	}
	f, err := dir.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	limit, parse := int64(maxSize), parseJSON
	if isYAML(path) {
		limit, parse = maxYAMLSize, parseYAML
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, herb.Invalidf("the descriptor is larger than %d bytes; move large parts to files next to it", limit)
	}
	return parse(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")))
}

// descriptor reads a Data Package descriptor (https://datapackage.org) of version 1 or 2. Herbarium's own settings are members
// of "herbarium" in the package, a resource or a field. Other unknown members are kept, because everyone may add some.
type descriptor struct {
	source.Set
	formats   []rows.Format
	path      string
	folder    string
	dir       file.Dir // the folder
	root      string   // Source.Root of the resources
	base      string   // Source.Base of the resources
	namespace string
	access    herb.Access
	members   object   // of the package, without its resources
	notes     []string // about the package
	err       error    // the first error of the package or of the current resource
}

// skipError is the reason why a resource is not published although nothing is wrong with it: it is not a table.
type skipError struct{ error }

// Read returns a source for each resource of a descriptor. in is the folder that the user named; zero: the user named the
// descriptor. The paths in it must not lead out of its folder.
func Read(in file.Dir, path string, formats []rows.Format) source.Set {
	p := &descriptor{formats: formats, path: path, folder: filepath.Dir(path)}
	if err := p.read(in); err != nil {
		p.Fail(source.Located(path, err))
	}
	return p.Set
}

// read reads the package and its resources.
func (p *descriptor) read(in file.Dir) error {
	value, err := parseFile(in, p.path)
	if err != nil {
		return err
	}
	if p.root = p.folder; in.Path() != "" && p.folder != in.Path() {
		p.root = in.Path()
		if p.base, err = in.Rel(p.folder); err != nil {
			return err
		}
	}
	if p.dir, err = in.Sub(p.folder); err != nil {
		return err
	}
	defer p.dir.Close()
	root := node{value: value, err: &p.err}
	if root.isObject() {
		p.readHeader(root)
	}
	resources := root.member("resources").list()
	if len(resources) == 0 {
		root.fail("has no resources; list at least one under \"resources\"%s", root.misspelled("resources"))
	}
	if p.err != nil {
		return p.err
	}
	for i, n := range resources {
		p.err = nil
		s := p.resource(n, i)
		if len(resources) == 1 { // the package describes its only dataset
			s.Title = cmp.Or(s.Title, root.annotation("title"))
			s.Description = cmp.Or(s.Description, root.annotation("description"))
		}
		if skip, ok := p.err.(*skipError); ok {
			p.Skip(p.path, skip.Error())
		} else if p.err != nil {
			p.Fail(source.Located(p.path, p.err))
		} else {
			p.Sources = append(p.Sources, s)
		}
	}
	return nil
}

// readHeader reads the members of the package.
func (p *descriptor) readHeader(root node) {
	root.member("name").assign(&p.namespace)
	if p.namespace == "" {
		abs, err := filepath.Abs(p.folder)
		root.record(err)
		p.namespace = filepath.Base(abs)
	}
	p.notes = root.typos("package")
	root.checkPlacement(own)
	root.member(own).bindAll([]binding{{"access", func(n node) { p.access = readAccess(n) }}})
	p.members = root.without("resources")
}

// resource reads the resource at a position.
func (p *descriptor) resource(n node, position int) source.Source {
	s := source.Source{Root: p.root, Base: p.base}
	if !n.isObject() {
		return s
	}
	s.Notes = slices.Concat(p.notes, n.typos("resource"))
	for _, read := range []func(*source.Source, node){p.readSettings, p.readLocation, p.readDialect, p.readSchema} {
		if read(&s, n); p.err != nil {
			return s
		}
	}
	s.Title, s.Description = n.annotation("title"), n.annotation("description")
	name := ""
	n.member("name").assign(&name)
	if name == "" && s.Inline == nil {
		name = source.Stem(s.Path)
	}
	var err error
	if p.err == nil {
		s.Ref, err = source.NewRef(n.where, p.namespace, cmp.Or(name, "resource-"+strconv.Itoa(position+1)))
		n.record(err)
	}
	s.Descriptor, err = p.asWritten(n)
	n.record(err)
	return s
}

// asWritten returns what the descriptor says about a resource and its package, without what is about records: inline
// records, conditions for rows, and expectations.
func (p *descriptor) asWritten(n node) ([]byte, error) {
	resource := n.without("data")
	if settings := n.member(own); settings.value != nil {
		resource[own] = settings.without("include", "goldens")
	}
	return marshal(struct {
		Package  object `json:"package"`
		Resource object `json:"resource"`
	}{p.members, resource})
}

// without returns a copy of an object that lacks some members.
func (n node) without(names ...string) object {
	o, _ := n.value.(object)
	out := maps.Clone(o)
	for _, name := range names {
		delete(out, name)
	}
	return out
}
