package ingest

import (
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"herbarium/internal/herb"
)

// readDescriptor reads a Data Package (https://datapackage.org) and returns a source for each of its resources, with
// what is wrong with others. Only what says how to publish is read; Herbarium's own settings stand under a member
// "herbarium" of the package, of a resource and of a field.
func readDescriptor(path string) ([]Source, []error) {
	root, err := parseDescriptor(path)
	if err != nil {
		return nil, []error{err}
	}
	p := packageReader{folder: filepath.Dir(path)}
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
	for _, r := range resources {
		s, err := p.resource(r)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		sources = append(sources, s)
	}
	if len(resources) == 1 && len(sources) == 1 { // what is said of the package is said of its only dataset
		sources[0].Title = cmp.Or(sources[0].Title, p.title)
		sources[0].Description = cmp.Or(sources[0].Description, p.description)
	}
	return sources, problems
}

// packageReader holds what the resources of a package have in common.
type packageReader struct {
	folder    string
	namespace string
	access    string

	title, description string
}

func (p *packageReader) header(root node) (err error) {
	if err := root.isObject(); err != nil {
		return err
	}
	if p.namespace, err = root.text("name"); err != nil {
		return err
	}
	if p.title, err = root.text("title"); err != nil {
		return err
	}
	if p.description, err = root.text("description"); err != nil {
		return err
	}
	if p.namespace == "" {
		abs, err := filepath.Abs(p.folder)
		if err != nil {
			return err
		}
		p.namespace = filepath.Base(abs)
	}
	own, err := root.settings("access")
	if err != nil {
		return err
	}
	p.access, err = accessOf(own)
	return err
}

// accessOf reads who may list a dataset; an empty string says nothing.
func accessOf(own node) (string, error) {
	s, err := own.text("access")
	if err != nil || s == "" {
		return "", err
	}
	if _, err := herb.ParseAccess(s); err != nil {
		return "", own.member("access").wrong("is %q; choose open or key", s)
	}
	return s, nil
}

func (p *packageReader) resource(n node) (Source, error) {
	if err := n.isObject(); err != nil {
		return Source{}, err
	}
	own, err := n.settings("access")
	if err != nil {
		return Source{}, err
	}
	access, err := accessOf(own)
	if err != nil {
		return Source{}, err
	}
	s := Source{Access: herb.Access(cmp.Or(access, p.access))}
	if s.Path, err = p.file(n); err != nil {
		return Source{}, err
	}
	if s.Title, err = n.text("title"); err != nil {
		return Source{}, err
	}
	if s.Description, err = n.text("description"); err != nil {
		return Source{}, err
	}
	name, err := n.text("name")
	if err != nil {
		return Source{}, err
	}
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(s.Path), filepath.Ext(s.Path))
	}
	if s.Ref, err = refFor(n.where, p.namespace, name); err != nil {
		return Source{}, err
	}
	if s.Format, err = format(n, s.Path); err != nil {
		return Source{}, err
	}
	if s.Dialect.Delimiter, err = delimiter(n.member("dialect")); err != nil {
		return Source{}, err
	}
	if s.Fields, err = fieldSettings(n.member("schema")); err != nil {
		return Source{}, err
	}
	return s, nil
}

// file returns the path of a resource's file, which must lie in the folder of the descriptor.
func (p *packageReader) file(n node) (string, error) {
	path := n.member("path")
	if n.member("data").value != nil {
		return "", n.wrong("holds its data itself; write them into a file beside the descriptor and name it under \"path\"")
	}
	if _, several := path.value.([]any); several {
		return "", path.wrong("lists several files; a dataset is made from one, so give its path as text")
	}
	written, err := n.text("path")
	if err != nil {
		return "", err
	}
	u, urlErr := url.Parse(written)
	switch {
	case written == "":
		return "", n.wrong("has no path; name its file, relative to the descriptor")
	case urlErr == nil && u.Scheme != "" && strings.Contains(written, "://"):
		return "", path.wrong("is %q, an address; download the file into the folder of the descriptor and name it", written)
	case strings.HasPrefix(written, "/") || filepath.IsAbs(written):
		return "", path.wrong("is %q, an absolute path; write it relative to the descriptor", written)
	case !filepath.IsLocal(filepath.FromSlash(written)):
		return "", path.wrong("is %q, which leads out of the folder of the descriptor; move the file into it", written)
	}
	full := filepath.Join(p.folder, filepath.FromSlash(written))
	info, err := os.Stat(full)
	switch {
	case err != nil:
		return "", cannotRead(full, err)
	case !info.Mode().IsRegular():
		return "", path.wrong("is %q, which is not a regular file", written)
	}
	return full, nil
}

