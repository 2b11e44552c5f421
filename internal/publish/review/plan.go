package review

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/versions"
)

// object is an object of a descriptor, as encoding/json decodes it.
type object = map[string]any

// own is the name of the member with Herbarium's own settings.
const own = descriptor.Own

// plan is how a draft is published: the settings of the live version with the edits. Its descriptor
// states what was edited and nothing else, so that later files are read as freely as before.
type plan struct {
	descriptor.Document
	edits       Edits  // that it applies
	live        string // version
	table       string // that was chosen
	statesTable bool   // the descriptor states it
	needed      bool   // the descriptor is sent; without edits, the live version has the same settings
	access      herb.Access
	hidden      map[string]bool   // columns of the live version, folded; nil: not all are known
	renamed     map[string]string // names of fields by their names without the edits of columns
}

// planOf returns how a draft is published. contentsOf returns what an inspection with another plan
// shows.
func (s *Service) planOf(r *storedDraft, live herb.Dataset, contentsOf func(*plan) (*contents, error)) (*plan, error) {
	e := r.Edits
	p, err := s.newPlan(r, e, live)
	if err != nil {
		return nil, err
	}
	if p.table != "" || e.editsRows() || len(e.Columns) > 0 || len(e.Exclude) > 0 || p.refersToColumns() {
		base, err := s.newPlan(r, e.ofFile(), live)
		if err != nil {
			return nil, err
		}
		f, err := contentsOf(base)
		if err != nil {
			return nil, err
		}
		if err := p.setTable(f); err != nil {
			return nil, err
		}
		if err := p.editRows(e, f); err != nil {
			return nil, err
		}
		if e.editsRows() && (len(e.Columns) > 0 || p.refersToColumns()) {
			onlyRows, err := s.newPlan(r, e.ofRows(), live)
			if err != nil {
				return nil, err
			}
			if err := onlyRows.setTable(f); err != nil {
				return nil, err
			}
			if e.HeaderRows == nil {
				onlyRows.fitColumns(f)
			}
			if err := onlyRows.editRows(e, f); err != nil {
				return nil, err
			}
			if e.HeaderRows != nil { // the columns are others
				onlyRows = onlyRows.withoutSchema()
			}
			f, err = contentsOf(onlyRows)
			if err != nil {
				return nil, err
			}
		}
		p.fitColumns(f)
		if err := p.editExclude(e, f); err != nil {
			return nil, err
		}
		if err := p.editColumns(e, f); err != nil {
			return nil, err
		}
	}
	p.setPrimaryKey(e.PrimaryKey)
	return p, nil
}

// newPlan returns the plan of a draft with its edits, except those about tables, rows and columns.
func (s *Service) newPlan(r *storedDraft, e Edits, live herb.Dataset) (*plan, error) {
	ref := r.ref()
	p := &plan{edits: e, live: live.Version, table: e.Table, needed: e.needsDescriptor()}
	p.Document = descriptor.NewDocument(ref.Namespace, ref.Name)
	var reading herb.Reading
	var err error
	switch {
	case e.Descriptor != nil:
		p.Document, err = descriptor.ParseDocument(e.Descriptor)
		if err != nil {
			return nil, err
		}
	case live.Settings != nil:
		settings, _, err := publish.Inherit(live, r.SHA256)
		if err != nil {
			return nil, err
		}
		reading = settings.Reading
		if settings.Descriptor != nil {
			p.Document, err = descriptor.ParseDocument(settings.Descriptor)
			if err != nil {
				return nil, err
			}
			if p.Resource == nil {
				return nil, herb.Errorf(herb.CodeRejected,
					"the descriptor of the live version has no resource; publish the file with another descriptor")
			}
		}
	case live.Version != "":
		if err := publish.CheckSettings(live); err != nil {
			return nil, err
		}
	}
	if e.Descriptor == nil && (live.Settings == nil || live.Settings.Descriptor == nil) {
		setText(p.Resource, "title", live.Title)
		setText(p.Resource, "description", live.Description)
	}
	p.setPath(e, cmp.Or(r.Name, ref.Name))
	if reading != (herb.Reading{}) {
		if err := p.setReading(reading); err != nil {
			return nil, err
		}
	}
	if e.Encoding != "" {
		p.Resource["encoding"] = e.Encoding
	}
	if err := p.join(e); err != nil {
		return nil, err
	}
	p.describe(e)
	p.setAccess(e.Access, live, s.opts.Access)
	if names, ok := versions.HiddenColumns(live); ok && e.Descriptor == nil {
		p.hidden = map[string]bool{}
		for _, name := range names {
			p.hidden[herb.FoldColumn(name)] = true
		}
	}
	return p, nil
}

