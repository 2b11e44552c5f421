package herb

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
)

// Descriptor is what the publisher of a version says about it. It is parsed when it is decoded;
// malformed members are ignored.
type Descriptor struct {
	// Text is an object with the members of the package and of its resource, as written, including
	// unknown ones. nil in lists of datasets.
	Text json.RawMessage

	// Members of the resource, or else of the package.

	Keywords                        []string
	Homepage                        string
	Licenses, Sources, Contributors []DescriptorEntry
	Publisher, Contact              DescriptorEntry // zero: not stated

	Fetch    FetchSource // of the resource; zero: it is not fetched
	Expected Frequency   // of a resource, or else accrualPeriodicity; empty: not stated

	// Settings of the resource.

	NoCoordinates bool        // the records have none
	Coordinates   Coordinates // zero: not stated
	Charts        []PinnedChart
}

// DescriptorEntry is an entry of a list in a descriptor, such as a license or a contributor.
type DescriptorEntry struct {
	Name, Title, Path, Organization, Role, Email string
	Roles                                        []string
	FN                                           string // of a contactPoint, as in vCard
	HasEmail                                     string
	URL, Homepage                                string
}

// UnmarshalJSON decodes an object, or text that is the name.
func (e *DescriptorEntry) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		return json.Unmarshal(text, &e.Name)
	}
	type members DescriptorEntry
	return json.Unmarshal(text, (*members)(e))
}

// NewDescriptor parses the text of a descriptor, which is valid JSON. No text is no descriptor.
func NewDescriptor(text []byte) *Descriptor {
	if len(text) == 0 {
		return nil
	}
	d := new(Descriptor)
	_ = d.UnmarshalJSON(text) // it has no errors
	return d
}

// MarshalJSON returns the text.
func (d *Descriptor) MarshalJSON() ([]byte, error) { return d.Text.MarshalJSON() }

// UnmarshalJSON parses the text.
func (d *Descriptor) UnmarshalJSON(text []byte) error {
	type members struct {
		Path json.RawMessage
		Keywords, Homepage, Licenses, Sources, Contributors, Publisher, ContactPoint,
		AccrualPeriodicity json.RawMessage

		Herbarium struct {
			Coordinates, Charts json.RawMessage
			Expected, Refresh   json.RawMessage
			Map                 json.RawMessage // coordinates in descriptors for earlier releases
		}
	}
	var parts struct{ Package, Resource members }
	_ = json.Unmarshal(text, &parts)
	*d = Descriptor{Text: bytes.Clone(text)}
	for _, m := range []members{parts.Package, parts.Resource} {
		override(&d.Keywords, m.Keywords)
		override(&d.Homepage, m.Homepage)
		override(&d.Licenses, m.Licenses)
		override(&d.Sources, m.Sources)
		override(&d.Contributors, m.Contributors)
		override(&d.Publisher, m.Publisher)
		override(&d.Contact, m.ContactPoint)
		override(&d.Expected, m.AccrualPeriodicity)
	}
	own := parts.Resource.Herbarium
	override(&d.Expected, own.Expected)
	d.Fetch = newFetchSource(parts.Resource.Path, own.Refresh)
	d.NoCoordinates = string(own.Coordinates) == `"none"`
	override(&d.Coordinates, own.Map)
	override(&d.Coordinates, own.Coordinates)
	override(&d.Charts, own.Charts)
	d.Charts = slices.DeleteFunc(d.Charts, func(c PinnedChart) bool { return len(c.By) == 0 && c.Measure == "" })
	return nil
}

// override sets a variable to a member, as far as it can be decoded.
func override[T any](to *T, member json.RawMessage) {
	var decoded T
	_ = json.Unmarshal(member, &decoded)
	if !reflect.ValueOf(&decoded).Elem().IsZero() {
		*to = decoded
	}
}

// UnmarshalJSON decodes an object whose member "by" is a field or a list of fields.
func (c *PinnedChart) UnmarshalJSON(text []byte) error {
	var members struct {
		By      json.RawMessage
		Measure string
	}
	err := json.Unmarshal(text, &members)
	var field string
	if json.Unmarshal(members.By, &field) == nil && field != "" {
		*c = PinnedChart{By: []string{field}, Measure: members.Measure}
		return err
	}
	*c = PinnedChart{Measure: members.Measure}
	_ = json.Unmarshal(members.By, &c.By)
	return err
}

// Summary returns the descriptor for lists of datasets: without its text, charts, and lists of more
// than a number of bytes.
func (d *Descriptor) Summary(largest int) *Descriptor {
	if d == nil {
		return nil
	}
	s := &Descriptor{Keywords: d.Keywords, Homepage: d.Homepage, Publisher: d.Publisher, Contact: d.Contact,
		Expected: d.Expected}
	s.Licenses, s.Sources, s.Contributors = d.Licenses, d.Sources, d.Contributors
	if textSize(s.Keywords) > largest {
		s.Keywords = nil
	}
	for _, list := range []*[]DescriptorEntry{&s.Licenses, &s.Sources, &s.Contributors} {
		if entriesSize(*list) > largest {
			*list = nil
		}
	}
	for _, e := range []*DescriptorEntry{&s.Publisher, &s.Contact} {
		if e.size() > largest {
			*e = DescriptorEntry{}
		}
	}
	return s
}

// ForReaders returns the descriptor with a text that does not say where and when the file is
// fetched: the address may name a host that only publishers know. Fetch stays, because it is not
// encoded.
func (d *Descriptor) ForReaders() *Descriptor {
	if d == nil || d.Fetch.Address == "" {
		return d
	}
	public := *d
	public.Text = nil
	var text, resource, own map[string]json.RawMessage
	_ = json.Unmarshal(d.Text, &text) // they are objects, because they have the address
	_ = json.Unmarshal(text["resource"], &resource)
	_ = json.Unmarshal(resource["herbarium"], &own)
	delete(resource, "path")
	delete(own, "refresh")
	resource["herbarium"], _ = json.Marshal(own)
	text["resource"], _ = json.Marshal(resource)
	public.Text, _ = json.Marshal(text)
	return &public
}

// Size returns about how many bytes the descriptor takes in memory.
func (d *Descriptor) Size() int {
	if d == nil {
		return 0
	}
	return len(d.Text) + len(d.Homepage) + textSize(d.Keywords) + entriesSize(d.Licenses) + entriesSize(d.Sources) +
		entriesSize(d.Contributors) + d.Publisher.size() + d.Contact.size()
}

func entriesSize(entries []DescriptorEntry) (size int) {
	for i := range entries {
		size += entries[i].size()
	}
	return size
}

func (e *DescriptorEntry) size() int {
	const perEntry = 200 // bytes besides texts
	return perEntry + textSize([]string{e.Name, e.Title, e.Path, e.Organization, e.Role, e.Email, e.FN, e.HasEmail,
		e.URL, e.Homepage}, e.Roles)
}
