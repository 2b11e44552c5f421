package ingest

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
)

// Skipped says of something in a descriptor that it is not published because it is no table: a picture, a document. The
// publisher is told, and it is no failure.
type Skipped struct{ Err error }

// Error implements error.
func (s *Skipped) Error() string { return s.Err.Error() }

// Unwrap returns the reason.
func (s *Skipped) Unwrap() error { return s.Err }

// SplitSkipped splits the error of Discover into what is only to be told and what failed.
func SplitSkipped(err error) (skipped []string, failed []error) {
	problems := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		problems = joined.Unwrap()
	}
	for _, p := range problems {
		switch s, ok := p.(*Skipped); {
		case ok:
			skipped = append(skipped, s.Error())
		case p != nil:
			failed = append(failed, p)
		}
	}
	return skipped, failed
}

// readDescriptor reads a Data Package (https://datapackage.org) and returns a source for each of its resources, with
// what is wrong with others. Herbarium's own settings stand under a member "herbarium" of the package, of a resource and
// of a field. Members that are not known are kept, because there everybody may add some.
// in is the folder that the user named; it may be none if it is the descriptor itself that was named. Nothing in the
// descriptor leads out of the folder that it is in.
func readDescriptor(in file.Dir, path string) ([]Source, []error) {
	root, err := parseDescriptor(in, path)
	if err != nil {
		return nil, []error{err}
	}
	p := packageReader{path: path, folder: filepath.Dir(path)}
	if p.from, err = in.Sub(p.folder); err != nil {
		return nil, []error{err}
	}
	defer p.from.Close()
	p.root = p.folder
	if in.Path() != "" && p.folder != in.Path() {
		if p.base, err = in.Rel(p.folder); err != nil {
			return nil, []error{err}
		}
		p.root = in.Path()
	}
	if err := p.header(root); err != nil {
		return nil, []error{err}
	}
	resources, err := root.list("resources")
	switch {
	case err != nil:
		return nil, []error{err}
	case len(resources) == 0:
		return nil, []error{herb.Invalidf("the descriptor has no resources; list at least one under \"resources\"")}
	}
	var sources []Source
	var problems []error
	for i, r := range resources {
		s, err := p.resource(r, i)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		sources = append(sources, s)
	}
	if len(resources) == 1 && len(sources) == 1 { // what is said of the package is said of its only dataset
		sources[0].Title = cmp.Or(sources[0].Title, root.prose("title"))
		sources[0].Description = cmp.Or(sources[0].Description, root.prose("description"))
	}
	return sources, problems
}

// packageReader holds what the resources of a package have in common.
type packageReader struct {
	path      string
	folder    string
	from      file.Dir // the folder
	root      string   // Source.Root of its resources
	base      string   // Source.Base of them
	namespace string
	access    string
	members   *object // those of the package without its resources
}

func (p *packageReader) header(root node) (err error) {
	if err := root.isObject(); err != nil {
		return err
	}
	if p.namespace, err = root.text("name"); err != nil {
		return err
	}
	if p.namespace == "" {
		abs, err := filepath.Abs(p.folder)
		if err != nil {
			return err
		}
		p.namespace = filepath.Base(abs)
	}
	if err := root.misplaced("herbarium"); err != nil {
		return err
	}
	own, err := root.settings(packageSettings())
	if err != nil {
		return err
	}
	p.members = root.object().without("resources")
	p.access, err = accessOf(own)
	return err
}

// resource reads the resource with a position in the package.
func (p *packageReader) resource(n node, position int) (Source, error) {
	s := Source{Root: p.root, Base: p.base}
	if err := n.isObject(); err != nil {
		return s, err
	}
	for _, read := range []func(*Source, node) error{p.settings, p.records, p.layout, p.schema} {
		if err := read(&s, n); err != nil {
			return Source{}, err
		}
	}
	s.Title, s.Description = n.prose("title"), n.prose("description")
	name, err := n.text("name")
	if err != nil {
		return Source{}, err
	}
	if name == "" && s.Inline == nil {
		name = stem(s.Path)
	}
	if s.Ref, err = refFor(n.where, p.namespace, cmp.Or(name, "resource-"+strconv.Itoa(position+1))); err != nil {
		return Source{}, err
	}
	s.Descriptor = p.asWritten(n)
	return s, nil
}

// asWritten is what the descriptor says of a resource and its package, without what is about records: those that it holds
// itself, those that are left out, and those that are expected.
func (p *packageReader) asWritten(n node) []byte {
	o := n.object().without("data")
	if own, ok := o.values["herbarium"].(*object); ok {
		o.set("herbarium", own.without("include", "goldens"))
	}
	both := newObject()
	both.set("package", p.members)
	both.set("resource", o)
	return appendJSON(nil, both)
}

// stem is the name of a file without its extensions.
func stem(path string) string {
	base := filepath.Base(file.Uncompressed(path))
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// looksLikePackage reports whether a file that the user named is a descriptor although it is not called like one.
func looksLikePackage(path string, size int64) bool {
	switch {
	case isYAML(path):
		return true
	case !strings.EqualFold(filepath.Ext(path), ".json") || size > maxDescriptor:
		return false
	}
	root, err := parseDescriptor(file.Dir{}, path)
	if err != nil {
		return false
	}
	resources, err := root.list("resources")
	if err != nil || len(resources) == 0 {
		return false
	}
	for _, r := range resources {
		if r.member("path").value == nil && r.member("data").value == nil {
			return false // records, in a member that happens to be called so
		}
	}
	return true
}