func format(n node, path string) (Format, error) {
	written, err := n.text("format")
	if err != nil {
		return "", err
	}
	if written == "" {
		f, ok := formatOf(path)
		if !ok {
			return "", n.wrong("has a file whose extension does not tell its format; give \"format\", one of %s", knownFormats)
		}
		return f, nil
	}
	f, err := ParseFormat(written)
	if err != nil {
		return "", n.member("format").wrong("is %q; choose from %s", written, knownFormats)
	}
	return f, nil
}

// delimiter reads the dialect of a resource. What would change the meaning of the file in a way that is not supported is
// refused, because the records would be wrong without it.
func delimiter(n node) (byte, error) {
	if n.value == nil {
		return 0, nil
	}
	if err := n.isObject(); err != nil {
		return 0, err
	}
	for _, only := range []struct {
		name  string
		value any
	}{
		{"header", true}, {"quoteChar", `"`}, {"doubleQuote", true}, {"skipInitialSpace", false},
		{"escapeChar", nil}, {"commentChar", nil},
	} {
		m := n.member(only.name)
		switch {
		case m.value == nil || m.value == only.value:
		case only.value == nil:
			return 0, m.wrong("is not supported; leave it out and write the file without it")
		default:
			return 0, m.wrong("is %v; only %v is supported", m.value, only.value)
		}
	}
	written, err := n.text("delimiter")
	if err != nil || written == "" {
		return 0, err
	}
	if len(written) != 1 || !validDelimiter(written[0]) {
		return 0, n.member("delimiter").wrong("is %q; it must be one ASCII character that is no quote and no line end", written)
	}
	return written[0], nil
}

// fieldSettings reads the schema of a resource. One without fields exposes every column.
func fieldSettings(schema node) ([]FieldSetting, error) {
	if schema.value == nil {
		return nil, nil
	}
	if err := schema.isObject(); err != nil {
		return nil, err
	}
	list, err := schema.list("fields")
	if err != nil {
		return nil, err
	}
	var out []FieldSetting
	for _, n := range list {
		f, err := fieldSetting(n)
		if err != nil {
			return nil, err
		}
		for _, other := range out {
			if other.Name == f.Name {
				return nil, n.wrong("has the name %q of another field; give each a name of its own "+
					"and use herbarium.from for the column", f.Name)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

func fieldSetting(n node) (f FieldSetting, err error) {
	if err := n.isObject(); err != nil {
		return f, err
	}
	own, err := n.settings("from", "searchable", "filterable", "sortable")
	if err != nil {
		return f, err
	}
	var written string
	for _, t := range []struct {
		of   node
		name string
		to   *string
	}{
		{n, "name", &f.Name}, {n, "type", &written}, {n, "title", &f.Title}, {n, "description", &f.Description},
		{own, "from", &f.From},
	} {
		if *t.to, err = t.of.text(t.name); err != nil {
			return f, err
		}
	}
	for _, b := range []struct {
		name string
		to   **bool
	}{
		{"searchable", &f.Searchable}, {"filterable", &f.Filterable}, {"sortable", &f.Sortable},
	} {
		if *b.to, err = own.flag(b.name); err != nil {
			return f, err
		}
	}
	if f.Name == "" {
		return f, n.wrong("has no name; give it one")
	}
	f.Type = typeOf(written)
	return f, nil
}

// typeOf maps the types of Data Packages to ours. A field without a type has an inferred one.
func typeOf(written string) herb.Type {
	switch written {
	case "":
		return ""
	case "integer", "number", "year":
		return herb.TypeNumber
	case "date":
		return herb.TypeDate
	case "list", "array":
		return herb.TypeList
	default:
		return herb.TypeText
	}
}
