// Package descriptor defines what a dataset is published from: files, and the settings of a Data
// Package descriptor or of flags. It reads and writes descriptors: it decides what each member
// means and which ones are errors; members.go lists the members once, for both directions. It also
// decides the name of a dataset and whether two sources are the same. It does not open the files
// that a descriptor names, and ingest, which does, depends on it.
package descriptor

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
)

// maxYAMLSize is herb.MaxDescriptor for YAML, because parsing it needs many times its size.
const maxYAMLSize = 1 << 20

// Names returns the names of descriptors.
func Names() []string { return []string{"datapackage.json", "datapackage.yaml", "datapackage.yml"} }

// IsDescriptor reports whether a path has the name of a descriptor.
func IsDescriptor(path string) bool {
	return slices.Contains(Names(), filepath.Base(path))
}

// IsEmpty reports whether an entry of a folder is an empty descriptor.
func IsEmpty(e fs.DirEntry) bool {
	info, err := e.Info()
	return IsDescriptor(e.Name()) && err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// Detect reports whether a regular file that the user named is a descriptor, by its name or its
// content.
func Detect(path string, size int64) bool {
	switch {
	case IsDescriptor(path), isYAML(path):
		return true
	case !strings.EqualFold(filepath.Ext(path), ".json") || size > herb.MaxDescriptor:
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

// parseContent parses a descriptor without a file name: JSON, or else YAML.
func parseContent(content []byte) (any, error) {
	content = bytes.TrimPrefix(content, []byte("\xEF\xBB\xBF"))
	limit, parse := maxYAMLSize, parseYAML
	if trimmed := bytes.TrimSpace(content); bytes.HasPrefix(trimmed, []byte("{")) {
		limit, parse = herb.MaxDescriptor, parseJSON
	}
	if len(content) > limit {
		return nil, tooLarge(int64(limit))
	}
	return parse(content)
}

func tooLarge(limit int64) error {
	return herb.Invalidf("the descriptor is larger than %s; move large parts to files next to it",
		herb.FormatBytes(limit))
}

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
	limit, parse := int64(herb.MaxDescriptor), parseJSON
	if isYAML(path) {
		limit, parse = maxYAMLSize, parseYAML
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, tooLarge(limit)
	}
	return parse(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")))
}

// packageReader reads a Data Package descriptor (https://datapackage.org) of version 1 or 2.
// Herbarium's own settings are members of "herbarium" in the package, a resource or a field. Other
// unknown members are kept, because everyone may add some.
type packageReader struct {
	Set
	formats   []rows.Format
	path      string
	folder    string
	dir       file.Dir // the folder
	root      string   // Source.Root of the resources
	base      string   // Source.Base of the resources
	namespace string
	access    herb.Access
	input     *Source  // an upload that the descriptor describes instead of files; nil: none
	members   object   // of the package, without its resources
	inlined   object   // schema and dialect of the current resource, instead of the files that it names
	notes     []string // about the package
	err       error    // the first error of the package or of the current resource
}

// skipError is the reason why a resource is not published although nothing is wrong with it: it is
// not a table.
type skipError struct{ error }

// Read returns a source for each resource of a descriptor. in is the folder that the user named;
// zero: the user named the descriptor. The paths in it must not lead out of its folder.
//
// A descriptor that states only access and has no resources is about its folder: everything in it
// has this access, unless it states another. Then access is not empty, and there are no sources.
func Read(in file.Dir, path string, formats []rows.Format) (set Set, access herb.Access) {
	p := &packageReader{formats: formats, path: path, folder: filepath.Dir(path)}
	err := p.read(in)
	if err == errFolder {
		return Set{}, p.access
	}
	if err != nil {
		p.Fail(Located(path, err))
	}
	return p.Set, ""
}

func (p *packageReader) read(in file.Dir) error {
	value, err := parseFile(in, p.path)
	if err != nil {
		return err
	}
	p.root = p.folder
	if in.Path() != "" && p.folder != in.Path() {
		p.root = in.Path()
		p.base, err = in.Rel(p.folder)
		if err != nil {
			return err
		}
	}
	p.dir, err = in.Sub(p.folder)
	if err != nil {
		return err
	}
	defer p.dir.Close()
	root := node{value: value, err: &p.err}
	if root.isObject() {
		p.readHeader(root)
	}
	resources := root.member("resources").shortList(herb.MaxResources)
	if len(resources) == 0 {
		p.readFolder(root)
	}
	if p.err != nil {
		return p.err
	}
	for i, n := range resources {
		p.err = nil
		s := p.resource(n, i)
		if len(resources) == 1 { // the package describes its only dataset
			describe(&s, root)
		}
		if skip, ok := p.err.(*skipError); ok {
			p.Skip(p.path, skip.Error())
		} else if p.err != nil {
			p.Fail(Located(p.path, p.err))
		} else {
			p.Sources = append(p.Sources, s)
		}
	}
	return nil
}

// describe sets the title and the description of a source to those of the package, unless it has
// its own.
func describe(s *Source, root node) {
	s.Title = cmp.Or(s.Title, root.annotation("title"))
	s.Description = cmp.Or(s.Description, root.annotation("description"))
}

func (p *packageReader) readHeader(root node) {
	p.notes = root.bind([]binding{{"name", &p.namespace}}, "title", "description", "resources", Own)
	if p.namespace == "" {
		abs, err := filepath.Abs(p.folder)
		root.record(err)
		p.namespace = filepath.Base(abs)
	}
	root.checkPlacement(Own)
	root.member(Own).bindOwn([]binding{{"access", func(n node) { p.access = readAccess(n) }}})
	root.checkAnnotations()
	p.members = root.without("resources")
}

// innerPath binds the file of an archive, or the tables of a file that are one dataset.
func innerPath(s *Source) custom {
	return custom{func(n node) {
		list, isList := n.value.([]any)
		if !isList {
			n.assign(&s.Entry)
			return
		}
		s.Tables = n.texts()
		seen := map[string]bool{}
		for _, table := range s.Tables {
			if table == "" || seen[table] {
				n.fail("names the table %q twice, or a table without a name", rows.Clip(table))
			}
			seen[table] = true
		}
		if len(list) == 0 || len(list) > MaxTables {
			n.fail("lists %d tables; list 1 to %d", len(list), MaxTables)
		}
	}, func() any {
		if len(s.Tables) > 0 {
			return s.Tables
		}
		return s.Entry
	}}
}

func (p *packageReader) resource(n node, position int) (s Source) {
	s, p.inlined = Source{Root: p.root, Base: p.base}, object{}
	if !n.isObject() {
		return s
	}
	name := ""
	notes := n.bind([]binding{{"name", &name}, {"innerpath", innerPath(&s)}}, "path", "url", "data", "title",
		"description", "format", "mediatype", "encoding",
		"compression", "type", "profile", "schema", "dialect", "layout", Own)
	s.Notes = slices.Concat(p.notes, notes)
	n.checkAnnotations()
	for _, read := range []func(*Source, node){p.readSettings, p.readLocation, p.readDialect, p.readSchema} {
		read(&s, n)
		if p.err != nil {
			return s
		}
	}
	s.Title, s.Description = n.annotation("title"), n.annotation("description")
	defer func() {
		var err error
		s.Settings.Descriptor, err = p.complete(n)
		n.record(err)
	}()
	if p.input != nil {
		s.Ref = p.input.Ref
		s.Descriptor, p.err = p.asWritten(n)
		return s
	}
	if name == "" && s.Input == nil {
		name = Stem(s.Path)
	}
	var err error
	if p.err == nil {
		s.Ref, err = NewRef(n.where, p.namespace, cmp.Or(name, "resource-"+strconv.Itoa(position+1)))
		n.record(err)
	}
	s.Descriptor, err = p.asWritten(n)
	n.record(err)
	return s
}

// asWritten returns the members of the package and a resource, without those about records: data,
// include, exclude and expectations.
func (p *packageReader) asWritten(n node) ([]byte, error) {
	resource := n.without("data")
	if settings := n.member(Own); settings.value != nil {
		resource[Own] = settings.without("include", "exclude", "expectations")
	}
	return marshal(object{"package": p.members, "resource": resource})
}

// complete returns a descriptor with one resource that refers to no other file.
func (p *packageReader) complete(n node) ([]byte, error) {
	resource := n.without("data")
	maps.Copy(resource, p.inlined)
	whole := maps.Clone(p.members)
	whole["resources"] = []any{resource}
	return marshal(whole)
}

// without returns a copy of an object that lacks some members.
func (n node) without(names ...string) object {
	o, _ := n.value.(object)
	out := maps.Clone(o)
	maps.DeleteFunc(out, func(name string, _ any) bool { return slices.Contains(names, name) })
	return out
}

// readLocation reads where the records of a resource are, their format and encoding.
func (p *packageReader) readLocation(s *Source, n node) {
	if p.input != nil {
		p.readUpload(s, n)
		return
	}
	if data := n.member("data"); data.value != nil && n.member("path").value == nil {
		p.readInline(s, n, data)
		return
	}
	if s.Fetch.Refresh != "" {
		p.readFetched(s, n)
		s.Path, s.DisplayName = p.path, cmp.Or(herb.FetchFile(s.Fetch.Address), "file")
		p.readUploadFormat(s, n)
		return
	}
	path := n.either("path", "url")
	if !path.isShort(herb.MaxResources) {
		return
	}
	written := path.texts()
	if len(written) == 0 || written[0] == "" {
		n.fail("has no path; set it to the file, relative to the descriptor%s", n.misspelled("path"))
		return
	}
	if len(written) > 1 && len(s.Tables) > 0 {
		n.member("innerpath").fail("lists tables of a file, and path lists files; list one of them")
	}
	for _, item := range path.items() {
		p.localPath(item)
	}
	s.Format = p.format(s, n, written[0])
	n.member("encoding").assign(&s.Dialect.Encoding)
	seen := map[string]bool{}
	for _, item := range path.items() {
		full := p.findFile(item)
		if seen[full] && full != "" {
			item.fail("names a part again; list each part once")
		}
		seen[full] = true
		if s.Path == "" {
			s.Path = full
		} else {
			s.MoreFiles = append(s.MoreFiles, full)
		}
	}
}

// readFetched reads the address of a file that is fetched.
func (p *packageReader) readFetched(s *Source, n node) {
	path := n.either("path", "url")
	address, _ := path.value.(string)
	if !herb.IsFetchAddress(address) {
		n.member(Own).member("refresh").fail("has no effect, because the path is not one address; write https://… or " +
			"s3://bucket/key as the path, or remove refresh")
		return
	}
	n.record(herb.At(path.where, herb.CheckFetchAddress(address)))
	s.Fetch.Address = address
	if _, service := herb.DownloadAddress(address); service != "" {
		s.Notes = append(s.Notes, "the path is a page of "+service+"; the file that it shows is fetched")
	}
}

// readInline reads records in the descriptor: a list or an object as JSON, or a text in the format
// of the resource.
func (p *packageReader) readInline(s *Source, n, data node) {
	s.Path, s.Format = p.path, "json"
	content := ""
	switch v := data.value.(type) {
	case string:
		s.Format, content = p.format(s, n, ""), v
	case []any, object:
		b, err := marshal(v)
		data.record(err)
		content = string(b)
	default:
		data.fail("must be a list of records; write an object for each")
	}
	s.Input = io.NewSectionReader(strings.NewReader(content), 0, int64(len(content)))
}

// localPath returns the path of a file that is written relative to the descriptor and does not lead
// out of its folder.
func (p *packageReader) localPath(n node) string {
	written, _ := n.scalar()
	u, urlErr := url.Parse(written)
	switch {
	case written == "":
		n.fail("is empty; name a file, relative to the descriptor")
	case urlErr == nil && u.Scheme != "" && strings.Contains(written, "://"):
		n.fail("is %.500q, a URL; set herbarium.refresh to fetch it, such as {refresh: 1h}, or download the file to the folder of the "+
			"descriptor and name it", written)
	case strings.HasPrefix(written, "/") || filepath.IsAbs(written):
		n.fail("is %q, an absolute path; write it relative to the descriptor", rows.Clip(written))
	case !filepath.IsLocal(filepath.FromSlash(written)):
		n.fail("is %q, which leads out of the folder of the descriptor; move the file into it", rows.Clip(written))
	}
	local := filepath.FromSlash(written)
	p.Named = append(p.Named, filepath.Join(p.folder, local), filepath.Join(p.folder, "data", local))
	return local
}

// findFile returns the path of a file in the folder of the descriptor or, if it is not there, in
// the folder data in it.
func (p *packageReader) findFile(n node) string {
	local := p.localPath(n)
	if p.err != nil {
		return ""
	}
	full := filepath.Join(p.folder, local)
	info, err := p.dir.Stat(full)
	if herb.CodeOf(err) == herb.CodeNotFound {
		below := filepath.Join(p.folder, "data", local)
		if inData, dataErr := p.dir.Stat(below); dataErr == nil {
			full, info, err = below, inData, nil
		}
	}
	if _, err := p.dir.Stat(filepath.Dir(full)); err == nil {
		p.Folders = append(p.Folders, filepath.Dir(full))
	}
	switch {
	case errors.Is(err, file.ErrEscapes):
		n.fail("is %q, a link that leads out of the folder of the descriptor; put the file itself there",
			rows.Clip(local))
	case err != nil:
		n.record(err)
	case !info.Mode().IsRegular():
		n.fail("is %q, which is not a regular file", rows.Clip(local))
	}
	return full
}