// setPath states the name of the file, or the address that it is fetched from. A file that is sent
// in place of a fetched one changes nothing about the latter.
func (p *plan) setPath(e Edits, name string) {
	settings, _ := p.Resource[own].(object)
	switch {
	case e.Link != "":
		name = e.Link
		member(p.Resource, own)["refresh"] = e.Refresh
	case settings["refresh"] != nil:
		return
	}
	delete(p.Resource, "url")
	p.Resource["path"] = name
}

func setText(o object, name, value string) {
	if value == "" {
		delete(o, name)
	} else {
		o[name] = value
	}
}

// member returns an object in another one, which is added if there is none.
func member(o object, name string) object {
	m, ok := o[name].(object)
	if !ok {
		m = object{}
		o[name] = m
	}
	return m
}

// setReading states the options by which the live version was read in the descriptor, which
// replaces them.
func (p *plan) setReading(written herb.Reading) error {
	reading, err := descriptor.ParseReading(ingest.Formats(), written, "")
	if err != nil {
		return err
	}
	p.table = cmp.Or(p.table, written.Table)
	if reading.Format != "" {
		p.Resource["format"] = reading.Format
	}
	return p.editDialect(func(o *rows.Options) { *o = descriptor.OverrideDialect(*o, reading.Dialect) })
}

// editDialect changes how the file is written.
func (p *plan) editDialect(edit func(*rows.Options)) error {
	o, err := p.Dialect()
	if err != nil {
		return err
	}
	edit(&o)
	return p.SetDialect(o)
}

// describe applies the edits that do not concern how the file is read.
func (p *plan) describe(e Edits) {
	for name, value := range map[string]*string{"title": e.Title, "description": e.Description} {
		if value != nil {
			setText(p.Resource, name, *value)
			if *value == "" {
				delete(p.Root, name)
			}
		}
	}
	if e.Expected != nil && *e.Expected != p.expected() {
		for _, o := range []object{p.Root, p.Resource} {
			delete(o, periodicity)
			prune(o, own, "expected")
		}
		if *e.Expected != "" {
			member(p.Resource, own)["expected"] = *e.Expected
		}
	}
	if e.License != nil && *e.License != p.license() {
		delete(p.Root, "licenses")
		delete(p.Resource, "licenses")
		if *e.License != "" {
			p.Resource["licenses"] = []any{object{"name": *e.License}}
		}
	}
}

// license returns the identifier of the license; empty: none.
func (p *plan) license() string {
	for _, o := range []object{p.Resource, p.Root} {
		if list, _ := o["licenses"].([]any); len(list) > 0 {
			first, _ := list[0].(object)
			for _, name := range []string{"name", "title", "path"} {
				if s, _ := first[name].(string); s != "" {
					return s
				}
			}
		}
	}
	return ""
}

// periodicity is the member with which DCAT declares how often a dataset changes.
const periodicity = "accrualPeriodicity"

// expected returns how often the dataset changes; empty: it is not declared.
func (p *plan) expected() string {
	for _, v := range []any{asObject(p.Resource[own])["expected"], asObject(p.Root[own])["expected"],
		p.Resource[periodicity], p.Root[periodicity]} {
		var f herb.Frequency
		content, err := json.Marshal(v)
		if err == nil && v != nil && f.UnmarshalJSON(content) == nil && f != "" {
			return string(f)
		}
	}
	return ""
}

