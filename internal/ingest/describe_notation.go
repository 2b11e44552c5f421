package ingest

import "herbarium/internal/herb"

// setNotation sets the members of Table Schema that describe how the values of a field are written. Markers of missing
// values are not among them: as missingValues they would be listed as empty.
func setNotation(o *object, n herb.Notation) {
	for _, m := range []struct{ name, value string }{{"decimalChar", n.Decimal}, {"groupChar", n.Group}, {"format", n.Layout}} {
		if m.value != "" {
			o.set(m.name, m.value)
		}
	}
	if n.Affix != "" {
		o.set("bareNumber", false)
	}
	if len(n.True)+len(n.False) > 0 {
		o.set("trueValues", list(n.True))
		o.set("falseValues", list(n.False))
	}
}
