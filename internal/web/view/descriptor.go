package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// Descriptor contains the members of a Data Package descriptor that pages show.
type Descriptor struct {
	Keywords     []string
	Homepage     string // a web address, or empty
	Licenses     []License
	Sources      []Credit
	Contributors []Credit
}

// License is a license of a dataset. Href is a web address, or empty.
type License struct{ Name, Href string }

// Credit is a source of a dataset, or a person or organization that contributed to it. Href is a web address, or empty.
type Credit struct{ Name, Role, Href string }

// descriptorEntry is an entry of the lists in a descriptor, as written by the publisher.
type descriptorEntry struct {
	Name, Title, Path, Organization, Role string
	Roles                                 []string
}

// ReadDescriptor reads the public descriptor of a dataset. That of a dataset that requires a key is not read, because it may
// quote values.
func ReadDescriptor(d *herb.Dataset) Descriptor {
	if d.Access == herb.AccessKey {
		return Descriptor{}
	}
	return ParseDescriptor(d.Descriptor)
}

// ParseDescriptor parses a descriptor. Members of the resource override those of the package; malformed ones are ignored.
func ParseDescriptor(descriptor []byte) Descriptor {
	var out Descriptor
	var parts struct{ Package, Resource map[string]json.RawMessage }
	if json.Unmarshal(descriptor, &parts) != nil {
		return out
	}
	var licenses, sources, contributors []descriptorEntry
	for _, members := range []map[string]json.RawMessage{parts.Package, parts.Resource} {
		// One by one, so that a malformed member does not hide the others.
		_ = json.Unmarshal(members["keywords"], &out.Keywords)
		_ = json.Unmarshal(members["homepage"], &out.Homepage)
		_ = json.Unmarshal(members["licenses"], &licenses)
		_ = json.Unmarshal(members["sources"], &sources)
		_ = json.Unmarshal(members["contributors"], &contributors)
	}
	out.Keywords = slices.DeleteFunc(out.Keywords, func(s string) bool { return strings.TrimSpace(s) == "" })
	out.Homepage = webAddress(out.Homepage)
	for _, l := range licenses {
		if name := cmp.Or(l.Title, l.Name, l.Path); name != "" {
			out.Licenses = append(out.Licenses, License{name, webAddress(l.Path)})
		}
	}
	out.Sources, out.Contributors = credits(sources), credits(contributors)
	return out
}

func credits(entries []descriptorEntry) (all []Credit) {
	const most = 100
	for _, e := range entries[:min(len(entries), most)] {
		c := Credit{Name: cmp.Or(e.Title, e.Name, e.Organization, e.Path), Href: webAddress(e.Path)}
		if c.Name == "" {
			continue
		}
		if e.Role != "" {
			e.Roles = append([]string{e.Role}, e.Roles...)
		}
		if e.Organization != "" && e.Organization != c.Name {
			e.Roles = append(e.Roles, e.Organization)
		}
		c.Role = strings.Join(e.Roles, ", ")
		all = append(all, c)
	}
	return all
}

// webAddress returns a web address, or an empty string for anything else.
func webAddress(s string) string {
	if IsWebAddress(s) {
		return s
	}
	return ""
}

// License returns the first license; nil if there is none.
func (d Descriptor) License() *License {
	if len(d.Licenses) == 0 {
		return nil
	}
	return &d.Licenses[0]
}
