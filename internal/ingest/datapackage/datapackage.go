// Package datapackage parses Data Package descriptors (https://datapackage.org) of versions 1 and 2. Herbarium's own
// settings are members of "herbarium" in the package, a resource or a field. Other unknown members are kept, because
// everyone may add some.
package datapackage

import (
	"bytes"
	"cmp"
	"io"
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

// Options configure how a descriptor is read.
type Options struct {
	Dir     file.Dir      // folder that the user named and that contains the descriptor; zero: the user named the descriptor
	Formats []rows.Format // that resources may have
}

// Read reads a descriptor and returns a source for each resource. The paths in it must not lead out of its folder.
func Read(path string, o Options) (set source.Set) {
	p := reader{path: path, folder: filepath.Dir(path), formats: o.Formats}
	if err := p.readPackage(o.Dir, &set); err != nil {
		set.Fail(err)
	}
	for i, err := range set.Errors {
		set.Errors[i] = source.Located(path, err)
	}
	return set
}

// reader reads the resources of a package.
type reader struct {
	path      string
	folder    string
	formats   []rows.Format
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

// readPackage reads a descriptor in a folder.
func (p *reader) readPackage(in file.Dir, set *source.Set) error {
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
		if skip, ok := p.err.(*skipError); ok {
			set.Skip(p.path, skip.Error())
		} else if p.err != nil {
			set.Fail(p.err)
		} else {
			set.Sources = append(set.Sources, s)
		}
	}
	if len(resources) == 1 && len(set.Sources) == 1 { // the package describes its only dataset
		s := &set.Sources[0]
		s.Title = cmp.Or(s.Title, root.annotation("title"))
		s.Description = cmp.Or(s.Description, root.annotation("description"))
	}
	return nil
}

// readHeader reads the members of the package.
func (p *reader) readHeader(root node) {
	root.member("name").assign(&p.namespace)
	if p.namespace == "" {
		abs, err := filepath.Abs(p.folder)
		root.record(err)
		p.namespace = filepath.Base(abs)
	}
	p.notes = root.typos("package")
	root.checkPlacement("herbarium")
	root.member("herbarium").bindAll([]binding{{"access", func(n node) { p.access = readAccess(n) }}})
	p.members = without(root, "resources")
}

// resource reads the resource at a position.
func (p *reader) resource(n node, position int) source.Source {
	s := source.Source{Root: p.root, Base: p.base}
	if !n.isObject() {
		return s
	}
	s.Notes = slices.Concat(p.notes, n.typos("resource"))
	name := ""
	for _, read := range []func(*source.Source, node){p.readSettings, p.readLocation, p.readDialect, p.readSchema} {
		if read(&s, n); p.err != nil {
			return s
		}
	}
	s.Title, s.Description = n.annotation("title"), n.annotation("description")
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
func (p *reader) asWritten(n node) ([]byte, error) {
	resource := without(n, "data")
	if own := n.member("herbarium"); own.value != nil {
		resource["herbarium"] = without(own, "include", "goldens")
	}
	return marshal(struct {
		Package  object `json:"package"`
		Resource object `json:"resource"`
	}{p.members, resource})
}

// without returns a copy of an object that lacks some members.
func without(n node, names ...string) object {
	o, _ := n.value.(object)
	out := maps.Clone(o)
	for _, name := range names {
		delete(out, name)
	}
	return out
}
