package descriptor

import (
	"path"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
)

// descriptorName is the name of an uploaded descriptor in messages.
const descriptorName = "descriptor"

// Apply returns a source with the settings of a descriptor, in JSON or YAML. The source has a name
// and one file; the descriptor is not about files of this machine, so it must not name any. Of
// several resources, it is the one with the name of the dataset, or with the path of the input.
func Apply(content []byte, input Source, formats []rows.Format) (s Source, err error) {
	p := &packageReader{formats: formats, path: descriptorName, input: &input, namespace: input.Ref.Namespace}
	value, err := parseContent(content)
	if err != nil {
		return s, Located(descriptorName, err)
	}
	root := node{value: value, err: &p.err}
	if root.isObject() {
		p.readHeader(root)
	}
	resources := root.member("resources").shortList(herb.MaxResources)
	n, ok := p.ownResource(resources)
	if !ok && p.err == nil {
		root.fail("has %d resources, and none of them is %q; list one resource, the file that is sent", len(resources),
			input.Ref.Name)
	}
	if p.err == nil {
		s = p.resource(n, 0)
	}
	if len(resources) == 1 {
		describe(&s, root)
	}
	if p.err != nil {
		return s, Located(descriptorName, p.err)
	}
	return s, nil
}

// ownResource returns the resource that describes the upload.
func (p *packageReader) ownResource(resources []node) (node, bool) {
	if len(resources) == 1 {
		return resources[0], true
	}
	for _, n := range resources {
		if n.annotation("name") == p.input.Ref.Name {
			return n, true
		}
	}
	for _, n := range resources {
		if paths := n.either("path", "url").items(); len(paths) == 1 && p.input.DisplayName != "" {
			if written, _ := paths[0].scalar(); path.Base(written) == p.input.DisplayName {
				return n, true
			}
		}
	}
	return node{}, false
}

// readUpload sets the input of a resource. Its path is that on the machine of the publisher; its
// format is declared, or detected by the name and the content.
func (p *packageReader) readUpload(s *Source, n node) {
	if s.Fetch.Refresh != "" {
		p.readFetched(s, n)
	}
	if n.member("data").value != nil {
		n.member("data").fail("has records, but those of the file are published; remove it")
	}
	if written := n.either("path", "url").items(); len(written) > 1 {
		n.member("path").fail("lists %d files; only one can be sent; combine them", len(written))
	}
	s.Input, s.Path, s.DisplayName = p.input.Input, p.input.Path, p.input.DisplayName
	s.Root, s.Base, s.Shared = p.input.Root, p.input.Base, p.input.Shared
	p.readUploadFormat(s, n)
}

// readUploadFormat reads the format of a file that is not on this machine yet. Unless it is
// declared, it is detected.
func (p *packageReader) readUploadFormat(s *Source, n node) {
	var declared, media string
	n.assignAll([]binding{{"format", &declared}, {"mediatype", &media}})
	n.member("encoding").assign(&s.Dialect.Encoding)
	for _, name := range []string{declared, media} {
		if f, ok := file.ByName(p.formats, formatName(name)); ok {
			s.Format = f.Name
			return
		}
	}
	if declared != "" {
		s.Notes = append(s.Notes,
			n.member("format").errorf("is %q, an unknown format; it is detected; valid formats: %s",
				rows.Clip(declared), strings.Join(FormatNames(p.formats), ", ")).Error())
	}
}

// readSourceAccess reads who may read the source that is kept with a version.
func readSourceAccess(n node) bool {
	if n.value != "public" && n.value != "private" {
		n.fail("must be public, if everybody who may read the records may read the file, or private")
	}
	return n.value == "public"
}
