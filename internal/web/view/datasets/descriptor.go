package datasets

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// Descriptor contains the members of a Data Package descriptor that pages show.
type Descriptor struct {
	Keywords []string
	Homepage string // a web address, or empty
	// The details of links are roles and organizations.
	Licenses, Sources, Contributors []state.Link
	Authors                         []string // names of the contributors to cite
	Publisher, Contact              *Agent   // nil: not known
}

// Agent is a person or an organization.
type Agent struct{ Name, Href, Email string }

// ProblemAddress returns the address to report a problem with a dataset to: an e-mail whose text
// has the permalink of what is shown, or the web page of the contact. It is empty if there is no
// contact with one of these.
func (a *Agent) ProblemAddress(title, permalink string) string {
	switch {
	case a == nil:
		return ""
	case a.Email != "":
		escape := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
		return "mailto:" + strings.ReplaceAll(escape(a.Email), "%40", "@") + "?subject=" + escape("Problem with "+format.PlainText(title)) + "&body=" + escape("\r\n\r\n"+permalink)
	case strings.HasPrefix(a.Href, "https://"):
		return a.Href
	}
	return ""
}

// descriptorEntry is an entry of the lists in a descriptor, as written by the publisher.
type descriptorEntry struct {
	Name, Title, Path, Organization, Role, Email string
	Roles                                        []string
	FN                                           string // of a contactPoint, as in vCard
	HasEmail                                     string
	URL, Homepage                                string
}

// agent returns who an entry names; nil if it has neither a name nor an address.
func (e descriptorEntry) agent() *Agent {
	email := strings.TrimPrefix(cmp.Or(e.Email, e.HasEmail), "mailto:")
	if !strings.Contains(email, "@") || strings.ContainsAny(email, " <>\"'\\\r\n\t,;?&%#") {
		email = ""
	}
	a := Agent{Name: strings.TrimSpace(cmp.Or(e.Title, e.FN, e.Name, e.Organization)), Href: format.WebAddress(cmp.Or(e.Path, e.URL, e.Homepage)), Email: email}
	if a.Name = cmp.Or(a.Name, a.Email); a.Name == "" {
		return nil
	}
	return &a
}

// hasRole reports whether a contributor has a role, such as "publisher".
func (e descriptorEntry) hasRole(role string) bool {
	return slices.ContainsFunc(append([]string{e.Role}, e.Roles...), func(s string) bool { return strings.EqualFold(s, role) })
}

// parseAgent parses a member that is a name or an object.
func parseAgent(member json.RawMessage) *Agent {
	var e descriptorEntry
	if json.Unmarshal(member, &e.Name) != nil {
		_ = json.Unmarshal(member, &e)
	}
	return e.agent()
}

// findAgent returns the first contributor with one of some roles, in the order of the roles.
func findAgent(contributors []descriptorEntry, roles ...string) *Agent {
	for _, role := range roles {
		for _, c := range contributors {
			if a := c.agent(); a != nil && c.hasRole(role) {
				return a
			}
		}
	}
	return nil
}

// authorsOf returns the names of the contributors who are authors, or else of those with no other
// role.
func authorsOf(contributors []descriptorEntry) (names []string) {
	add := func(isAuthor func(descriptorEntry) bool) {
		for _, c := range contributors {
			if a := c.agent(); a != nil && a.Name != a.Email && isAuthor(c) {
				names = append(names, a.Name)
			}
		}
	}
	add(func(c descriptorEntry) bool { return c.hasRole("author") || c.hasRole("creator") })
	if names == nil {
		add(func(c descriptorEntry) bool { return c.Role == "" && len(c.Roles) == 0 || c.hasRole("contributor") })
	}
	return names
}

// ReadDescriptor reads the descriptor of a dataset, which has none if the visitor may not see it.
func ReadDescriptor(d *herb.Dataset) Descriptor { return ParseDescriptor(d.Descriptor) }

// ParseDescriptor parses a descriptor. Members of the resource override those of the package;
// malformed ones are ignored.
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
		out.Publisher = cmp.Or(parseAgent(members["publisher"]), out.Publisher)
		out.Contact = cmp.Or(parseAgent(members["contactPoint"]), out.Contact)
	}
	out.Publisher = cmp.Or(out.Publisher, findAgent(contributors, "publisher"))
	out.Contact = cmp.Or(out.Contact, findAgent(contributors, "contact", "contactPoint", "maintainer"))
	out.Authors = authorsOf(contributors)
	out.Keywords = slices.DeleteFunc(out.Keywords, func(s string) bool { return strings.TrimSpace(s) == "" })
	out.Homepage = format.WebAddress(out.Homepage)
	out.Licenses, out.Sources, out.Contributors = links(licenses), links(sources), links(contributors)
	return out
}

// links returns the entries that have a name.
func links(entries []descriptorEntry) (all []state.Link) {
	const most = 100
	for _, e := range entries[:min(len(entries), most)] {
		c := state.Link{Label: cmp.Or(e.Title, e.Name, e.Organization, e.Path), Href: format.WebAddress(e.Path)}
		if c.Label == "" {
			continue
		}
		if e.Role != "" {
			e.Roles = append([]string{e.Role}, e.Roles...)
		}
		if e.Organization != "" && e.Organization != c.Label {
			e.Roles = append(e.Roles, e.Organization)
		}
		c.Detail = strings.Join(e.Roles, ", ")
		all = append(all, c)
	}
	return all
}

// License returns the first license; nil if there is none.
func (d Descriptor) License() *state.Link {
	if len(d.Licenses) == 0 {
		return nil
	}
	return &d.Licenses[0]
}