// text returns a member of the resource, or else of the package.
func (p *plan) text(name string) string {
	own, _ := p.Resource[name].(string)
	whole, _ := p.Root[name].(string)
	return cmp.Or(own, whole)
}

// setAccess states the access of the dataset: the edited one, or else that of the live version,
// which a descriptor without access, or with another one, would change.
func (p *plan) setAccess(edited herb.Access, live herb.Dataset, standard herb.Access) {
	var stated string
	for _, o := range []object{p.Root, p.Resource} {
		settings, _ := o[own].(object)
		if s, _ := settings["access"].(string); s != "" {
			stated = s
		}
	}
	want := edited
	if want == "" && live.Version != "" && p.edits.Descriptor == nil {
		want = live.Access
	}
	p.access = cmp.Or(want, herb.Access(stated), standard)
	if want == "" || string(want) == stated || stated == "" && edited == "" && want == standard {
		return
	}
	member(p.Resource, own)["access"] = string(want)
}

// setPrimaryKey sets the fields that identify a record. It follows the edits of columns, which may
// have renamed them.
func (p *plan) setPrimaryKey(fields *[]string) {
	switch {
	case fields == nil:
	case len(*fields) > 0:
		key := make([]string, len(*fields))
		for i, name := range *fields {
			key[i] = cmp.Or(p.renamed[name], name)
		}
		member(p.Resource, "schema")["primaryKey"] = key
	default:
		if schema, ok := p.Resource["schema"].(object); ok {
			delete(schema, "primaryKey")
		}
	}
}

// descriptor returns the descriptor as JSON.
func (p *plan) descriptor() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(p.Root) // it was decoded from JSON
	return b.Bytes()
}

// key identifies the settings on which depends what the publish would do. It does not depend on
// those that only describe the dataset.
func (p *plan) key() string {
	resource := clone(p.Resource).(object)
	for _, name := range []string{"name", "title", "description", "licenses", "path"} {
		delete(resource, name)
	}
	if len(p.joined()) == 0 { // the table is part of the key
		delete(resource, "innerpath")
	}
	prune(resource, own, "access", "expected")
	prune(resource, "dialect", tableMembers()...)
	if schema, ok := resource["schema"].(object); ok {
		fields, _ := schema["fields"].([]any)
		for _, f := range fields {
			if f, ok := f.(object); ok {
				for _, name := range []string{"title", "label", "description"} {
					delete(f, name)
				}
			}
		}
	}
	content, _ := json.Marshal([]any{p.live, p.table, p.access, resource}) // it was decoded from JSON
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}

// prune removes members of a member, and the member if nothing is left.
func prune(o object, name string, members ...string) {
	m, ok := o[name].(object)
	if !ok {
		return
	}
	for _, member := range members {
		delete(m, member)
	}
	if len(m) == 0 {
		delete(o, name)
	}
}

// clone returns a deep copy of a value.
func clone(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, m := range v {
			out[name] = clone(m)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	}
	return v
}

// withoutSchema returns a plan by which every column is read as it is, to show a file that cannot
// be read otherwise.
func (p *plan) withoutSchema() *plan {
	plain := *p
	plain.edits = p.edits.ofFile()
	plain.Root, plain.needed = clone(p.Root).(object), true
	plain.Resource = plain.Root["resources"].([]any)[0].(object)
	delete(plain.Resource, "schema")
	if settings, ok := plain.Resource[own].(object); ok {
		for _, name := range []string{"order", "coordinates", "map", "charts", "include", "exclude", "expectations"} {
			delete(settings, name)
		}
	}
	return &plain
}

// request returns the request that publishes a draft with the plan.
func (p *plan) request(r *storedDraft, file *receive.File, opts versions.PublishOptions) publish.Request {
	opts.Expected, opts.Message = &p.live, r.Edits.Message
	req := publish.Request{Ref: r.ref(), File: file, Actor: herb.Actor{ID: r.owner}, PublishOptions: opts}
	if p.needed {
		req.Descriptor = p.descriptor()
	}
	if r.Edits.Table != "" && !(p.needed && p.statesTable) {
		req.Reading.Table = r.Edits.Table
	}
	return req
}
