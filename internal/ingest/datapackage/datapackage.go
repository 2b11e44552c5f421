// Package datapackage parses Data Package descriptors (https://datapackage.org) of versions 1 and 2. Herbarium's own
// settings are members of "herbarium" in the package, a resource or a field. Other unknown members are kept, because
// everyone may add some.
package datapackage

import (
	"bytes"
	"cmp"
	"io"
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
	root, err := parseFile(file.Dir{}, path)
	if err != nil {
		return false
	}
	resources, err := root.list("resources")
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
func parseFile(dir file.Dir, path string) (node, error) {
	info, err := dir.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = file.CannotRead(path, file.ErrNotRegular)
	}
	if err != nil {
		return node{}, err
	}
	f, err := dir.Open(path)
	if err != nil {
		return node{}, err
	}
	defer f.Close()
	limit, parse := int64(maxSize), parseJSON
	if isYAML(path) {
		limit, parse = maxYAMLSize, parseYAML
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return node{}, err
	}
	if int64(len(data)) > limit {
		return node{}, herb.Invalidf("the descriptor is larger than %d bytes; move large parts to files next to it", limit)
	}
	value, err := parse(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")))
	return node{value: value}, err
}

// Options configure how a descriptor is read.
type Options struct {
	Dir     file.Dir      // folder that the user named and that contains the descriptor; zero: the user named the descriptor
	Formats []rows.Format // that resources may have
}

// Read reads a descriptor and returns a source for each resource. The paths in it must not lead out of its folder.
func Read(path string, o Options) (set source.Set) {
	p := reader{path: path, folder: filepath.Dir(path), formats: o.Formats}
	root, err := p.open(o.Dir)
	if err == nil {
		defer p.dir.Close()
		err = p.readPackage(root, &set)
	}
	if err != nil {
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
	access    string
	members   object // of the package, without its resources
}

// open opens the folder of the descriptor and parses it.
func (p *reader) open(in file.Dir) (root node, err error) {
	if root, err = parseFile(in, p.path); err != nil {
		return root, err
	}
	p.root = p.folder
	if in.Path() != "" && p.folder != in.Path() {
		p.root = in.Path()
		if p.base, err = in.Rel(p.folder); err != nil {
			return root, err
		}
	}
	p.dir, err = in.Sub(p.folder)
	return root, err
}

// readPackage reads a descriptor.
func (p *reader) readPackage(root node, set *source.Set) error {
	if err := p.readHeader(root); err != nil {
		return err
	}
	resources, err := root.list("resources")
	if err != nil {
		return err
	}
	if len(resources) == 0 {
		return herb.Invalidf("the descriptor has no resources; list at least one under \"resources\"")
	}
	for i, n := range resources {
		s, err := p.resource(n, i)
		if skip, ok := err.(*skipError); ok {
			set.Skip(p.path, skip.Error())
		} else if err != nil {
			set.Fail(err)
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

// skipError is the reason why a resource is not published although nothing is wrong with it: it is not a table.
type skipError struct{ error }

func (p *reader) readHeader(root node) (err error) {
	if err := root.checkObject(); err != nil {
		return err
	}
	if err := bind(root.member, binding{"name", &p.namespace}); err != nil {
		return err
	}
	if p.namespace == "" {
		abs, err := filepath.Abs(p.folder)
		if err != nil {
			return err
		}
		p.namespace = filepath.Base(abs)
	}
	if err := root.checkPlacement("herbarium"); err != nil {
		return err
	}
	own, err := root.settings(packageSettings())
	if err != nil {
		return err
	}
	p.members = without(root, "resources")
	p.access, err = readAccess(own)
	return err
}

// resource reads the resource at a position.
func (p *reader) resource(n node, position int) (source.Source, error) {
	s := source.Source{Root: p.root, Base: p.base}
	if err := n.checkObject(); err != nil {
		return s, err
	}
	for _, read := range []func(*source.Source, node) error{p.readSettings, p.readLocation, p.readDialect, p.readSchema} {
		if err := read(&s, n); err != nil {
			return s, err
		}
	}
	s.Title, s.Description = n.annotation("title"), n.annotation("description")
	name := ""
	if err := bind(n.member, binding{"name", &name}); err != nil {
		return s, err
	}
	if name == "" && s.Inline == nil {
		name = source.Stem(s.Path)
	}
	var err error
	if s.Ref, err = source.NewRef(n.where, p.namespace, cmp.Or(name, "resource-"+strconv.Itoa(position+1))); err != nil {
		return s, err
	}
	s.Descriptor, err = p.asWritten(n)
	return s, err
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
	out := object{}
	for _, name := range n.names() {
		if !slices.Contains(names, name) {
			out[name] = n.member(name).value
		}
	}
	return out
}
