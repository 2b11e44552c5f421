package descriptor

import (
	"cmp"
	"encoding/json"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/value"
)

// categoryMembers are the members of a field that list the values which it may have.
func categoryMembers(f *FieldSetting) []binding {
	return []binding{
		{"categories", custom{func(n node) { f.Categories = readCategories(n) }, func() any {
			return writtenList(f.Categories, func(c *herb.Category) []binding {
				return []binding{{"value", &c.Value}, {"label", &c.Label}}
			})
		}}},
		{"categoriesOrdered", &f.Ordered},
	}
}

// readCategories reads a list of values, each alone or with a category label. Values and labels are
// unique, as the standard demands; equal numbers are found when the type is known.
func readCategories(n node) (all []herb.Category) {
	items := n.shortList(herb.MaxCategories)
	if len(items) == 0 {
		n.fail("must list at least one value; remove it if any value is possible")
	}
	values, labels := map[string]bool{}, map[string]bool{}
	for _, item := range items {
		var c herb.Category
		at := item
		if _, ok := item.value.(object); ok {
			at = item.member("value")
			label := item.member("label")
			if _, ok := label.value.(string); !ok && label.value != nil {
				label.fail("must be text; put it in quotes")
			}
			label.assign(&c.Label)
		}
		at.assign(&c.Value)
		switch {
		case c.Value == "":
			at.fail("is empty; write a value of the field%s", item.misspelled("value"))
		case values[c.Value]:
			at.fail("is %q, which is listed already; list each value once", rows.Clip(c.Value))
		case labels[c.Label] && c.Label != "":
			item.fail("has the label %q of another value; give each a label of its own", rows.Clip(c.Label))
		}
		if *n.err != nil {
			return nil
		}
		values[c.Value], labels[c.Label] = true, true
		all = append(all, c)
	}
	return all
}

// checkCategories checks that the type of a field has categories. They decide the type of a field
// that does not declare one, because codes mean what their labels say: t and f are no boolean, and
// lists of them no list.
func checkCategories(n node, f *FieldSetting) {
	if f.Categories == nil {
		if n.member("categoriesOrdered").value != nil {
			n.member("categoriesOrdered").fail("has no effect without categories; list them, or remove it")
		}
		return
	}
	switch t := value.TypeOf(f.Schema.Type); {
	case t == "":
		f.Schema.Type = "string"
		isNumber := func(item node) bool {
			_, ok := cmp.Or(item.member("value").value, item.value).(json.Number)
			return ok
		}
		if !slices.ContainsFunc(n.member("categories").items(), func(item node) bool { return !isNumber(item) }) {
			f.Schema.Type = "number"
		}
	case t != herb.TypeText && t != herb.TypeNumber:
		n.member("categories").fail("applies only to the types string, integer and number; change the type %q, or "+
			"remove categories", f.Schema.Type)
	}
}

// misspelledCategory returns a note about the first category with a misspelled member.
func misspelledCategory(n node) (notes []string) {
	for _, item := range n.items() {
		if notes = item.bind(nil, "value", "label"); notes != nil {
			break
		}
	}
	return notes
}
