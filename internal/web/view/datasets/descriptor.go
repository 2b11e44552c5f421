package datasets

import (
	"cmp"
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
		return "mailto:" + strings.ReplaceAll(escape(a.Email), "%40", "@") + "?subject=" +
			escape("Problem with "+format.PlainText(title)) + "&body=" + escape("\r\n\r\n"+permalink)
	case strings.HasPrefix(a.Href, "https://"):
		return a.Href
	}
	return ""
}

// newAgent returns who an entry names; nil if it has neither a name nor an address.
func newAgent(e herb.DescriptorEntry) *Agent {
	email := strings.TrimPrefix(cmp.Or(e.Email, e.HasEmail), "mailto:")
	if !strings.Contains(email, "@") || strings.ContainsAny(email, " <>\"'\\\r\n\t,;?&%#") {
		email = ""
	}
	a := Agent{Name: strings.TrimSpace(cmp.Or(e.Title, e.FN, e.Name, e.Organization)),
		Href: format.WebAddress(cmp.Or(e.Path, e.URL, e.Homepage)), Email: email}
	a.Name = cmp.Or(a.Name, a.Email)
	if a.Name == "" {
		return nil
	}
	return &a
}

// hasRole reports whether a contributor has a role, such as "publisher".
func hasRole(e herb.DescriptorEntry, role string) bool {
	return slices.ContainsFunc(append([]string{e.Role}, e.Roles...),
		func(s string) bool { return strings.EqualFold(s, role) })
}

// findAgent returns the first contributor with one of some roles, in the order of the roles.
func findAgent(contributors []herb.DescriptorEntry, roles ...string) *Agent {
	for _, role := range roles {
		for _, c := range contributors {
			if a := newAgent(c); a != nil && hasRole(c, role) {
				return a
			}
		}
	}
	return nil
}

// authorsOf returns the names of the contributors who are authors, or else of those with no other
// role.
func authorsOf(contributors []herb.DescriptorEntry) (names []string) {
	add := func(isAuthor func(herb.DescriptorEntry) bool) {
		for _, c := range contributors {
			if a := newAgent(c); a != nil && a.Name != a.Email && isAuthor(c) {
				names = append(names, a.Name)
			}
		}
	}
	add(func(c herb.DescriptorEntry) bool { return hasRole(c, "author") || hasRole(c, "creator") })
	if names == nil {
		add(func(c herb.DescriptorEntry) bool {
			return c.Role == "" && len(c.Roles) == 0 || hasRole(c, "contributor")
		})
	}
	return names
}

// ReadDescriptor returns what pages show of the descriptor of a dataset, which has none if the
// visitor may not see it.
func ReadDescriptor(d *herb.Dataset) Descriptor {
	about := d.Descriptor
	if about == nil {
		return Descriptor{}
	}
	return Descriptor{
		Keywords: slices.DeleteFunc(slices.Clone(about.Keywords),
			func(s string) bool { return strings.TrimSpace(s) == "" }),
		Homepage: format.WebAddress(about.Homepage),
		Licenses: links(about.Licenses), Sources: links(about.Sources), Contributors: links(about.Contributors),
		Authors:   authorsOf(about.Contributors),
		Publisher: cmp.Or(newAgent(about.Publisher), findAgent(about.Contributors, "publisher")),
		Contact: cmp.Or(newAgent(about.Contact), findAgent(about.Contributors, "contact", "contactPoint",
			"maintainer")),
	}
}

// links returns the entries that have a name.
func links(entries []herb.DescriptorEntry) (all []state.Link) {
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
