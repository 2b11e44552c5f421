package versions

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/roles"
)

// maxInferredKey is the number of characters of the longest value of an inferred key, which becomes
// a part of addresses.
const maxInferredKey = 120

// inferKey sets the primary key of a version whose publisher declares none: the first field that
// identifies the records and is called like an identifier, else the first field if it does. It is
// no promise: a version without such a field has no key and is not rejected. Nothing is inferred
// for records that are not of a file, of which the report has no facts.
func inferKey(d *herb.Dataset) {
	d.InferredKey = false
	if len(d.PrimaryKey) > 0 || d.Records < 2 || d.Report == nil || d.Report.Format == "" {
		return
	}
	for i := range d.Fields {
		if isIdentity(d, i) && roles.Of(d.Fields[i].Name).IsCode() {
			d.PrimaryKey, d.InferredKey = []string{d.Fields[i].Name}, true
			return
		}
	}
	if len(d.Fields) > 0 && isIdentity(d, 0) && roles.Of(d.Fields[0].Name) == roles.None {
		d.PrimaryKey, d.InferredKey = []string{d.Fields[0].Name}, true
	}
}

// isIdentity reports whether a field has another short text or whole number in each record, and no
// coordinates.
func isIdentity(d *herb.Dataset, field int) bool {
	f, c := &d.Fields[field], &d.Report.Columns[field]
	return (f.Type == herb.TypeText || f.Type == herb.TypeNumber && c.Decimals == 0) && f.Filterable &&
		c.Distinct == d.Records && c.Empty == 0 && len(f.Notation.Missing)+len(c.Exceptions) == 0 &&
		c.Longest <= maxInferredKey && !slices.ContainsFunc(d.Coordinates, func(at herb.Coordinates) bool {
		return slices.Contains(at.Names(), f.Name)
	})
}
