package review

import (
	"maps"
	"slices"
	"strings"

	"herbarium/internal/ingest/rows"
)

// refersToColumns reports whether the descriptor names columns, which a file may lack.
func (p *plan) refersToColumns() bool {
	settings, _ := p.Resource[own].(object)
	return p.listsFields() || settings["include"] != nil || settings["exclude"] != nil
}

// fitColumns fits the settings of the live version to the columns of a file. It lists new columns,
// and removes what is about columns that the file lacks. The publisher consents to what follows
// from that, such as a removed field, or rows that become public because a condition is removed.
// contents are those of an inspection with these settings, or of one without a schema, which
// publishes all columns.
func (p *plan) fitColumns(f *contents) {
	names := slices.Clone(f.Columns) // that conditions can use
	absent := map[string]bool{}      // fields
	if p.edits.Descriptor != nil {
		return // its publisher has said what the file has
	}
	if p.listsFields() {
		schema := member(p.Resource, "schema")
		list, fieldOf := listFields(schema, f)
		dialect, err := p.Dialect()
		if len(fieldOf) == 0 && (err != nil || dialect.Header == rows.HeaderNone) {
			return // fields have columns by their positions
		}
		found := map[int]bool{}
		for _, i := range fieldOf {
			found[i] = true
		}
		var fields []any
		for i, field := range list {
			if name := nameOf(asObject(field)); found[i] {
				fields, names = append(fields, field), append(names, name)
			} else {
				absent[name] = true
			}
		}
		added := p.newFields(f, fieldOf)
		if len(fields)+len(added) == 0 {
			return // the settings are for another file, which the error of the inspection says
		}
		p.needed = p.needed || len(absent) > 0
		if p.needed {
			schema["fields"] = append(fields, added...)
		}
	}
	if p.removeConditions(names) {
		p.needed = true
	}
	p.removeReferences(absent)
}

// removeConditions removes conditions on rows by columns that a file lacks. It reports whether
// there were any.
func (p *plan) removeConditions(names []string) (removed bool) {
	settings, _ := p.Resource[own].(object)
	for _, setting := range []string{"include", "exclude"} {
		conditions, _ := settings[setting].(object)
		for _, name := range slices.Collect(maps.Keys(conditions)) {
			if !slices.Contains(names, name) {
				delete(conditions, name)
				removed = true
			}
		}
		if conditions != nil && len(conditions) == 0 {
			prune(p.Resource, own, setting)
		}
	}
	return removed
}

// removeReferences removes the order, the coordinates and the charts that name absent fields. Keys
// with such fields are not used anyway.
func (p *plan) removeReferences(absent map[string]bool) {
	if len(absent) == 0 {
		return
	}
	var unusable []string
	settings, _ := p.Resource[own].(object)
	switch order := settings["order"].(type) {
	case string:
		if absent[strings.TrimPrefix(order, "-")] {
			unusable = append(unusable, "order")
		}
	case object:
		if name, _ := order["field"].(string); absent[name] {
			unusable = append(unusable, "order")
		}
	}
	for _, setting := range []string{"coordinates", "map"} { // map is the name that earlier releases gave it
		for _, value := range asObject(settings[setting]) {
			if name, _ := value.(string); absent[name] {
				unusable = append(unusable, setting)
			}
		}
	}
	if charts, ok := settings["charts"].([]any); ok {
		settings["charts"] = slices.DeleteFunc(slices.Clone(charts), func(chart any) bool {
			c := asObject(chart)
			by, isList := c["by"].([]any)
			if !isList {
				by = []any{c["by"]}
			}
			measure, _ := c["measure"].(string)
			_, measured, _ := strings.Cut(measure, ":")
			return absent[measured] || slices.ContainsFunc(by, func(v any) bool {
				grouped, _ := v.(string)
				name, _, _ := strings.Cut(grouped, ":")
				return absent[grouped] || absent[name]
			})
		})
	}
	prune(p.Resource, own, unusable...)
}

// asObject returns a value of a descriptor as an object; nil if it is something else.
func asObject(v any) object {
	o, _ := v.(object)
	return o
}
