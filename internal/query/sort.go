package query

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// SortField is a field by which records are sorted. Missing values are last in both directions.
type SortField struct {
	Field int // position
	Desc  bool
}

const (
	orderAsc  = "asc"
	orderDesc = "desc"
)

// parseSort parses the values of ParamSort and ParamOrder. It returns nil if there is no sort.
func parseSort(value, order string, fields []herb.Field) ([]SortField, error) {
	if order != "" && order != orderAsc && order != orderDesc {
		return nil, herb.Invalidf("order is %q; it must be asc or desc", clip(order))
	}
	if value == "" {
		return nil, nil
	}
	sort, err := parseSortFields(value, fields)
	if err != nil || order == "" {
		return sort, err
	}
	if len(sort) > 1 || sort[0].Desc {
		return nil, herb.Invalidf("%q is given, so %q must be one field without -; leave %q out and write - before each descending field, "+
			"such as sort=-%s", ParamOrder, ParamSort, ParamOrder, clip(strings.TrimPrefix(value, "-")))
	}
	sort[0].Desc = order == orderDesc
	return sort, nil
}

// parseSortFields parses a comma-separated list of fields, each with a - before it if its order is descending. A field whose
// name contains a comma or begins with - can only be given alone; its exact name takes precedence.
func parseSortFields(value string, fields []herb.Field) ([]SortField, error) {
	name, desc := strings.CutPrefix(value, "-")
	switch {
	case herb.FieldIndex(fields, value) >= 0:
		return appendSortField(nil, value, false, fields)
	case herb.FieldIndex(fields, name) >= 0:
		return appendSortField(nil, name, desc, fields)
	}
	parts := strings.Split(value, ",")
	if len(parts) > MaxSortFields {
		return nil, herb.Invalidf("%q has more than %d fields; give at most %d", ParamSort, MaxSortFields, MaxSortFields)
	}
	sort := make([]SortField, 0, len(parts))
	for _, part := range parts {
		name, desc := strings.CutPrefix(part, "-")
		var err error
		if sort, err = appendSortField(sort, name, desc, fields); err != nil {
			return nil, err
		}
	}
	return sort, nil
}

func appendSortField(sort []SortField, name string, desc bool, fields []herb.Field) ([]SortField, error) {
	use := fieldUse{func(f herb.Field) bool { return f.Sortable }, "sort field %q", "is not sortable", "sortable fields"}
	i, err := findField(fields, name, use)
	switch {
	case err != nil:
		return nil, err
	case slices.ContainsFunc(sort, func(f SortField) bool { return f.Field == i }):
		return nil, herb.Invalidf("field %q is given more than once in %q; give it once", name, ParamSort)
	}
	return append(sort, SortField{i, desc}), nil
}
